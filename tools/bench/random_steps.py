"""The time of one schedule step: random steps of the fuzzer's random programs, with all proofs."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzzing.programs import program
from fuzzing.steps import step
from fuzzing.steps.choice import NothingThere
from tir_mlir import Schedule
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.script.parser import parse

SEEDS = range(1000, 1080)
TRIES = 10
"""Steps tried on a program; those that are applied count, without queries and lookups."""


def random_steps(seeds: range = SEEDS) -> Iterator[tuple[str, float]]:
    """Each applied step and its seconds of processor time."""
    for seed in seeds:
        random = Random(seed)
        sch = Schedule(parse(program(random).text), seed=1, error_render_level="none")
        for _ in range(TRIES):
            took = _try(sch, random)
            if took is not None:
                yield took


def _try(sch: Schedule, random: Random) -> tuple[str, float] | None:
    try:
        name, (args, kwargs) = step(sch, random)
    except NothingThere:
        return None
    if name not in PRIMITIVES:  # a ready-made schedule is many steps
        return None
    before, start = sch.executor.version, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(sch, name)(*args, **kwargs)
        except Exception:
            return None
    took = time.process_time() - start
    return None if PRIMITIVES[name].pure or sch.executor.version is before else (name, took)
