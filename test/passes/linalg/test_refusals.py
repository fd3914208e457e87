"""Unsupported linalg programs are refused with their line; invalid MLIR is an error, not a crash."""

from __future__ import annotations

import random
import re

import pytest

from tir_mlir import Schedule, from_linalg, to_linalg
from tir_mlir.dialect.diagnostics import ScriptError, TirError
from tir_mlir.script.module import IRModule

LOOP = """
func.func @main(%A: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%A : memref<?xf32>) outs(%A : memref<?xf32>)
  }
  return
}
"""
GLOBAL = """
memref.global "private" @w : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main(%A: memref<2xf32>) {
  %w = memref.get_global @w : memref<2xf32>
  linalg.copy ins(%w : memref<2xf32>) outs(%A : memref<2xf32>)
  return
}
"""
SOFTMAX = """
func.func @main(%A: memref<4x5xf32>, %B: memref<4x5xf32>) {
  linalg.softmax dimension(1) ins(%A : memref<4x5xf32>) outs(%B : memref<4x5xf32>)
  return
}
"""
SIZES = """
func.func @main(%A: memref<4xf32>, %B: memref<?xf32>, %C: memref<5xf32>) {
  linalg.copy ins(%A : memref<4xf32>) outs(%B : memref<?xf32>)
  linalg.copy ins(%B : memref<?xf32>) outs(%C : memref<5xf32>)
  return
}
"""
UNPROVED = """
func.func @main(%A: memref<?xf32>, %n: index) {
  %t = memref.alloc(%n) : memref<?xf32>
  %u = memref.alloc(%n) : memref<?xf32>
  %m = arith.addi %n, %n : index
  %v = memref.alloc(%m) : memref<?xf32>
  linalg.copy ins(%t : memref<?xf32>) outs(%v : memref<?xf32>)
  return
}
"""
ALIAS = """
func.func @main(%A: memref<4x4xf32>) {
  linalg.transpose ins(%A : memref<4x4xf32>) outs(%A : memref<4x4xf32>) permutation = [1, 0]
  return
}
"""
SPACE = "func.func @main(%A: memref<4xf32, 3>) {\n  return\n}"
UNRANKED = "func.func @main(%A: memref<*xf32>) {\n  return\n}"
LAYOUT = "func.func @main(%A: memref<4x4xf32, affine_map<(i, j) -> (j, i)>>) {\n  return\n}"
ELEMENT = "func.func @main(%A: memref<4xcomplex<f32>>) {\n  return\n}"
RETURNED = """
func.func @main(%A: memref<4x4xf32>) -> memref<4xf32, strided<[1]>> {
  %r = memref.reinterpret_cast %A to offset: [0], sizes: [4], strides: [1]
       : memref<4x4xf32> to memref<4xf32, strided<[1]>>
  return %r : memref<4xf32, strided<[1]>>
}
"""
CALL = """
func.func private @f(memref<4xf32>)
func.func @main(%A: memref<4xf32>) {
  call @f(%A) : (memref<4xf32>) -> ()
  return
}
"""
BRANCH = """
func.func @main(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}
"""
TENSOR = """
func.func @main(%A: tensor<4xf32>) -> tensor<4xf32> {
  %r = tosa.abs %A : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""
BOUNDS = """
func.func @main(%A: memref<?xf32>, %B: memref<?xf32>) {
  linalg.exp ins(%A : memref<?xf32>) outs(%A : memref<?xf32>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%B : memref<?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %v = memref.load %A[%i] : memref<?xf32>
    linalg.yield %v : f32
  }
  return
}
"""
BODY = """
func.func @main(%A: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%A : memref<4xf32>) {
  ^bb0(%o: f32):
    %c = arith.constant true
    %v = scf.if %c -> f32 {
      scf.yield %o : f32
    } else {
      scf.yield %o : f32
    }
    linalg.yield %v : f32
  }
  return
}
"""
REFUSED = {
    "loop": (LOOP, 5, "scf.for cannot be expressed as loops and blocks: raise it to affine.for"),
    "global": (GLOBAL, 4, "the global buffer w is not a constant: fix: make it a parameter"),
    "sizes": (SIZES, 4, "iterator d0 of copy has the sizes 4 and 5, which differ"),
    "unproved": (UNPROVED, 7, "iterator d0 of copy has the sizes n and n * 2, which cannot be proved equal"),
    "alias": (ALIAS, 3, 'iter v0 of block "transpose" is declared spatial'),
    "space": (SPACE, 1, "has the memory space 3 : i64; a storage scope is a string or none"),
    "unranked": (UNRANKED, 1, "parameters must be ranked memrefs or numbers"),
    "layout": (LAYOUT, 1, "has a non-strided layout"),
    "element": (ELEMENT, 1, "type complex<f32> has no TensorIR name"),
    "returned": (RETURNED, 5, "made by memref.reinterpret_cast; it may return whole buffers that it allocates"),
    "call": (CALL, 4, "func.call cannot be expressed as loops and blocks: inline it"),
    "branch": (BRANCH, 2, "function main has several basic blocks"),
    "tensor": (TENSOR, 3, "tensors are converted to memrefs by `mlir-opt --one-shot-bufferize"),
    "bounds": (BOUNDS, 7, "A is read at index"),
    "body": (BODY, 6, "scf.if in the body of generic is not arithmetic on elements"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_op_and_its_line(name):
    text, line, message = REFUSED[name]
    with pytest.raises(ScriptError, match=re.escape(message)) as caught:
        from_linalg(text)
    assert caught.value.lineno == line


def test_invalid_sources():
    with pytest.raises(ScriptError, match=r"no such file: nowhere.mlir"):
        from_linalg("nowhere.mlir")
    with pytest.raises(TirError, match=r"from_linalg takes a module, MLIR text or the path of a .mlir file, not int"):
        from_linalg(3)  # type: ignore[arg-type]
    with pytest.raises(TirError, match="the module has no function f; it has main"):
        from_linalg(SPACE, func="f")
    with pytest.raises(TirError, match="to_linalg takes an IRModule, not str"):
        to_linalg("text")  # type: ignore[arg-type]


def test_a_module_of_linalg_is_no_program_yet():
    text = "func.func @main(%A: memref<4xf32>) {\n  linalg.exp ins(%A : memref<4xf32>) outs(%A : memref<4xf32>)\n"
    text += "  return\n}"
    raised = to_linalg(from_linalg(text))
    with pytest.raises(TirError, match="linalg"):
        raised.script()
    assert Schedule(from_linalg(raised)).get_loops("exp")


def test_text_over_which_mlir_crashes():
    """MLIR's parser ends the process over a named op with an attribute that has no value."""
    text = """
func.func @main(%A: memref<4x4xf32>, %B: memref<4x4xf32>) {
  linalg.transpose ins(%A : memref<4x4xf32>) outs(%B : memref<4x4xf32>) permutation = 5
  return
}
"""
    with pytest.raises(ScriptError) as caught:
        from_linalg(text)
    assert caught.value.lineno == 3 or "MLIR crashes on this text" in str(caught.value)


def test_tensors_on_which_mlir_crashes():
    text = """
func.func @main(%A: tensor<4xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %r = tensor.pad %A low[1] high[-2147483649] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %r : tensor<6xf32>
}
"""
    with pytest.raises(ScriptError, match="MLIR crashes on this text"):
        IRModule.from_mlir(text)


WORDS = ["?", "4", "0", "-1", "9223372036854775807", "memref<?xf32>", "tensor<4xf32>", "index", "i1", "d0", "parallel",
         "reduction", "%A", "{", "}", "linalg.index 7 : index", "affine_map<(d0) -> (d0)>", "(d0 floordiv 0)",
         "dense<0>", "1 : i32", "linalg.fill"]  # fmt: skip


def mutated(text: str, choose: random.Random) -> str:
    for _ in range(choose.choice([1, 1, 2])):
        places = [m.span() for m in re.finditer(r"[\w.%?*]+", text)]
        (a, b), (c, d) = choose.choice(places), choose.choice(places)
        new = choose.choice([choose.choice(WORDS), text[c:d], ""])
        text = text[:a] + new + text[b:]
    return text


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(24))
def test_mutated_programs_end_well(seed):
    """A result that is a program, or an error of ours; other exceptions, and aborts, are neither."""
    choose = random.Random(seed)
    text = mutated(choose.choice([LOOP, SOFTMAX, SIZES, UNPROVED, BOUNDS, RETURNED, ALIAS, BODY]), choose)
    try:
        made = from_linalg(text)
    except TirError as error:
        assert str(error)
    else:
        assert made.script()
        from_linalg(to_linalg(made))
