"""Functions whose names are no identifiers print as Python that parses, and the result is equal."""

import ast

from tir_mlir.script import parse
from tir_mlir.script.module import IRModule
from tir_mlir.script.printer.value_names import function_names

SOURCE = """
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        Module.copy(A, B)

    @T.prim_func(private=True)
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]
"""


def test_legal_names():
    names = ["nn.relu", "nn_relu", "class", "0.weight", "plain"]
    assert function_names(names) == {"nn.relu": "nn_relu_1", "class": "class_", "0.weight": "f_0_weight"}


def test_a_program_with_dots():
    module = IRModule.from_mlir(parse(SOURCE).text().replace("@copy", '@"tir.copy"').replace("@main", '@"a.b"'))
    text = module.script()
    ast.parse(text)
    assert "def a_b(" in text and 'T.call("tir_copy", A, B)' in text
    assert parse(text).equal(module)


def test_a_graph_with_dots():
    text = """
@I.ir_module
class Module:
    @T.prim_func
    def copy(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        gv = R.call_tir(cls.copy, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return gv
"""
    module = IRModule.from_mlir(
        parse(text)
        .text()
        .replace("@copy.call", '@"layer.0.copy.call"')
        .replace("@copy", '@"layer.0.copy"')
        .replace('"copy"', '"layer.0.copy"')
        .replace("@main", '@"my.main"')
    )
    printed = module.script()
    assert "cls.layer_0_copy" in printed and "def my_main(" in printed
    assert parse(printed).equal(module)
