"""Random masked and narrowing loops: right code is compared, a planted fault of code generation is found."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from mlir import ir

from fuzzing.code.case import case, draw
from fuzzing.kinds import Fault
from tir_mlir.passes.lower import LOWERINGS
from tir_mlir.passes.lower.vector import emit


@pytest.mark.parametrize("number", range(6))
def test_a_program_is_compared(number: int):
    assert case(Random(f"code {number}")).word == "compared"


def test_what_is_drawn_has_last_vectors_of_one_lane_and_signs_of_zero():
    texts = [str(draw(Random(f"text {number}"))) for number in range(300)]
    assert all(any(word in text for text in texts) for word in ("bfloat16", "if vi <", "else:", "-0.0", "parallel"))
    limits = [(t.split(" lanes")[0], t.split("if vi < ")[1].split(":")[0]) for t in texts if "if vi < " in t]
    assert sum(int(limit) % int(lanes) == 1 for lanes, limit in limits) > 20


def _masks_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    masked = emit.vector.maskedstore

    def store(buffer: ir.Value, places: Any, mask: ir.Value, value: ir.Value) -> Any:
        every = ir.DenseElementsAttr.get_splat(mask.type, ir.BoolAttr.get(True))
        return masked(buffer, places, emit.arith.constant(mask.type, every), value)

    monkeypatch.setattr(emit.vector, "maskedstore", store)


def _zeros_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "tir-lower-signed-zeros"
    monkeypatch.setitem(LOWERINGS, name, replace(LOWERINGS[name], run=lambda module: None))


@pytest.mark.parametrize(("plant", "words"), [(_masks_lost, "if vi <"), (_zeros_seen, "0.0), T.float")])
def test_a_planted_fault_is_found(plant: Any, words: str, monkeypatch: pytest.MonkeyPatch):
    plant(monkeypatch)
    seeds = [f"planted {number}" for number in range(1000)]
    with pytest.raises(Fault, match=r"machine code (and interpreter differ: B|writes outside B)"):
        for seed in [seed for seed in seeds if words in draw(Random(seed)).text]:
            case(Random(seed))
