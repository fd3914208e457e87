"""Modules and functions from invalid arguments: a clear error."""

import numpy as np
import pytest
from mlir import ir
from programs.short import nest, program, sblock

from tir_mlir import TensorIntrin, create_llvm
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.intrin import outer_products
from tir_mlir.script.module import IRModule

MODULE = program("A:4", nest("i:4", sblock("A", "v:4=i", "A[v] = T.float32(1)")))
WRONG = {
    "module": (lambda: IRModule([1]), "takes an MLIR module or functions by name, not list"),
    "function": (lambda: IRModule({"f": 3}), "IRModule maps names to PrimFuncs and graphs; f is 3"),
    "expression": (lambda: IRModule.from_expr(None), "from_expr takes a PrimFunc, not NoneType"),
    "text": (lambda: IRModule.from_mlir(b"x"), "expected MLIR text or the path of a .mlir file, not bytes"),
    "attribute": (lambda: MODULE["main"].with_attr([1]), "with_attr takes a name or a dictionary"),
    "attributes": (lambda: MODULE["main"].with_attrs(3), "with_attrs takes a dictionary, not int"),
    "target": (lambda: build(MODULE, [1]), "unknown target"),
    "cache": (lambda: build(MODULE, cache=np.zeros(0)), "cache is True or False, not array"),
    "libraries": (lambda: build(MODULE, libs=3), "libs is a list of paths"),
    "library": (lambda: build(MODULE, libs=[None]), "libs is a list of paths"),
    "C": (lambda: create_llvm(4), "takes source text or the path of a file, not int"),
    "C by a long name": (lambda: create_llvm("x" * 5000), "is neither C source .it has no braces. nor a file"),
    "C in a list": (lambda: create_llvm([[]]), "takes source text or the path of a file, not list"),
    "name of an intrinsic": (
        lambda: TensorIntrin.get([[]]),
        r"the name of an intrinsic must be a string, not \[\[\]\]",
    ),
    "intrinsic": (lambda: TensorIntrin.register(3, MODULE, MODULE), "the name of an intrinsic must be a string, not 3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_unsupported_argument_is_named(case):
    call, message = WRONG[case]
    with pytest.raises(TirError, match=message):
        call()


def test_lookup_and_comparison_take_anything():
    assert [3] not in MODULE and None not in MODULE and not MODULE.equal(3)
    with pytest.raises(KeyError, match="no function"):
        MODULE[[1]]


@pytest.mark.parametrize("numbers", [(None, 4, 4), (4.0, 4, 4), ("4", 4, 4)])
def test_sizes_of_a_kernel_are_integers(numbers):
    with pytest.raises(ValueError, match="m, n and k must be integers"):
        outer_products.outer_product(*numbers)
    with pytest.raises(ValueError, match="scopes must be the three scopes"):
        outer_products.outer_product(4, 4, 4, scopes=("global",))


def test_text_over_which_mlir_crashes():
    """`linalg.transpose` of a value that is not there: an assertion inside MLIR's parser."""
    op = "linalg.transpose ins(%A : memref<4x4xf32>) outs(%x : memref<4x4xf32>) permutation = [1, 0]"
    with pytest.raises(TirError, match="undeclared SSA value"):
        IRModule.from_mlir(f"func.func @main(%A: memref<4x4xf32>) {{\n  {op}\n  return\n}}")


def test_two_functions_of_one_name():
    with enter_context():
        module = ir.Module.parse("module { func.func @f() { return } func.func @g() { return } }")
        module.body.operations[1].operation.attributes["sym_name"] = ir.StringAttr.get("f")
    with pytest.raises(TirError, match='two functions of the MLIR module are called "f"; fix: rename one of them'):
        IRModule(module)
