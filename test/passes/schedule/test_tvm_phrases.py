"""Messages contain TVM's phrases where they mean the same, so that scripts which match them go on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError

CHAIN = main(
    "A:16x16 D:16x16 E:16x16; B:16x16 C:16x16",
    each("B:16x16", "B[vi, vj] = A[vi, vj] * T.float32(2)"),
    each("C i:16 j:16 k:16R", "C[vi, vj] = C[vi, vj] + B[vi, vk]", init="C[vi, vj] = T.float32(0)"),
    each("D:16x16", "D[vi, vj] = B[vi, vj] + C[vi, vj]"),
    each("E:16x16", "E[vi, vj] = B[vi, vj]"),
)


def _inner_scope(sch: Schedule) -> None:
    outer = sch.get_loops("E")[1]
    sch.blockize(outer)
    sch.compute_at("B", sch.get_loops("E")[0])


def _reorder_scopes(sch: Schedule) -> None:
    outer = sch.get_loops("E")[0]
    sch.blockize(sch.get_loops("E")[1])
    sch.reorder(sch.get_loops("E")[0], outer)


def _update(sch: Schedule) -> None:
    sch.decompose_reduction("C", sch.get_loops("C")[2])
    sch.compute_inline("C_update")


CASES: dict[str, tuple[Callable[[Schedule], object], str]] = {
    "unknown block": (lambda s: s.get_block("F"), "Cannot find a block with the name"),
    "inlined reduction": (lambda s: s.compute_inline("C"), "complete block"),
    "padding of a reduction": (lambda s: s.decompose_padding("C", s.get_loops("C")[0]),
                          "complete block"),
    "block updated in place": (_update, "complete block"),
    "output moved": (lambda s: s.compute_at("D", s.get_loops("E")[0]), "output block"),
    "output inlined": (lambda s: s.compute_inline("D"), "output block"),
    "own loop": (lambda s: s.compute_at("B", s.get_loops("B")[0]), "ancestor of block"),
    "other scope": (_inner_scope, "same block scope"),
    "loops of two scopes": (_reorder_scopes, "same block scope"),
    "consumer elsewhere": (lambda s: s.compute_at("B", s.get_loops("C")[0]), r"requires all the consumer\(s\)"),
    "producer elsewhere": (
        lambda s: s.reverse_compute_at("D", s.get_loops("B")[0]), r"requires all the producer\(s\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_message_has_the_phrase(name: str):
    step, phrase = CASES[name]
    sch = Schedule(parse(CHAIN))
    with pytest.raises(ScheduleError, match=phrase):
        step(sch)
