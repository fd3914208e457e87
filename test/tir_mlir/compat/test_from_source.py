"""`tvm.script.from_source`: what it returns for functions, classes and text, and where names come from."""

import numpy as np
import pytest

from tir_mlir.dialect.diagnostics import ArgumentError, ScriptError

PROGRAM = """
@T.prim_func
def double(A: T.Buffer((N,), "float32"), B: T.Buffer((N,), "float32")):
    for i in range(N):
        with T.block("B"):
            vi = T.axis.spatial(N, i)
            B[vi] = A[vi] * T.float32(2)
"""
GRAPH = """
@R.function
def twice(x: R.Tensor((N,), "float32")):
    return R.add(x, x)
"""
HEADS = ["", "from tvm.script import tirx as T\nfrom tvm.script import relax as R\n", "import numpy as np\n"]


def in_class(*functions):
    lines = "".join(functions).splitlines()
    return "@I.ir_module\nclass Module:\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("size", [{"extra_vars": {"N": 4}}, "N = 4\n"], ids=["extra", "text"])
def test_one_function_is_itself(tvm, head, size):
    first, more = (size, {}) if isinstance(size, str) else ("", size)
    program = tvm.script.from_source(head + first + PROGRAM, **more)
    assert isinstance(program, tvm.tir.PrimFunc) and program.name == "double"
    graph = tvm.script.from_source(head + first + GRAPH, **more)
    assert isinstance(graph, tvm.relax.Function) and graph.name == "twice"
    x, y = np.arange(4, dtype="float32"), np.zeros(4, "float32")
    tvm.compile(program)["double"](x, y)
    np.testing.assert_array_equal(y, x * 2)
    vm = tvm.relax.VirtualMachine(tvm.compile(graph), tvm.cpu())
    np.testing.assert_array_equal(vm["twice"](x).numpy(), x * 2)


def test_a_class_and_several_functions_are_modules(tvm):
    extra = {"N": 4}
    for text in (in_class(PROGRAM), in_class(GRAPH), in_class(PROGRAM, GRAPH), PROGRAM + GRAPH):
        for head in ("", "import tvm\n"):
            module = tvm.script.from_source(head + text.replace("@I.", "@tvm.script."), extra)
            assert isinstance(module, tvm.IRModule) and len(module) == text.count("def ")
    assert tvm.script.parse is tvm.script.parser.parse is tvm.script.from_source
    module = tvm.script.from_source(in_class(PROGRAM), extra_vars=extra)
    assert tvm.script.from_source(module) is module and tvm.script.from_source(module.script()).equal(module)


def test_functions_of_python(tvm):
    T = tvm.script.tir

    def fill(A: T.Buffer((4,), "float32")):  # pyright: ignore
        for i in range(4):
            A[i] = VALUE  # noqa: F821  # pyright: ignore

    class Module:
        @T.prim_func
        def main(A: T.Buffer((4,), "float32")):  # pyright: ignore
            A[0] = T.float32(1)

    assert isinstance(tvm.script.from_source(fill, {"VALUE": 2.0}), tvm.tir.PrimFunc)
    assert isinstance(tvm.script.from_source(Module), tvm.IRModule)


def test_what_is_wrong_is_said(tvm):
    with pytest.raises(ScriptError, match="NameError: name 'N' is not defined"):
        tvm.script.from_source(GRAPH)
    wrong = PROGRAM.replace("B[vi] =", "B[vi + 1] =").replace("N", "4")
    with pytest.raises(ScriptError, match="B is written at index 4 in dimension 0"):
        tvm.script.from_source(wrong)
    assert tvm.script.from_source(wrong, check_well_formed=False).name == "double"
    with pytest.raises(
        ArgumentError, match=r"does not take absent_params={'A': None}; fix: leave these parameters out"
    ):
        tvm.script.from_source(PROGRAM, {"N": 4}, absent_params={"A": None})
