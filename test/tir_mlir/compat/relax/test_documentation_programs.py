"""Longer programs as TVM's documentation writes them: each runs as it is, and checks its own results."""

import pytest
from harness.notebook import Notebook

HEAD = """
import numpy as np
import tvm
from tvm import relax, te, tirx as tir, topi
from tvm.script import ir as I, relax as R, tirx as T

TT, arr, rng = relax.TensorType, tvm.runtime.tensor, np.random.default_rng(0)


def run(mod, name, *args):
    vm = relax.VirtualMachine(tvm.compile(mod, target="llvm"), tvm.cpu())
    return vm[name](*[arr(a) for a in args])
"""
PROGRAMS = {}
PROGRAMS["builder_mlp"] = """
n = tir.Var("n", "int64")
x = relax.Var("x", TT((n, 16), "float32"))
w0 = relax.const(np.random.default_rng(0).standard_normal((16, 32)).astype("float32"))
b0 = relax.const(np.zeros((32,), "float32"))
bb = relax.BlockBuilder()
with bb.function("main", [x]):
    with bb.dataflow():
        lv0 = bb.emit(relax.op.matmul(x, w0))
        lv1 = bb.emit(relax.op.add(lv0, b0))
        lv2 = bb.emit_te(topi.nn.relu, lv1)
        def scale(a):
            return te.compute(a.shape, lambda i, j: a[i, j] * 2.0, name="scale")
        lv3 = bb.emit_te(scale, lv2, primfunc_name_hint="te_scale")
        gv = bb.emit_output(lv3)
    bb.emit_func_output(gv)
mod = bb.get()
assert relax.analysis.well_formed(mod)
gvs = [g.name_hint for g in mod.get_global_vars()]
assert "te_scale" in gvs, gvs
ex = relax.build(mod, "llvm")
vm = relax.VirtualMachine(ex, tvm.cpu())
a = np.random.default_rng(1).standard_normal((5, 16)).astype("float32")
out = vm["main"](arr(a))
np.testing.assert_allclose(out.numpy(), np.maximum(a @ w0.data.numpy(), 0) * 2, rtol=1e-4, atol=1e-4)
"""
PROGRAMS["ir_module_doc"] = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def linear(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        M, N, K = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (M, K), "float32")
        W = T.match_buffer(w, (N, K), "float32")
        B = T.match_buffer(b, (N,), "float32")
        Z = T.match_buffer(z, (M, N), "float32")
        Y = T.sblock_alloc_buffer((M, N), "float32")
        for i, j, k in T.grid(M, N, K):
            with T.sblock("Y"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[v_i, v_j] = T.float32(0)
                Y[v_i, v_j] = Y[v_i, v_j] + X[v_i, v_k] * W[v_j, v_k]
        for i, j in T.grid(M, N):
            with T.sblock("Z"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                Z[v_i, v_j] = Y[v_i, v_j] + B[v_j]

    @R.function
    def main(
        x: R.Tensor((1, 784), "float32"),
        w0: R.Tensor((256, 784), "float32"),
        b0: R.Tensor((256,), "float32"),
        w1: R.Tensor((10, 256), "float32"),
        b1: R.Tensor((10,), "float32"),
    ):
        cls = Module
        with R.dataflow():
            lv0 = R.call_tir(cls.linear, (x, w0, b0), R.Tensor((1, 256), dtype="float32"))
            lv1 = R.nn.relu(lv0)
            lv2 = R.call_tir(cls.linear, (lv1, w1, b1), R.Tensor((1, 10), dtype="float32"))
            unused = R.exp(lv2)
            out = R.nn.softmax(lv2, axis=-1)
            R.output(out)
        return out

mod = Module
(gv,) = [g for g in mod.get_global_vars() if g.name_hint == "linear"]
assert mod["linear"].script() == mod[gv].script()
seq = tvm.transform.Sequential([
    relax.transform.DeadCodeElimination(),
    relax.transform.LegalizeOps(),
    relax.transform.AnnotateTIROpPattern(),
    relax.transform.FuseOps(),
    relax.transform.FuseTIR(),
])
with tvm.transform.PassContext(opt_level=3):
    new = seq(mod)
assert isinstance(new["main"], relax.Function)
ex = tvm.compile(new, target="llvm")
vm = relax.VirtualMachine(ex, tvm.cpu())
rng = np.random.default_rng(0)
args = [rng.standard_normal(s).astype("float32") / 10 for s in ((1, 784), (256, 784), (256,), (10, 256), (10,))]
x, w0, b0, w1, b1 = args
h = np.maximum(x @ w0.T + b0, 0) @ w1.T + b1
e = np.exp(h - h.max())
res = vm["main"](*[arr(a) for a in args]).numpy()
np.testing.assert_allclose(res, e / e.sum(), rtol=1e-4, atol=1e-5)
"""
PROGRAMS["several_functions"] = """
@I.ir_module
class Module:
    @R.function
    def square(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        with R.dataflow():
            gv = R.multiply(x, x)
            R.output(gv)
        return gv

    @R.function
    def norm(x: R.Tensor(("n",), "float32")) -> R.Tensor((), "float32"):
        cls = Module
        with R.dataflow():
            lv = cls.square(x)
            gv = R.sqrt(R.sum(lv, axis=[0]))
            R.output(gv)
        return gv

    @R.function
    def normalized(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        with R.dataflow():
            lv = cls.norm(x)
            gv: R.Tensor((n,), "float32") = R.divide(x, lv)
            out = (gv, lv)
            R.output(out)
        return out

ex = tvm.compile(Module, target="llvm")
vm = relax.VirtualMachine(ex, tvm.cpu())
a = np.arange(1, 6, dtype="float32")
np.testing.assert_allclose(vm["square"](arr(a)).numpy(), a * a)
np.testing.assert_allclose(vm["norm"](arr(a)).numpy(), np.linalg.norm(a), rtol=1e-5)
y, length = vm["normalized"](arr(a))
np.testing.assert_allclose(y.numpy(), a / np.linalg.norm(a), rtol=1e-5)
vm.set_input("square", arr(a))
vm.invoke_stateful("square")
np.testing.assert_allclose(vm.get_outputs("square").numpy(), a * a)
vm.save_function("norm", "norm_of_a", arr(a))
vm["norm_of_a"]()
res = vm.time_evaluator("norm", tvm.cpu(), number=3, repeat=2)(arr(a))
assert res.mean > 0 and len(res.results) == 2
"""
PROGRAMS["tensor_ir"] = """
@I.ir_module
class MyModule:
    @T.prim_func(s_tir=True)
    def mm_relu(a: T.handle, b: T.handle, c: T.handle):
        M, N, K = T.int32(), T.int32(), T.int32()
        A = T.match_buffer(a, [M, K], dtype="float32")
        B = T.match_buffer(b, [K, N], dtype="float32")
        C = T.match_buffer(c, [M, N], dtype="float32")
        Y = T.sblock_alloc_buffer((M, N), dtype="float32")
        for i, j, k in T.grid(M, N, K):
            with T.sblock("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(M, N):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))

def evaluate_dynamic_shape(lib, m, n, k):
    A = arr(np.random.uniform(size=(m, k)).astype("float32"))
    B = arr(np.random.uniform(size=(k, n)).astype("float32"))
    C = arr(np.zeros((m, n), dtype="float32"))
    lib["mm_relu"](A, B, C)
    return A.numpy(), B.numpy(), C.numpy()

lib = tvm.compile(MyModule, target="llvm")
for m, n, k in ((4, 4, 4), (16, 7, 5)):
    a, b, c = evaluate_dynamic_shape(lib, m, n, k)
    np.testing.assert_allclose(c, np.maximum(a @ b, 0), rtol=1e-4)

A = te.placeholder((64, 64), "float32", name="A")
B = te.placeholder((64, 64), "float32", name="B")
k = te.reduce_axis((0, 64), "k")
Y = te.compute((64, 64), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="Y")
C = te.compute((64, 64), lambda i, j: te.max(Y[i, j], tir.const(0.0, "float32")), name="C")
func = te.create_prim_func([A, B, C]).with_attr({"global_symbol": "mm_relu"})
mod = tvm.IRModule({"mm_relu": func})
Schedule = tvm.s_tir.Schedule
sch = Schedule(mod)
block_Y = sch.get_sblock("Y", func_name="mm_relu")
i, j, k = sch.get_loops(block_Y)
j0, j1 = sch.split(j, factors=[None, 8])
sch.reorder(j0, k, j1)
block_C = sch.get_sblock("C", "mm_relu")
sch.reverse_compute_at(block_C, j0)
sch.decompose_reduction(block_Y, k)
lib = tvm.compile(sch.mod, target="llvm")
a, b = (np.random.uniform(size=(64, 64)).astype("float32") for _ in "ab")
c = arr(np.zeros((64, 64), "float32"))
lib["mm_relu"](arr(a), arr(b), c)
np.testing.assert_allclose(c.numpy(), np.maximum(a @ b, 0), rtol=1e-4)
f = lib.mod.time_evaluator("mm_relu", tvm.cpu(), number=2)
assert f(arr(a), arr(b), c).mean > 0
"""
PROGRAMS["dynamic_shapes"] = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.concat((x, y), axis=0)
            lv1: R.Tensor((n + m, 4), "float32") = lv0
            lv2 = R.reshape(lv1, R.shape([(n + m) * 4]))
            lv3 = R.reshape(lv2, (n + m, 2, 2))
            gv = R.permute_dims(lv3, [0, 2, 1])
            R.output(gv)
        return gv

ex = relax.build(Module, "llvm")
vm = relax.VirtualMachine(ex, tvm.cpu())
x, y = (np.random.uniform(size=(k, 4)).astype("float32") for k in (2, 3))
out = vm["main"](arr(x), arr(y)).numpy()
np.testing.assert_array_equal(out, np.concatenate([x, y]).reshape(5, 2, 2).transpose(0, 2, 1))

bb = relax.BlockBuilder()
n, m = tir.Var("n", "int64"), tir.Var("m", "int64")
a = relax.Var("a", TT((n, m), "float32"))
b = relax.Var("b", TT((m,), "float32"))
with bb.function("rows", [a, b]):
    with bb.dataflow():
        s = bb.emit(relax.op.sum(relax.op.multiply(a, b), axis=1, keepdims=True))
        c = bb.match_cast(s, TT((n, 1), "float32"))
        out = bb.emit_output(relax.op.broadcast_to(c, relax.ShapeExpr([n, m])))
    bb.emit_func_output(out)
mod = bb.get()
vm = relax.VirtualMachine(relax.build(mod, "llvm"), tvm.cpu())
a, b = np.random.uniform(size=(3, 5)).astype("float32"), np.random.uniform(size=5).astype("float32")
np.testing.assert_allclose(
    vm["rows"](arr(a), arr(b)).numpy(), np.broadcast_to((a * b).sum(1, keepdims=True), (3, 5)),
    rtol=1e-5
)
"""
PROGRAMS["patterns"] = """
from tvm.relax.dpl import is_op, is_const, wildcard, rewrite_call, PatternContext, rewrite_bindings
@R.function
def before(x: R.Tensor((8, 16), "float32"), w1: R.Tensor((16, 4), "float32"), w2: R.Tensor((16, 4), "float32")):
    with R.dataflow():
        lv0 = R.matmul(x, w1)
        lv1 = R.matmul(x, w2)
        lv2 = R.add(lv0, lv1)
        gv = R.multiply(lv2, R.const(1.0, "float32"))
        R.output(gv)
    return gv

p, one = wildcard(), is_const()
mul = is_op("relax.multiply")(p, one)
def drop_one(call, matches):
    c = matches[one].data.numpy()
    return matches[p] if c.size == 1 and c.item() == 1.0 else call
step = rewrite_call(mul, drop_one, before)
with PatternContext() as ctx:
    inp = wildcard()
    w1p, w2p = wildcard(), wildcard()
    m1 = is_op("relax.matmul")(inp, w1p)
    m2 = is_op("relax.matmul")(inp, w2p)
def merge(matches, _):
    cat = relax.op.concat([matches[w1p], matches[w2p]], axis=1)
    both = relax.op.matmul(matches[inp], cat)
    parts = relax.op.split(both, 2, axis=1)
    return {matches[m1]: relax.TupleGetItem(parts, 0), matches[m2]: relax.TupleGetItem(parts, 1)}
after = rewrite_bindings(ctx, merge, step)
text = after.script()
assert text.count("R.matmul") == 1 and "R.split" in text and "R.multiply" not in text
args = [np.random.uniform(size=s).astype("float32") for s in ((8, 16), (16, 4), (16, 4))]
res = []
for f in (before, after):
    mod = tvm.IRModule({"main": f.with_attr("global_symbol", "main")})
    vm = relax.VirtualMachine(relax.build(mod, "llvm"), tvm.cpu())
    res.append(vm["main"](*map(arr, args)).numpy())
np.testing.assert_allclose(*res, rtol=1e-5)
"""
PROGRAMS["convnet"] = """
@I.ir_module
class Net:
    @R.function
    def main(
        x: R.Tensor((1, 3, 8, 8), "float32"),
        w: R.Tensor((4, 3, 3, 3), "float32"),
        gamma: R.Tensor((4,), "float32"),
        beta: R.Tensor((4,), "float32"),
        mean: R.Tensor((4,), "float32"),
        var: R.Tensor((4,), "float32"),
        fc: R.Tensor((4, 10), "float32"),
    ):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv = R.nn.conv2d(x, w, strides=(1, 1), padding=(1, 1))
            bn = R.nn.batch_norm(lv, gamma, beta, mean, var, axis=1, epsilon=1e-5, training=False)
            lv1 = bn[0]
            lv2 = R.nn.relu(lv1)
            lv3 = R.nn.max_pool2d(lv2, pool_size=(2, 2), strides=(2, 2))
            lv4 = R.nn.adaptive_avg_pool2d(lv3, output_size=(1, 1))
            lv5 = R.reshape(lv4, (1, 4))
            gv = R.matmul(lv5, fc)
            R.output(gv)
        return gv

mod = relax.transform.DecomposeOpsForInference()(Net)
rng = np.random.default_rng(0)
shapes = [(1, 3, 8, 8), (4, 3, 3, 3), (4,), (4,), (4,), (4,), (4, 10)]
args = [np.abs(rng.standard_normal(s)).astype("float32") for s in shapes]
weights = dict(zip(["w", "gamma", "beta", "mean", "var", "fc"], map(arr, args[1:])))
mod = relax.transform.BindParams("main", weights)(mod)
mod = relax.transform.FoldConstant()(mod)
ex = tvm.compile(mod, target="llvm")
vm = relax.VirtualMachine(ex, tvm.cpu())
out = vm["main"](arr(args[0])).numpy()
x, w, g, b, m, v, fc = args
pad = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
win = np.lib.stride_tricks.sliding_window_view(pad, (3, 3), (2, 3))
y = np.einsum("nchwyx,ocyx->nohw", win, w)
c = lambda t: t.reshape(1, 4, 1, 1)
y = np.maximum((y - c(m)) / np.sqrt(c(v) + 1e-5) * c(g) + c(b), 0)
y = y.reshape(1, 4, 4, 2, 4, 2).max((3, 5)).mean((2, 3))
np.testing.assert_allclose(out, y @ fc, rtol=1e-4, atol=1e-4)
"""
PROGRAMS["packed_and_passes"] = """
@tvm.register_global_func("env.linear", override=True)
def linear(x, w, b, out):
    out.copyfrom(x.numpy() @ w.numpy().T + b.numpy())

@I.ir_module
class Mod:
    @R.function
    def main(x: R.Tensor((2, 8), "float32"), w: R.Tensor((4, 8), "float32"), b: R.Tensor((4,), "float32")):
        with R.dataflow():
            lv = R.call_dps_packed("env.linear", (x, w, b), R.Tensor((2, 4), "float32"))
            lv1 = R.nn.gelu(lv)
            dead = R.exp(lv1)
            gv = R.tanh(lv1)
            R.output(gv)
        return gv

@relax.expr_functor.visitor
class CountCalls(relax.PyExprVisitor):
    def __init__(self):
        super().__init__()
        self.ops = []
    def visit_call_(self, call):
        self.ops.append(call.op.name)
        super().visit_call_(call)

@relax.expr_functor.mutator
class GeluToRelu(relax.PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if isinstance(call.op, tvm.ir.Op) and call.op.name == "relax.nn.gelu":
            return relax.op.nn.relu(call.args[0])
        return call

@tvm.transform.module_pass(opt_level=0, name="GeluToRelu")
class Replace:
    def transform_module(self, mod, ctx):
        m = GeluToRelu(mod)
        for gv, func in mod.functions_items():
            if isinstance(func, relax.Function):
                m.builder_.update_func(gv, m.visit_expr(func))
        return m.builder_.get()

@relax.transform.function_pass(opt_level=0, name="Tag")
class Tag:
    def transform_function(self, func, mod, ctx):
        return func.with_attr("tagged", 1)

new = tvm.transform.Sequential([Replace(), Tag(), relax.transform.DeadCodeElimination()], name="pipeline")(Mod)
v = CountCalls()
v.visit_expr(new["main"])
assert v.ops == ["relax.call_dps_packed", "relax.nn.relu", "relax.tanh"] and new["main"].attrs["tagged"] == 1
args = [np.random.uniform(-1, 1, size=s).astype("float32") for s in ((2, 8), (4, 8), (4,))]
vm = relax.VirtualMachine(tvm.compile(new, "llvm"), tvm.cpu())
x, w, b = args
np.testing.assert_allclose(
    vm["main"](*map(arr, args)).numpy(), np.tanh(np.maximum(x @ w.T + b, 0)),
    rtol=1e-4, atol=1e-5
)
"""
PROGRAMS["attention"] = """
bb = relax.BlockBuilder()
q, k, v = (relax.Var(n, TT((1, 8, 2, 16), "float32")) for n in "qkv")
with bb.function("main", [q, k, v]):
    with bb.dataflow():
        qt = bb.emit(relax.op.permute_dims(q, [0, 2, 1, 3]))
        kt = bb.emit(relax.op.permute_dims(k, [0, 2, 3, 1]))
        vt = bb.emit(relax.op.permute_dims(v, [0, 2, 1, 3]))
        s = bb.emit(relax.op.matmul(qt, kt))
        s = bb.emit(relax.op.divide(s, relax.const(4.0, "float32")))
        p = bb.emit(relax.op.nn.softmax(s, axis=-1))
        o = bb.emit(relax.op.matmul(p, vt))
        o = bb.emit_output(relax.op.permute_dims(o, [0, 2, 1, 3]))
    bb.emit_func_output(o)
mod = bb.get()
mod = relax.get_pipeline("zero")(mod)
a = [rng.standard_normal((1, 8, 2, 16)).astype("float32") for _ in range(3)]
qn, kn, vn = (t.transpose(0, 2, 1, 3) for t in a)
s = qn @ kn.transpose(0, 1, 3, 2) / 4
e = np.exp(s - s.max(-1, keepdims=True)); p = e / e.sum(-1, keepdims=True)
np.testing.assert_allclose(run(mod, "main", *a).numpy(), (p @ vn).transpose(0, 2, 1, 3), rtol=1e-4, atol=1e-5)
"""
PROGRAMS["if_else"] = """
@R.function
def main(cond: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    if cond:
        y = R.add(x, R.const(1.0, "float32"))
        r = R.multiply(y, y)
    else:
        r = R.negative(x)
    return r
mod = tvm.IRModule({"main": main})
x = np.arange(4, dtype="float32")
for c in (True, False):
    np.testing.assert_allclose(run(mod, "main", np.array(c), x).numpy(), (x + 1) ** 2 if c else -x)
"""
PROGRAMS["multi_output_te"] = """
bb = relax.BlockBuilder()
x = relax.Var("x", TT((4, 6), "float32"))
def stats(a):
    k = te.reduce_axis((0, 6), name="k")
    total = te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="total")
    k2 = te.reduce_axis((0, 6), name="k2")
    top = te.compute((4,), lambda i: te.max(a[i, k2], axis=k2), name="top")
    return [total, top]
with bb.function("main", [x]):
    with bb.dataflow():
        both = bb.emit_te(stats, x)
        t = bb.emit(both[0])
        m = bb.emit(relax.TupleGetItem(both, 1))
        d = bb.emit_output(relax.Tuple([t, bb.emit(relax.op.subtract(m, t))]))
    bb.emit_func_output(d)
mod = bb.get()
a = rng.standard_normal((4, 6)).astype("float32")
t, d = run(mod, "main", a)
np.testing.assert_allclose(t.numpy(), a.sum(1), rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(d.numpy(), a.max(1) - a.sum(1), rtol=1e-4, atol=1e-5)
"""
PROGRAMS["schedule_in_module"] = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((64, 64), "float32"), w: R.Tensor((64, 64), "float32")):
        with R.dataflow():
            lv = R.matmul(x, w)
            gv = R.nn.relu(lv)
            R.output(gv)
        return gv
mod = relax.transform.LegalizeOps()(Module)
S = tvm.s_tir.Schedule
sch = S(mod)
sch.work_on("matmul")
block = sch.get_sblock("T_matmul")
i, j, k = sch.get_loops(block)
i0, i1 = sch.split(i, [None, 4])
j0, j1 = sch.split(j, [None, 16])
sch.reorder(i0, j0, k, i1, j1)
sch.vectorize(j1)
sch.parallel(i0)
mod.update_func(mod.get_global_var("matmul"), sch.mod["matmul"])
new = tvm.IRModule({gv: f for gv, f in mod.functions.items()})
text = new.script()
assert "T.vectorized" in text and "T.parallel" in text
a, b = (rng.standard_normal((64, 64)).astype("float32") for _ in "ab")
np.testing.assert_allclose(run(new, "main", a, b).numpy(), np.maximum(a @ b, 0), rtol=1e-3, atol=1e-3)
"""
PROGRAMS["bind_and_params"] = """
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 8), "float32"),
        w: R.Tensor((4, 8), "float32"),
        b: R.Tensor((4,), "float32"),
    ) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        R.func_attr({"num_input": 1})
        with R.dataflow():
            wt: R.Tensor((8, 4), "float32") = R.permute_dims(w)
            lv: R.Tensor((n, 4), "float32") = R.matmul(x, wt)
            gv: R.Tensor((n, 4), "float32") = R.add(lv, b)
            R.output(gv)
        return gv
w, b = rng.standard_normal((4, 8)).astype("float32"), rng.standard_normal(4).astype("float32")
bound = relax.transform.BindParams("main", {"w": arr(w), "b": arr(b)})(M)
folded = tvm.transform.Sequential([relax.transform.FoldConstant(), relax.transform.DeadCodeElimination()])(bound)
assert "permute_dims" not in folded.script() and len(folded["main"].params) == 1
assert folded["main"].attrs["num_input"] == 1
x = rng.standard_normal((3, 8)).astype("float32")
np.testing.assert_allclose(run(folded, "main", x).numpy(), x @ w.T + b, rtol=1e-4, atol=1e-5)
fixed = relax.transform.BindSymbolicVars({"n": 3}, "main")(folded)
assert "n = T.int64()" not in fixed.script()
np.testing.assert_allclose(run(fixed, "main", x).numpy(), x @ w.T + b, rtol=1e-4, atol=1e-5)
"""
PROGRAMS["te_schedule"] = """
n = te.var("n")
A = te.placeholder((n,), "float32", name="A")
B = te.compute((n,), lambda i: A[i] * 2.0 + 1.0, name="B")
C = te.compute((n,), lambda i: te.exp(B[i]), name="C")
func = te.create_prim_func([A, C])
mod = tvm.IRModule.from_expr(func.with_attr("global_symbol", "main"))
S = tvm.s_tir.Schedule
sch = S(mod)
get = sch.get_sblock
sch.compute_inline(get("B"))
(i,) = sch.get_loops(get("C"))
i0, i1 = sch.split(i, factors=[None, 8])
sch.parallel(i0)
f = tvm.compile(sch.mod, target="llvm")
a = rng.standard_normal(21).astype("float32")
out = arr(np.zeros(21, "float32"))
f["main"](arr(a), out)
np.testing.assert_allclose(out.numpy(), np.exp(a * 2 + 1), rtol=1e-4)
a2 = te.placeholder((8, 8), name="X")
k = te.reduce_axis((0, 8), name="k")
s = te.compute((8,), lambda i: te.sum(a2[i, k], axis=k), name="S")
t = te.compute((8,), lambda i: te.if_then_else(s[i] > 0.0, te.sqrt(s[i]), tir.const(0.0, "float32")), name="Tt")
pf = te.create_prim_func([a2, t])
g = tvm.compile(tvm.IRModule({"main": pf}), target="llvm")
xx = rng.standard_normal((8, 8)).astype("float32"); res = arr(np.zeros(8, "float32"))
g["main"](arr(xx), res)
np.testing.assert_allclose(res.numpy(), np.sqrt(np.maximum(xx.sum(1), 0)), rtol=1e-4, atol=1e-5)
"""
PROGRAMS["ops_tour"] = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 3, 4), "float32"), i: R.Tensor((2,), "int64")):
        with R.dataflow():
            a = R.take(x, i, axis=1)
            b = R.strided_slice(x, axes=[1], begin=[0], end=[2])
            c = R.concat([a, b], axis=0)
            d = R.expand_dims(c, axis=0)
            e = R.squeeze(d, axis=[0])
            f = R.mean(e, axis=[0, 1], keepdims=True)
            g = R.where(R.greater(e, f), e, R.zeros_like(e))
            h = R.sum(g, axis=-1)
            m = R.max(h, axis=[1])
            k = R.astype(R.argmax(h, axis=1), "float32")
            z = R.full((4,), R.const(2.0, "float32"), dtype="float32")
            o = R.power(R.add(m, k), z)
            gv = (o, R.clip(h, R.prim_value(0), R.prim_value(1)))
            R.output(gv)
        return gv
x = rng.standard_normal((2, 3, 4)).astype("float32"); i = np.array([2, 0])
o, cl = run(M, "main", x, i)
c = np.concatenate([x[:, i], x[:, :2]]); f = c.mean((0, 1), keepdims=True); h = np.where(c > f, c, 0).sum(-1)
np.testing.assert_allclose(o.numpy(), (h.max(1) + h.argmax(1)) ** 2, rtol=1e-4)
np.testing.assert_allclose(cl.numpy(), np.clip(h, 0, 1), rtol=1e-5)
"""
PROGRAMS["rewrite_matcher"] = """
from tvm.relax.dpl import is_op, wildcard, is_const, is_tuple_get_item
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, R.const(0.0, "float32"))
            c = R.nn.silu(b)
            R.output(c)
        return c
x, w = wildcard(), wildcard()
mm = is_op("relax.matmul")(x, w)
act = is_op("relax.nn.silu")(is_op("relax.add")(mm, is_const()))
func = M["main"]
binds = relax.analysis.get_var2val(func)
last = func.body.blocks[0].bindings[-1]
found = act.extract_matched_expr(last.value, binds)
assert found is not None and found[x].name_hint == "x"
assert act.match(last.value, binds) and not mm.match(last.value, binds)
fused = relax.transform.FuseOpsByPattern([("demo.matmul_silu", act)], bind_constants=True)(M)
names = [g.name_hint for g in fused.get_global_vars()]
assert "fused_relax_matmul_relax_add_relax_nn_silu" in names, names
assert fused["fused_relax_matmul_relax_add_relax_nn_silu"].attrs["Composite"] == "demo.matmul_silu"
seq = tvm.transform.Sequential([relax.transform.LegalizeOps(), relax.transform.FuseTIR()])
a, b = (rng.standard_normal((4, 4)).astype("float32") for _ in "ab")
y = a @ b
np.testing.assert_allclose(run(seq(fused), "main", a, b).numpy(), y / (1 + np.exp(-y)), rtol=1e-4, atol=1e-5)
"""


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.few(2)
def test_a_program_of_the_documentation(tvm, name):
    Notebook(name).run(HEAD + PROGRAMS[name])
