"""`FoldConstant` and `FuseOpsByPattern`: what becomes constants and functions, and that the numbers remain."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir.dialect.diagnostics import GraphError

RNG = np.random.default_rng(32)
HEAD = """
import numpy as np
import tvm
from tvm import relax
from tvm.relax.dpl import *
from tvm.script import ir as I, relax as R, tir as T
"""
CONSTANTS = """
@I.ir_module
class M:
    @T.prim_func
    def scale(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor(("n",), "float32")):
        cls = M
        with R.dataflow():
            a = R.add(R.const(np.ones(4, "float32")), R.const([0.0, 1.0, 2.0, 3.0]))
            b = R.call_tir(cls.scale, (a,), out_ty=R.Tensor((4,), "float32"))
            z = R.zeros((4,), "float32")
            p = R.permute_dims(R.const(np.arange(6).reshape(2, 3)))
            s = R.split(R.add(R.const(np.arange(4, dtype="float32")), z), 2)
            f = R.call_dps_packed("fold.f", (a,), out_ty=R.Tensor((4,), "float32"))
            u = R.add(R.multiply(x, R.add(b, z)), R.multiply(f, z))
            m = R.full((y.shape[0],), R.const(1.0), "float32")
            gv = (u, p, s[1], R.add(y, m))
            R.output(gv)
        return gv

folded = relax.transform.FoldConstant()(M)
"""
CONVOLUTIONS = """
weight = np.arange(16, dtype="float32").reshape(4, 4, 1, 1) / 16

@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor((1, 3, 6, 6), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), b: R.Tensor((4, 1, 1), "float32")
    ):
        with R.dataflow():
            lv = R.nn.conv2d(x, w, padding=(1, 1))
            lv1 = R.add(lv, b)
            lv2 = R.nn.relu(lv1)
            lv3 = R.nn.conv2d(lv2, R.const(weight))
            gv = R.nn.relu(lv3)
            R.output(gv)
        return gv

conv = is_op("relax.nn.conv2d")(wildcard(), wildcard())
with_bias = ("mine.conv2d_bias_relu", is_op("relax.nn.relu")(is_op("relax.add")(conv, wildcard())))
alone = ("mine.conv2d_relu", is_op("relax.nn.relu")(conv))
"""
BRANCHES = """
@R.function
def main(x: R.Tensor((4, 4), "float32"), w: R.Tensor((4, 4), "float32")):
    with R.dataflow():
        a = R.matmul(x, w)
        b = R.nn.relu(a)
        c = R.exp(R.negative(a))
        gv = R.add(b, c)
        R.output(gv)
    return gv

M = tvm.IRModule({"main": main})
product = is_op("relax.matmul")(wildcard(), wildcard())
relu = is_op("relax.nn.relu")(product)
"""


@pytest.fixture
def notebook(tvm):
    made = Notebook("program")
    made.run(HEAD)
    return made


def machine(tvm, module):
    return tvm.relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())


def same_results(tvm, before, after):
    """Both modules, and the text of the second one, compute the same; returns the result."""
    arrays = [
        RNG.standard_normal([4 if isinstance(n, str) else int(n) for n in p.shape]) for p in before["main"].params
    ]
    arrays = [a.astype(np.float32) for a in arrays]
    one, *others = [
        machine(tvm, m)["main"](*arrays).numpy() for m in (before, after, tvm.script.from_source(after.script()))
    ]
    for other in others:
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_constants_are_folded(tvm, notebook):
    tvm.register_func("fold.f", lambda a, out: out.copyfrom(a), override=True)
    notebook.run(CONSTANTS)
    before, after = notebook["M"], notebook["folded"]
    values = {b.var.name_hint: str(b.value) for b in after["main"].body.bindings}
    multiplied = next(v for v in values.values() if v.startswith("R.multiply(x"))
    assert multiplied == "R.multiply(x, R.const([2.0, 4.0, 6.0, 8.0], 'float32'))"
    assert values["f"] == "R.call_dps_packed(ExternFunc(\"fold.f\"), (R.const([1.0, 2.0, 3.0, 4.0], 'float32'),))"
    assert values["z"].startswith("R.zeros(") and values["m"].startswith("R.full(")
    assert not values.keys() & {"a", "b", "p", "s"} and "scale" in after
    _, transposed, half, _ = after["main"].body.body.fields
    np.testing.assert_array_equal(transposed.data, np.arange(6).reshape(2, 3).T)
    np.testing.assert_array_equal(half.data, [2, 3])
    x, y = RNG.standard_normal(4).astype(np.float32), RNG.standard_normal(3).astype(np.float32)
    for one, other in zip(machine(tvm, before)["main"](x, y), machine(tvm, after)["main"](x, y), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_nothing_to_fold(tvm, notebook):
    notebook.run(BRANCHES)
    assert tvm.relax.transform.FoldConstant()(notebook["M"]).equal(notebook["M"])


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize("options", [{}, {"bind_constants": False}, {"annotate_codegen": True}], ids=str)
def test_parts_that_match_become_functions(tvm, notebook, options):
    notebook.run(CONVOLUTIONS)
    fuse = tvm.relax.transform.FuseOpsByPattern([notebook["with_bias"], notebook["alone"]], **options)
    after = fuse(notebook["M"])
    end = "_mine" if options.get("annotate_codegen") else ""
    names = [f"fused_relax_nn_conv2d_relax_add_relax_nn_relu{end}", f"fused_relax_nn_conv2d_relax_nn_relu{end}"]
    assert list(after) == [*names, "main"]
    assert [after[n].attrs["Composite"] for n in names] == ["mine.conv2d_bias_relu", "mine.conv2d_relu"]
    assert [after[n].attrs.get("Codegen") for n in names] == [end[1:] or None] * 2
    assert [v.name_hint for v in after[names[0]].params] == ["x", "w", "b"]
    bound = options.get("bind_constants", True)
    assert [v.name_hint for v in after[names[1]].params] == ["lv2", "param_0"][: 2 - bound]
    assert [str(b.value.op) for b in after["main"].body.bindings] == names
    same_results(tvm, notebook["M"], after)
    lowered = tvm.transform.Sequential([tvm.relax.transform.LegalizeOps(), tvm.relax.transform.FuseTIR()])(after)
    same_results(tvm, notebook["M"], lowered)


@pytest.mark.nightly
def test_equal_parts_are_one_function_and_earlier_patterns_win(tvm, notebook):
    notebook.run(CONVOLUTIONS)
    relu = ("mine.relu", notebook["is_op"]("relax.nn.relu")(notebook["wildcard"]()))
    after = tvm.relax.transform.FuseOpsByPattern([("mine.conv2d", notebook["conv"]), relu])(notebook["M"])
    names = ["fused_relax_nn_conv2d", "fused_relax_nn_conv2d1", "fused_relax_nn_relu"]
    assert sorted(after) == [*names, "main"]
    assert after.script().count("cls.fused_relax_nn_relu(") == 2
    same_results(tvm, notebook["M"], after)


def test_what_others_read_is_returned_too(tvm, notebook):
    notebook.run(BRANCHES)
    after = tvm.relax.transform.FuseOpsByPattern([("mine.relu", notebook["relu"])])(notebook["M"])
    assert len(after["fused_relax_matmul_relax_nn_relu"].ret_ty.fields) == 2
    same_results(tvm, notebook["M"], after)


def test_what_reads_a_part_before_its_end_moves_behind_it(tvm, notebook):
    notebook.run(BRANCHES.replace("b = R.nn.relu(a)", "e = R.exp(a)").replace("R.exp(R.negative(a))", "R.nn.relu(a)")
                 .replace("R.add(b, c)", "R.add(R.negative(e), c)"))  # fmt: skip
    after = tvm.relax.transform.FuseOpsByPattern([("mine.relu", notebook["relu"])])(notebook["M"])
    names = [
        getattr(b.value.op, "name", str(b.value.op)) for b in after["main"].body.bindings if hasattr(b.value, "op")
    ]
    assert names == ["fused_relax_matmul_relax_nn_relu", "relax.exp", "relax.negative", "relax.add"]
    same_results(tvm, notebook["M"], after)


def test_an_item_of_a_tuple_outside_of_the_pattern_is_a_parameter(tvm, notebook):
    notebook.run("""
@R.function
def main(x: R.Tensor((4, 4), "float32")):
    with R.dataflow():
        s = R.split(x, 2)
        gv = R.add(R.nn.relu(s[0]), R.nn.relu(s[1]))
        R.output(gv)
    return gv

M = tvm.IRModule({"main": main})
after = relax.transform.FuseOpsByPattern([("mine.relu", is_op("relax.nn.relu")(wildcard()[0]))])(M)
""")
    assert notebook["after"].script().count("cls.fused_relax_nn_relu(") == 1
    same_results(tvm, notebook["M"], notebook["after"])


def test_a_part_that_needs_itself_is_refused(tvm, notebook):
    notebook.run(BRANCHES + 'whole = is_op("relax.add")(relu, wildcard())')
    with pytest.raises(
        GraphError, match="the part of main that ends with gv reads c, which is computed from it outside"
    ):
        tvm.relax.transform.FuseOpsByPattern([("mine.whole", notebook["whole"])])(notebook["M"])


def test_a_check_and_attributes_of_a_pattern(tvm, notebook):
    notebook.run(BRANCHES)
    contexts = []

    def check(context):
        contexts.append(context)
        return len(context.var_usages[context.value_to_bound_var[context.annotated_expr["product"]]]) == 1

    parts = {"product": notebook["product"]}
    transform = tvm.relax.transform
    given = ("mine.relu", notebook["relu"], parts, check)
    assert transform.FuseOpsByPattern([given])(notebook["M"]).equal(notebook["M"])
    (context,) = contexts
    assert context.matched_expr.op == tvm.ir.Op.get("relax.nn.relu")
    assert [str(v) for v in context.matched_bindings] == ["a", "b"]
    pattern = transform.FusionPattern(
        "mine.relu", notebook["relu"], parts, None, lambda e: {"rank": e["product"].ty.ndim}
    )
    after = transform.FuseOpsByPattern([pattern], entry_functions=["main"])(notebook["M"])
    assert after["fused_relax_matmul_relax_nn_relu"].attrs["rank"] == 2


def test_named_sizes(tvm, notebook):
    notebook.run("""
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
    with R.dataflow():
        a = R.nn.relu(x)
        b = R.nn.relu(y)
        gv = R.concat((a, b))
        R.output(gv)
    return gv

M = tvm.IRModule({"main": main})
after = relax.transform.FuseOpsByPattern([("mine.relu", is_op("relax.nn.relu")(wildcard()))])(M)
""")
    x, y = (RNG.standard_normal((n, 4)).astype(np.float32) for n in (2, 3))
    for module in (notebook["M"], notebook["after"]):
        np.testing.assert_array_equal(machine(tvm, module)["main"](x, y).numpy(), np.maximum(np.concatenate((x, y)), 0))


def test_patterns_by_name(tvm, notebook):
    notebook.run(CONVOLUTIONS)
    registry = tvm.relax.backend.pattern_registry
    registry.register_patterns([notebook["alone"], notebook["with_bias"]])
    names = [p.name for p in registry.get_patterns_with_prefix("mine.conv2d")]
    assert names[:2] == ["mine.conv2d_bias_relu", "mine.conv2d_relu"]
    patterns = [tvm.relax.backend.get_pattern("mine.conv2d_bias_relu"), registry.get_pattern("mine.conv2d_relu")]
    assert len(tvm.relax.transform.FuseOpsByPattern(patterns)(notebook["M"])) == 3
    assert registry.get_pattern("mine.nothing") is None


@pytest.mark.parametrize(
    ("patterns", "options", "said"),
    [
        (["mine.relu"], {}, r'a pattern to fuse is \("name", pattern\) or a FusionPattern, not \'mine.relu\'; fix'),
        ([("mine.relu", 3)], {}, "the pattern mine.relu is 3; fix: one of tvm.relax.dpl"),
        ([], {"entry_functions": ["f"]}, "the module has no graph f; it has main"),
    ],
)
def test_what_is_refused(tvm, notebook, patterns, options, said):
    notebook.run(BRANCHES)
    with pytest.raises(GraphError, match=said):
        tvm.relax.transform.FuseOpsByPattern(patterns, **options)(notebook["M"])
    with pytest.raises(AttributeError, match=r"RunCodegen is not part of tir_mlir: .*tvm.compile"):
        tvm.relax.transform.RunCodegen
