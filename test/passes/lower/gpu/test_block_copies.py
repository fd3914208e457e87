"""Planes of a shared buffer that are filled ahead: what is shown without dataflow is what dataflow finds."""

from __future__ import annotations

import pytest
from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.passes.lower.gpu import block_copies

FILL = """affine.for %u = 0 to 8 {{
  affine.store %a, %S[{plane}, {column}] : memref<3x8xf32, "shared">
}} {{{u}}}"""
USE = """%s = affine.load %S[{read}, 7 - %t] : memref<3x8xf32, "shared">
affine.store %s, %B[%k, %t] : memref<4x8xf32>"""
PROGRAM = """func.func @f(%B: memref<4x8xf32> {{tir.name = "B"}}) attributes {{tir.id = 0 : i64}} {{
  %a = arith.constant 1.0 : f32
  affine.for %t = 0 to 8 {{
    %S = memref.alloc() {{tir.name = "S"}} : memref<3x8xf32, "shared">
    {before}
    affine.for %k = 0 to 4 {{
      {body}
    }} {{tir.loop = "k"}}
  }} {{tir.loop = "t", tir.kind = "threadIdx.x"}}
  return
}}"""
THREADS = 'tir.loop = "u", tir.kind = "threadIdx.x"'
BEFORE = FILL.format(plane="0", column="%u", u=THREADS)


def program(write: str = "(%k + 1) mod 3", read: str = "%k mod 3", column: str = "%u", before: str = BEFORE,
            more: str = "", late: bool = False) -> str:  # fmt: skip
    """Each iteration fills a plane and reads another one. more: another op of the body."""
    parts = [FILL.format(plane=write, column=column, u=THREADS), more, USE.format(read=read)]
    return PROGRAM.format(before=before, body="\n".join(parts[::-1] if late else parts))


OF_A_THREAD = """affine.if affine_set<(d0): (d0 - 5 == 0)>(%t) {
  affine.store %a, %S[(%k + 2) mod 3, 5] : memref<3x8xf32, "shared">
}"""
PROGRAMS = {
    "one ahead": (program(), True),
    "one ahead, after what is read": (program(late=True), True),
    "in this iteration": (program(read="(%k + 1) mod 3"), False),
    "two planes": (program("(%k + 1) mod 2", "%k mod 2"), True),
    "nothing before": (program(before=""), False),
    "another plane before": (program(before=FILL.format(plane="1", column="%u", u=THREADS)), False),
    "the plane of two iterations ago": (program(read="(%k + 2) mod 3"), False),
    "half of each plane": (program(column="%u floordiv 2"), False),
    "by all threads": (program(column="(%u * 3) mod 8"), True),
    "by one thread, too": (program(more=OF_A_THREAD), False),
}


def is_accepted(text: str, monkeypatch: pytest.MonkeyPatch, fast: bool) -> tuple[bool, int]:
    """Whether one copy a block will do, and how often dataflow was asked."""
    asked: list[int] = []
    flow = block_copies.parallel_flow
    with monkeypatch.context() as patch, enter_context():
        patch.setattr(block_copies, "parallel_flow", lambda *a: asked.append(1) or flow(*a))
        if not fast:
            patch.setattr(block_copies, "_follows_iterations", lambda *_: False)
        module = ir.Module.parse(text)
        try:
            block_copies.check(next(iter(funcs(module))))
        except LoweringError:
            return False, len(asked)
    return True, len(asked)


@pytest.mark.parametrize("name", PROGRAMS)
def test_dataflow_agrees(name, monkeypatch):
    text, shown = PROGRAMS[name]
    answer, asked = is_accepted(text, monkeypatch, fast=True)
    assert answer == is_accepted(text, monkeypatch, fast=False)[0]
    assert (not asked) >= shown


@pytest.mark.parametrize("fast", [True, False])
def test_a_write_of_one_outer_thread_is_last_on_a_gpu_only(fast, monkeypatch):
    """In the program, thread 2 reads what it has filled; on a GPU, what thread 5 has written over it."""
    parts = [FILL.format(plane="%k mod 3", column="%u", u=THREADS), OF_A_THREAD.replace("%k + 2", "%k")]
    text = PROGRAM.format(before="", body="\n".join([*parts, USE.format(read="%k mod 3")]))
    assert not is_accepted(text, monkeypatch, fast)[0]
