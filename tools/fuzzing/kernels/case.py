"""One random kernel: refused, or right on the PTX machine."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np

from fuzzing.kernels.bindings import scheduled
from fuzzing.kernels.machine import device_of, on_machine
from fuzzing.kernels.sources import source
from fuzzing.kinds import Fault, Kind, Record
from tir_mlir.errors import BuildError, LoweringError, PtxError
from tir_mlir.script import parse


LARGEST = 50_000
"""Characters of PTX that are run: it grows with unrolled loops, and the time of the machine with it."""


def case(random: Random) -> Record:
    """Build a random program under a random schedule for a GPU, and compare its results with NumPy's."""
    program = source(random)
    sch, taken = scheduled(parse(program.text), random)
    arrays = program.arrays(random.randrange(1 << 16))
    expected = [a.copy() for a in arrays]
    program.reference(*expected)

    def story(why: str = "") -> str:
        return f"{why}\n{', '.join(taken)}\n{sch.mod.script()}"

    try:
        if len(device_of(sch)[1]) > LARGEST:
            return Record("too large to run", story=story)
        on_machine(sch, arrays)
    except (LoweringError, BuildError) as error:
        why = str(error)
        return Record("refused", Counter({("kernel refused", _sort(why)): 1}), lambda: story(why))
    except PtxError as error:
        if error.kind == "unwritten":  # LLVM may load what it does not use then
            return Record("loads too early", story=lambda why=str(error): story(why))
        raise Fault(f"the machine reports: {error}\n{story()}") from error
    for number, (array, right) in enumerate(zip(arrays, expected, strict=True)):
        if not np.array_equal(array, right):
            wrong = np.argwhere(array != right)
            at = tuple(int(x) for x in wrong[0])
            raise Fault(
                f"wrong: {len(wrong)} of {array.size} elements of parameter {number} are wrong, the first at {at}:"
                f" {array[at]}, expected {right[at]}\n{story()}"
            )
    return Record("accepted", story=lambda: story())


REASONS = {
    "both bound to": "nested loops over one axis depend on each other",
    "one copy a block": "one copy a block",
    "one copy a thread": "one copy a thread",
    "the order of threads": "the order of threads",
    "two blocks": "two blocks at one element",
    "two threads": "two threads at one element",
    "lasts as long": "memory of one kernel read by the next",
    "not bound": "work outside of blocks and threads",
    "budget": "isl's budget",
}


def _sort(text: str) -> str:
    return next((reason for words, reason in REASONS.items() if words in text), text.partition(": ")[2][:60])


KINDS = {"kernel": Kind(case)}
