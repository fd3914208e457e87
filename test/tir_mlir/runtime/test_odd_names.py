"""Names of functions in generated text: LLVM IR, MLIR, C."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from tir_mlir import build
from tir_mlir.dialect.calls.function_texts import callees_in, function_text, quote, symbol
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.script import IRModule

ODD = ['a"() #9 ; x', "a\\b", "a\nb", "a b", "größe", "%s%n", "@x", "f(){}/**/", "a;b", "x" * 5000, "a.b", "a-b", "\t"]
FUNCTION = """func.func NAME(%a: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    %c = arith.constant 1.0 : f32
    affine.store %c, %a[%i] : memref<4xf32>
  }
  return
}
"""


@pytest.mark.parametrize("name", ODD)
def test_a_function_of_any_name_is_built_and_exported(name, tmp_path):
    lib = build(IRModule.from_mlir(FUNCTION.replace("NAME", symbol(name))))
    array = np.zeros(4, "float32")
    lib[name](array)
    assert (array == 1).all()
    lib.export(tmp_path / "fine.o", name="fine")


def test_a_name_that_is_not_one_of_c_is_refused(tmp_path):
    lib = build(IRModule.from_mlir(FUNCTION.replace("NAME", symbol("f(){}/**/"))))
    with pytest.raises(BuildError, match="not a name of a C function; fix: export\\(path, name="):
        lib.export(tmp_path / "lib.so")


@pytest.mark.parametrize("name", ODD)
def test_a_written_name_is_the_one_that_mlir_reads(name):
    with enter_context():
        caller = f"func.func @f() {{ call {symbol(name)}() : () -> () return }} func.func private {symbol(name)}()"
        module = ir.Module.parse(caller)
        functions = list(module.body.operations)
        assert ir.StringAttr(functions[1].attributes["sym_name"]).value == name
        assert callees_in(function_text(functions[0].operation)) == [name]


def test_plain_names_stay_as_they_are():
    assert symbol("main_1.b") == "@main_1.b" and symbol("1a") == '@"1a"' and quote('a"\\') == '"a\\22\\5C"'
