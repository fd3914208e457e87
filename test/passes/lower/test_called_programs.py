"""Programs that call each other: each is compiled on its own, and a model of many calls builds in linear time."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.ir import create, enter_context
from tir_mlir.passes.lower.to_llvm import lower_to_llvm
from tir_mlir.script import IRModule

ROW = "memref<1x128xf32>"
ARENA = "memref<1088xi8>"


def scaled(name: str, factor: int) -> str:
    """func private @name(A, B): B = A * factor"""
    return f"""
  func.func private @{name}(%A: {ROW} {{tir.name = "A"}}, %B: {ROW} {{tir.name = "B"}}) {{
    affine.for %i = 0 to 128 {{
      affine.parallel (%vi) = (%i) to (%i + 1) {{
        %x = arith.constant {factor}.0 : f32
        %a = affine.load %A[0, %vi] : {ROW}
        %b = arith.mulf %a, %x : f32
        affine.store %b, %B[0, %vi] : {ROW}
      }} {{tir.block = "B", tir.iters = ["S"], tir.names = ["vi"], tir.min = affine_map<() -> (0)>,
         tir.extent = affine_map<() -> (128)>, tir.syms = []}}
    }} {{tir.loop = "i"}}
    return
  }}"""


def model(functions: int, calls: int) -> IRModule:
    """`calls` calls of `functions` functions one after the other, through two views of an arena."""
    lines = [scaled(f"f{n}", n + 1) for n in range(functions)]
    lines += [
        f'  func.func @main(%x: {ROW} {{tir.name = "x"}}, %out: {ROW} {{tir.name = "out"}},'
        f' %arena: {ARENA} {{tir.name = "arena"}}) {{',
        "    %o0 = arith.constant 64 : index",
        "    %o1 = arith.constant 576 : index",
    ]
    source = "%x"
    for n in range(calls):
        target = "%out" if n == calls - 1 else f"%v{n}"
        if n < calls - 1:
            lines.append(f"    {target} = memref.view %arena[%o{n % 2}][] : {ARENA} to {ROW}")
        lines.append(f"    call @f{n % functions}({source}, {target}) : ({ROW}, {ROW}) -> ()")
        source = target
    return IRModule.from_mlir("\n".join(["module {", *lines, "    return", "  }", "}"]))


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_a_chain_of_calls_through_an_arena(driver):
    x, out, arena = np.arange(128, dtype=np.float32)[None], np.zeros((1, 128), np.float32), np.zeros(1088, np.int8)
    build(model(3, 5), driver=driver)["main"](x, out, arena)
    np.testing.assert_array_equal(out, x * (1 * 2 * 3 * 1 * 2))
    np.testing.assert_array_equal(arena[64:576].view(np.float32), x[0] * 6)


def test_called_programs_stay_functions():
    with enter_context():
        module = create.clone_module(model(3, 6).mlir)
        lower_to_llvm(module)
        heads = re.findall(r"llvm.func internal @tir\.(f\d)\(.*", str(module))
        text = next(line for line in str(module).splitlines() if "internal @tir.f1(" in line)
    assert heads == ["f0", "f1", "f2"]
    assert "no_inline" in text
    assert text.count("llvm.noalias") == 2


def test_kernels_in_loops_may_be_inlined():
    text = """
func.func private @kernel(%A: memref<8xf32> {tir.name = "A"}) {
  %x = arith.constant 1.0 : f32
  affine.store %x, %A[0] : memref<8xf32>
  return
}
func.func @main(%A: memref<8xf32> {tir.name = "A"}) {
  affine.for %i = 0 to 4 {
    func.call @kernel(%A) : (memref<8xf32>) -> ()
  }
  return
}
"""
    with enter_context():
        module = create.clone_module(IRModule.from_mlir(text).mlir)
        lower_to_llvm(module)
        assert "no_inline" not in str(module)


def test_a_public_program_is_called_by_others_and_from_python():
    text = str(model(1, 1).mlir).replace("func.func private @f0", "func.func @f0")
    x, out, arena = np.arange(128, dtype=np.float32)[None], np.zeros((1, 128), np.float32), np.zeros(1088, np.int8)
    for driver in ("jit", "tools"):
        lib = build(IRModule.from_mlir(text.replace("1.000000e+00", "3.0")), driver=driver)
        lib["main"](x, out, arena)
        np.testing.assert_array_equal(out, x * 3)
        lib["f0"](out, arena[64:576].view(np.float32)[None])
        np.testing.assert_array_equal(arena[64:576].view(np.float32), x[0] * 9)


def test_the_time_to_compile_is_that_of_the_functions():
    def compiled(calls: int) -> float:
        return build(model(4, calls), cache=False).timing.cpu["compile"]

    assert min(compiled(160) for _ in range(2)) < 8 * min(compiled(16) for _ in range(3))
