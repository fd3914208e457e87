"""`make bench ARGS="--predict --measured"`: predicted and measured speed of works on this machine, and how alike their
ranks are."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

import measure
import predicted
from contest import OURS, Work
from tir_mlir.prediction import predict
from tir_mlir.target import host
from works.entering import captured


@dataclass(frozen=True)
class Pair:
    """A work: its cycles over the least ones, predicted, and its CPU time over that of the least cycles at 1 GHz."""

    name: str
    predicted: float
    measured: float
    limit: str


def compare(only: re.Pattern[str], seconds: float = 1.0) -> list[Pair]:
    """Predict and measure the works of the golden table on one thread whose names match, one after another."""
    found = []
    for work in predicted.works(predicted.GOLDEN):
        if only.search(work.name) and work.threads == 1:
            found.append(_pair(work, seconds))
            pair = found[-1]
            print(f"{pair.name:<64} {pair.predicted:>6.2f} {pair.measured:>6.2f}  {pair.limit}", flush=True)
    return found


def _pair(work: Work, seconds: float) -> Pair:
    make = captured(work.make)
    assert make is not None, work.name
    prediction = predict(predicted.program(make, host()), host())
    best = predicted.best_cycles(work, prediction)
    call = work.make().contestants[OURS].call
    took = measure.interleaved({OURS: call}, budget=seconds, clock=measure.clock_for(True, 1))[OURS].least
    return Pair(work.name, prediction.cycles / best, took * 1e9 / best, prediction.limit)


def run(only: re.Pattern[str]) -> int:
    """Print both columns, the clock at which they would be equal, and the correlation of their ranks."""
    print(f"{'work':<64} {'cycles':>6} {'ns':>6}  over the best")
    pairs = compare(only)
    clock = float(np.median([pair.predicted / pair.measured for pair in pairs]))
    off = [pair.measured * clock / pair.predicted for pair in pairs]
    correlation = measure.rank_correlation([pair.predicted for pair in pairs], [pair.measured for pair in pairs])
    print(f"rank correlation {correlation:.2f} of {len(pairs)} works")
    print(f"at {clock:.2f} GHz, measured over predicted: {min(off):.2f} to {max(off):.2f}")
    return 0
