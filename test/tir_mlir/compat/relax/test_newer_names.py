"""The newer words of tvm.relax: types, numbers, `out_ty`, `ret_ty`, tensors of a known rank, `vm.module`."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir.dialect.diagnostics import ArgumentError, GraphError, ScriptError

RNG = np.random.default_rng(30)
HEAD = """
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tir as T
"""


@pytest.fixture
def notebook():
    made = Notebook("program")
    made.run(HEAD)
    return made


def machine(tvm, module):
    return tvm.relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())


def reprinted(tvm, module):
    """The module that the text of a module is parsed to."""
    again = tvm.script.from_source(module.script())
    assert again.script() == module.script()
    return again


def test_numbers_as_arguments_attributes_operands_and_results(tvm, notebook):
    notebook.run("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((10,), "float32"), k: R.Prim("float32"), n: T.int64) -> R.Tuple(
        R.Tensor((4,), "float32"), R.Tensor((5,), "float32"), R.Prim("int64"), R.Prim("int64")
    ):
        with R.dataflow():
            lv = R.strided_slice(x, (R.prim_value(0),), (R.prim_value(1),), (R.prim_value(5),))
            lv1 = R.multiply(R.multiply(lv, R.prim_value(2)), k)
            lv2 = R.arange(R.prim_value(0), R.prim_value(10), R.prim_value(2), dtype="float32")
            gv = R.tuple(lv1, lv2, n, R.prim_value(7))
            R.output(gv)
        return gv
""")
    x = RNG.standard_normal(10).astype(np.float32)
    for module in (notebook["M"], reprinted(tvm, notebook["M"])):
        sliced, steps, n, seven = machine(tvm, module)["main"](tvm.nd.array(x), 0.5, 3)
        np.testing.assert_array_equal(sliced.numpy(), x[1:5])
        assert steps.numpy().tolist() == [0, 2, 4, 6, 8] and (int(n), n.item(), float(seven)) == (3, 3, 7.0)
    with pytest.raises(ArgumentError, match=r"an argument is 0\.5, and the parameter is int64; fix: int\(0\.5\)"):
        machine(tvm, notebook["M"])["main"](x, 0.5, 0.5)


def test_numbers_outside_a_function(tvm):
    relax = tvm.relax
    assert [relax.prim_value(v).struct_info.dtype for v in (1, 1.5, True)] == ["int64", "float64", "bool"]
    assert relax.prim_value(tvm.tir.IntImm("int32", 4)).struct_info == relax.TensorType((), "int32")
    assert relax.PrimValue(4).value == 4 and isinstance(relax.PrimValue(4), relax.Constant)
    n = tvm.te.var("n")
    assert relax.prim_value(n) is n
    with pytest.raises(GraphError, match=r"n is a size, not a value of a graph; fix: .*bb\.call_te"):
        relax.op.add(relax.Var("x", relax.TensorType((2,))), n)
    with pytest.raises(GraphError, match=r"R\.Prim has an element type, not a value \('n'\); fix: .*R\.const.*shape"):
        relax.PrimType("int64", value="n")
    with pytest.raises(GraphError, match="prim_value takes a number, not 'a'"):
        relax.prim_value("a")


def test_newer_names_of_types(tvm):
    relax = tvm.relax
    pairs = {"TensorType": "TensorStructInfo", "ShapeType": "ShapeStructInfo", "TupleType": "TupleStructInfo"}
    for newer, older in {**pairs, "AnyType": "ObjectStructInfo"}.items():
        assert getattr(relax, newer) is getattr(relax, older)
    x = relax.Var("x", relax.TensorType(("n", 4), "float32"))
    assert (x.name, x.ty.ndim, x.ty) == ("x", 2, x.struct_info)
    assert str(relax.TensorType("float32", ndim=2)) == 'R.Tensor(dtype="float32", ndim=2)'
    assert str(tvm.ir.TupleType([x.ty, relax.ShapeType(ndim=2)])).endswith(", R.Shape(ndim=2))")
    with pytest.raises(GraphError, match=r"graphs run on the CPU, not on 'cuda'; fix: vdevice=\"cpu\""):
        relax.TensorType((2,), "float32", "cuda")
    with pytest.raises(AttributeError, match="FuncType is not part of tir_mlir: a function is a member of a module"):
        relax.FuncType


def test_types_of_results(tvm, notebook):
    notebook.run("""
@tvm.register_func("newer.relu", override=True)
def relu(x, out):
    out.copyfrom(np.maximum(x.numpy(), 0))

@I.ir_module
class M:
    @T.prim_func
    def double(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        with R.dataflow():
            lv = R.call_tir(cls.double, (x,), out_ty=R.Tensor((4,), dtype="float32"))
            gv = R.call_dps_packed("newer.relu", (lv,), out_ty=R.Tensor((4,), dtype="float32"))
            R.output(gv)
        return gv
""")
    x = RNG.standard_normal(4).astype(np.float32)
    for module in (notebook["M"], reprinted(tvm, notebook["M"])):
        np.testing.assert_array_equal(machine(tvm, module)["main"](tvm.nd.array(x)).numpy(), np.maximum(x * 2, 0))
    relax, main = tvm.relax, notebook["M"]["main"]
    assert main.ret_ty == relax.TensorType((4,), "float32")
    call = main.body.bindings[0].value
    assert call.ty_args == [main.ret_ty]
    again = relax.Call(call.op, call.args, ty_args=call.ty_args, ret_ty=relax.TensorType("float32", ndim=1))
    assert again.ty == call.ty
    assert relax.Function(main.params, main.body, ret_ty=main.ret_ty).ret_ty == main.ret_ty
    with pytest.raises(GraphError, match=r"the value of the function is R\.Tensor\(\(4,\).*, not .*ndim=2"):
        relax.Function(main.params, main.body, ret_ty=relax.TensorType("float32", ndim=2))
    with pytest.raises(GraphError, match=r"R\.add\(x, x\) is R\.Tensor\(\(4,\).*, not R\.Tuple"):
        relax.Call("relax.add", [main.params[0]] * 2, ret_ty=relax.TupleType([]))
    with pytest.raises(GraphError, match="result types once; fix: out_sinfo, or out_ty"):
        relax.op.call_tir("f", (), main.ret_ty, out_ty=main.ret_ty)


def test_a_tensor_of_known_rank_has_named_sizes(tvm, notebook):
    notebook.run("""
x_0 = 3

@R.function
def main(x: R.Tensor("float32", ndim=2), w: R.Tensor((4, 3), "float32")) -> R.Tensor("float32", ndim=2):
    y: R.Tensor("float32", ndim=2) = R.relu(x)
    return R.exp(y)
""")
    assert str(notebook["main"].params[0].ty) == 'R.Tensor((x_0_1, x_1), dtype="float32")'
    x, w = RNG.standard_normal((2, 4)).astype(np.float32), np.zeros((4, 3), np.float32)
    for module in (notebook["main"], reprinted(tvm, notebook["main"])):
        got = machine(tvm, module)["main"](x, w).numpy()
        np.testing.assert_allclose(got, np.exp(np.maximum(x, 0)), rtol=1e-5)
    for annotation in ("R.Tensor(ndim=2)", 'R.Tensor("float32")', "R.Tensor"):
        with pytest.raises(ScriptError, match="fix: give its shape and element type"):
            notebook.run(f"@R.function\ndef f(x: {annotation}):\n    return R.exp(x)\n")
    with pytest.raises(ScriptError, match=r"the value is R\.Tuple\(.*, not R\.Tensor"):
        notebook.run(
            '@R.function\ndef f(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):\n    return (x,)\n'
        )


def test_operators_under_their_short_names(tvm):
    relax = tvm.relax
    x, w = (relax.Var(name, relax.TensorType((4, 4), "float32")) for name in "xw")
    op = relax.op
    for call, name in ((op.dense(x, w), "dense"), (op.nn.dense(x, w), "dense"), (op.relu(x), "relu")):
        assert call.op is tvm.ir.Op.get(f"relax.nn.{name}")
    bb = relax.BlockBuilder()
    with bb.function("main", [x, w]):
        bb.emit_func_output(bb.emit(op.relu(bb.emit(op.dense(x, w)))))
    module = bb.get()
    assert "R.nn.relu(" in module.script()
    a, b = (RNG.standard_normal((4, 4)).astype(np.float32) for _ in range(2))
    np.testing.assert_allclose(machine(tvm, module)["main"](a, b).numpy(), np.maximum(a @ b.T, 0), rtol=1e-4, atol=1e-5)


def test_the_module_of_a_machine(tvm, notebook):
    notebook.run('@R.function\ndef f(x: R.Tensor((4,), "float32")):\n    return R.exp(x)\n')
    vm, x = machine(tvm, notebook["f"]), RNG.standard_normal(4).astype(np.float32)
    np.testing.assert_allclose(vm.module["f"](tvm.nd.array(x)).numpy(), np.exp(x), rtol=1e-5)
    assert vm.module.time_evaluator("f", tvm.cpu(), number=1)(tvm.nd.array(x)).mean > 0
    vm.save_function("f", "saved", tvm.nd.array(x))
    np.testing.assert_allclose(vm["saved"]().numpy(), np.exp(x), rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "way"),
    [("call_packed", "R.call_dps_packed"), ("call_tir_inplace", "R.call_tir"), ("Callable", "members of the module"),
     ("print", "no side effects"), ("shape_to_tensor", "sizes"), ("unique", "sizes of results are known")],
)  # fmt: skip
def test_words_that_are_refused(tvm, name, way):
    R = tvm.script.relax
    assert not hasattr(R, name)
    with pytest.raises(AttributeError, match=rf"R\.{name} is not supported: .*{way}"):
        getattr(R, name)


def test_an_element_without_axes_of_bfloat16(tvm):
    one = tvm.nd.empty((), "bfloat16")
    one[:] = np.uint16(0x3FC0)
    assert float(one) == 1.5
