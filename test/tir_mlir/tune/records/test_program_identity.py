"""What identifies a program in a database: names do not count, sizes are told apart, a class has all sizes."""

import os
import subprocess
import sys

import pytest
from programs.attention import attention
from programs.convolutions import Conv
from programs.convolutions import program as convolution
from programs.matmul import matmul, matmul_nt
from programs.parsed import parse
from programs.products import product

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.script.module import IRModule
from tir_mlir.tune.records.program_identity import identity

SCALE = """
@T.prim_func
def {function}({a}: T.Buffer((8, {n}), "float32"), {b}: T.Buffer((8, {n}), "float32")):
    for {i}, j in T.grid(8, {n}):
        with T.block("{block}"):
            {v}, vj = T.axis.remap("SS", [{i}, j])
            {b}[{v}, vj] = {a}[{v}, vj] * T.float32({factor})
"""
NAMES = {"function": "f", "a": "A", "b": "B", "i": "i", "block": "scale", "v": "vi", "n": 16, "factor": 2.0}


def scale(**changes):
    return parse(SCALE.format(**{**NAMES, **changes}))


@pytest.mark.parametrize(
    "changes",
    [
        {"function": "range"},
        {"a": "X"},
        {"b": "out"},
        {"i": "row"},
        {"block": "B"},
        {"v": "n"},
        {"function": "float32"},
    ],
)
def test_names_do_not_count(changes):
    assert identity(scale(**changes)) == identity(scale())


CALLER = """
func.func @{one}(%a: memref<8xf32>) {{
  %x = arith.constant 1.0 : f32
  affine.store %x, %a[0] : memref<8xf32>
  return
}}
func.func @{other}(%a: memref<8xf32>) {{
  %x = arith.constant 2.0 : f32
  affine.store %x, %a[0] : memref<8xf32>
  return
}}
func.func @main(%a: memref<8xf32>) {{
  func.call @f(%a) : (memref<8xf32>) -> ()
  return
}}
"""


def test_a_function_that_is_called_keeps_its_name():
    """Which one is called is told by name alone."""
    one, other = (IRModule.from_mlir(CALLER.format(one=a, other=b)) for a, b in ("fg", "gf"))
    assert identity(one).program != identity(other).program


def test_all_kinds_of_programs_have_one_identity():
    module = scale()
    kinds = [module, module["f"], Schedule(module), module.mlir]
    assert len({identity(kind) for kind in kinds}) == 1


def test_a_scheduled_program_is_another():
    sch = Schedule(scale())
    sch.vectorize(sch.get_loops("scale")[-1])
    assert identity(sch).program != identity(scale()).program


def test_other_sizes_are_another_program_of_the_same_class():
    one, other = identity(scale()), identity(scale(n=24))
    assert one.program != other.program and one.shape_class == other.shape_class
    assert (one.sizes, other.sizes) == ((8, 16), (8, 24))


def test_another_operand_order_is_another_class():
    assert identity(matmul(8, 16, 32)).shape_class != identity(matmul_nt(8, 16, 32)).shape_class
    assert identity(matmul(8, 16, 32)).sizes == (8, 16, 32)


def test_another_type_is_another_class():
    one, other = (identity(product(8, 8, 8, dtype)) for dtype in ("float32", "float64"))
    assert one.sizes == other.sizes and one.shape_class != other.shape_class


def test_a_constant_of_the_computation_is_another_program():
    assert identity(scale(factor=3.0)).program != identity(scale()).program


def test_convolutions_of_all_sizes_are_one_class():
    """The bounds of the padding depend on the sizes."""
    convs = [Conv(16, 32, (14, 14), pad=1), Conv(64, 64, (56, 56), pad=1)]
    found = [identity(convolution(c)) for c in convs]
    assert found[0].shape_class == found[1].shape_class and len(found[0].sizes) == len(found[1].sizes)


def test_attention_of_all_sizes_is_one_class():
    """The scale depends on the width."""
    found = [identity(attention(*sizes)) for sizes in ((2, 16, 32, 8), (4, 64, 128, 32))]
    assert found[0].shape_class == found[1].shape_class


def test_sizes_of_shape_variables_are_not_constants():
    found = identity(product("m", 16, 32))
    assert found.sizes == (16, 32) and found.shape_class != identity(product(8, 16, 32)).shape_class


def test_functions_of_a_module_are_told_apart_by_order():
    text = SCALE.format(**{**NAMES, "function": "{}", "factor": "{}"})
    modules = [
        parse("@I.ir_module\nclass M:" + "".join(text.format(n, f).replace("\n", "\n    ") for n, f in pairs))
        for pairs in ([("f", 2.0), ("g", 3.0)], [("a", 2.0), ("b", 3.0)], [("f", 3.0), ("g", 2.0)])
    ]
    first, renamed, swapped = (identity(module).program for module in modules)
    assert first == renamed != swapped


def test_other_values_are_refused():
    with pytest.raises(TuneError, match="a program is an IRModule, a PrimFunc, a Schedule or an MLIR module, not str"):
        identity("matmul")


def test_the_identity_is_the_same_in_every_process():
    code = (
        "from tir_mlir.script.parser import parse; from tir_mlir.tune.records.program_identity import identity\n"
        f"print(identity(parse({SCALE.format(**NAMES)!r})))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": "7"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(identity(scale()))
