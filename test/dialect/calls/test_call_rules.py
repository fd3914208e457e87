"""What verify asks of a call between programs, and of a view of an arena."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import IRModule

COPY = """
  func.func private @copy(%A: memref<16xf32> {tir.name = "A"}, %B: memref<16xf32> {tir.name = "B"}) ATTRS {
    affine.for %i = 0 to 16 {
      affine.parallel (%vi) = (%i) to (%i + 1) {
        %a = affine.load %A[%vi] : memref<16xf32>
        affine.store %a, %B[%vi] : memref<16xf32>
      } {tir.block = "B", tir.iters = ["S"], tir.names = ["vi"], tir.min = affine_map<() -> (0)>,
         tir.extent = affine_map<() -> (16)>, tir.syms = []}
    } {tir.loop = "i"}
    return
  }
"""
TYPE = "(memref<16xf32>, memref<16xf32>) -> ()"
VIEW = "memref.view %arena[%at][] : memref<256xi8> to memref<16xf32>"


def main(body: str, attrs: str = "") -> str:
    head = 'func.func @main(%x: memref<16xf32> {tir.name = "x"}, %arena: memref<256xi8> {tir.name = "arena"})'
    return f"module {{{COPY.replace('ATTRS', attrs)}\n{head} {{\n{body}\nreturn }} }}"


def refused(text: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        IRModule.from_mlir(text)


def views(*places: int) -> str:
    lines = [f"%c{n} = arith.constant {n} : index" for n in dict.fromkeys(places)]
    return "\n".join([*lines, *(f"%v{n} = {VIEW.replace('%at', f'%c{n}')}" for n in dict.fromkeys(places))])


def test_distinct_buffers_are_accepted():
    IRModule.from_mlir(main(f"{views(0, 64)}\ncall @copy(%x, %v0) : {TYPE}\ncall @copy(%v0, %v64) : {TYPE}"))


def test_the_same_buffer_twice():
    refused(
        main(f"call @copy(%x, %x) : {TYPE}"), r"copy writes B, so that A must be other memory: x is passed for both"
    )


def test_overlapping_views():
    text = main(f"{views(0, 60)}\ncall @copy(%v0, %v60) : {TYPE}")
    refused(text, r"B, so that A must be other memory: both are parts of arena, which overlap")


def test_neighboring_views_are_apart():
    IRModule.from_mlir(main(f"{views(0, 64)}\ncall @copy(%v0, %v64) : {TYPE}"))


def test_a_program_may_allow_overlaps():
    IRModule.from_mlir(main(f"call @copy(%x, %x) : {TYPE}", "attributes {tir.attrs = {tir.noalias = false}}"))


@pytest.mark.parametrize("at", [193, 256])
def test_views_end_in_their_arena(at):
    refused(main(views(at)), rf"view view0 has the bytes {at} to {at + 64} of arena, which has 256")


def test_a_view_of_a_whole_arena_end():
    IRModule.from_mlir(main(views(192)))


def test_views_start_at_an_element():
    refused(main(views(6)), r"starts at a multiple of 4, the bytes of a float32: byte 6 is not")


def test_a_view_of_a_view():
    text = main(
        "%c = arith.constant 0 : index\n%a = memref.view %arena[%c][] : memref<256xi8> to memref<64xi8>\n"
        "%b = memref.view %a[%c][] : memref<64xi8> to memref<16xf32>"
    )
    refused(text, r"view1 is a view of the view view0")


def test_a_program_that_calls_itself():
    text = COPY.replace("return", f"call @main(%A, %B) : {TYPE}\n return").replace("ATTRS", "")
    head = 'func.func @main(%x: memref<16xf32> {tir.name = "x"}, %y: memref<16xf32> {tir.name = "y"})'
    refused(f"module {{ {text}\n{head} {{ call @copy(%x, %y) : {TYPE}\n return }} }}", "copy calls main calls copy")
