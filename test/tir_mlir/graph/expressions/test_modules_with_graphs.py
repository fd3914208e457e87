"""Modules of programs and graphs: what is built, scheduled, verified and changed."""

import pickle

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import BuildError, TirError
from tir_mlir.graph.expressions import Function, remove_all_unused
from tir_mlir.script import IRModule, parse

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
TEXT = """
@I.ir_module
class Mod:
    @T.prim_func
    def relu(X: T.Buffer((2, 3), "float32"), Y: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(2, 3):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            lv = R.exp(x)
            lv1 = R.subtract(lv, R.const(1.0))
            gv = R.call_tir(cls.relu, (lv1,), R.Tensor((2, 3), "float32"))
            R.output(gv)
        return gv
"""


@pytest.fixture
def module():
    return parse(TEXT)


def test_a_graph_of_a_module_is_built(module):
    np.testing.assert_allclose(build(module["main"])(X), np.maximum(np.exp(X) - 1, 0), rtol=1e-5, atol=1e-6)


def test_the_module_itself_is_not(module):
    with pytest.raises(BuildError, match=r'main is a graph; fix: build\(mod\["main"\]\)'):
        build(module)


def test_a_program_beside_a_graph_is_scheduled_and_verified(module):
    sch = Schedule(module)
    sch.work_on("relu")
    i, j = sch.get_loops(sch.get_block("Y"))
    sch.reorder(j, i)
    assert sch.verify()
    assert list(sch.mod) == ["relu", "main"]
    np.testing.assert_allclose(build(sch.mod.graphs["main"])(X), np.maximum(np.exp(X) - 1, 0), rtol=1e-5, atol=1e-6)


def test_functions_and_programs_are_apart(module):
    assert list(module.functions) == ["relu", "main"] == list(module)
    assert list(module.prim_funcs) == ["relu"] and list(module.graphs) == ["main"]
    assert isinstance(module.graphs["main"], Function) and "main" in module and len(module) == 2


def test_a_replaced_program_is_called(module):
    other = parse(TEXT.replace("T.max(X[vi, vj], T.float32(0))", "X[vi, vj] * T.float32(2)"))
    module.update_func("relu", other.prim_funcs["relu"])
    np.testing.assert_allclose(build(module.graphs["main"])(X), 2 * (np.exp(X) - 1), rtol=1e-5, atol=1e-6)


def test_a_program_that_does_not_fit_is_refused(module):
    before = module.text()
    other = parse(TEXT.partition("    @R.function")[0].replace("(2, 3)", "(2, 4)"))
    with pytest.raises(TirError, match="the functions of the module do not fit"):
        module["relu"] = other.prim_funcs["relu"]
    with pytest.raises(TirError, match="the functions of the module do not fit"):
        del module["relu"]
    assert module.text() == before


def test_a_graph_is_removed_with_what_only_it_called(module):
    del module["main"]
    assert list(module) == ["relu"] and "tensor" not in module.text()


def test_a_module_of_graphs_is_copied_and_pickled(module):
    assert pickle.loads(pickle.dumps(module)).equal(module)
    assert IRModule(module.functions).equal(module)
    assert remove_all_unused(module).equal(module)
