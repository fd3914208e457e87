"""One random kernel: refused, or right on the PTX machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from random import Random

import numpy as np

from fuzzing.kernels.bindings import scheduled
from fuzzing.kernels.machine import function_of
from fuzzing.kernels.sources import source
from fuzzing.kinds import Fault, Kind, Record
from tir_mlir import Schedule, build
from tir_mlir.errors import BuildError, LoweringError, PtxError
from tir_mlir.ptx.program import run as run_on_machine
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.script import parse

LARGEST = 50_000
"""Characters of PTX that are run: it grows with unrolled loops, and the time of the machine with it."""
MOST_TURNS = 100_000
"""Runs of blocks, those of the threads of a warp together, that the machine does in less than a minute."""


def case(random: Random) -> Record:
    """Build a random program under a random schedule for a GPU, and compare its results with NumPy's; of one in three
    also those of "cuda-emulated", which has to refuse the same."""
    program = source(random)
    sch, taken = scheduled(parse(program.text), random)
    seed, emulated = random.randrange(1 << 16), random.random() < 1 / 3
    expected = program.arrays(seed)
    program.reference(*expected)

    def story(why: str = "") -> str:
        return f"{why}\n{', '.join(taken)}\n{sch.mod.script()}"

    def run(target: str) -> str:
        """Why a target refuses the schedule; "" if it runs it."""
        arrays = program.arrays(seed)
        try:
            _run(sch, arrays, target)
        except (LoweringError, BuildError) as error:
            return str(error)
        if wrong := _difference(arrays, expected):
            raise Fault(f"wrong on {target}: {wrong}\n{story()}")
        return ""

    try:
        why = run("the machine")
    except PtxError as error:
        if error.kind == "unwritten":  # LLVM may load what it does not use then
            return Record("loads too early", story=lambda why=str(error): story(why))
        raise Fault(f"the machine reports: {error}\n{story()}") from error
    except TooLarge:
        return Record("too large to run", story=story)
    if emulated and bool(why) != bool(told := run("cuda-emulated")):
        raise Fault(f"refused by one: the machine: {why or 'runs'}; cuda-emulated: {told or 'runs'}\n{story()}")
    if why:
        return Record("refused", Counter({("kernel refused", _sort(why)): 1}), lambda: story(why))
    return Record("accepted", story=story)


class TooLarge(Exception):
    """A kernel that the machine would run for too long."""


def _run(sch: Schedule, arrays: Sequence[np.ndarray], target: str) -> None:
    if target == "cuda-emulated":
        build(sch, target=target)(*arrays)
        return
    function = function_of(sch)
    refuse_large(function, sch)
    run_on_machine(function, arrays)


def refuse_large(function: DeviceFunction, sch: Schedule) -> None:
    """Raise TooLarge for a kernel that the machine would run for too long."""
    if len(function.code.code.text) > LARGEST or turns(sch) > MOST_TURNS:
        raise TooLarge


def turns(sch: Schedule) -> int:
    """How often a GPU runs the blocks of a schedule, those of the threads of a warp together; loops of unknown extent
    count once."""
    total = 0
    for block in sch.get_child_blocks(sch.get_block("root")):
        loops = [sch.get(loop) for loop in sch.get_loops(block)]
        extents = [(str(loop.kind).startswith("threadIdx."), loop.extent or 1) for loop in loops]
        threads = prod(extent for is_thread, extent in extents if is_thread)
        total += -(-threads // 32) * prod(extent for is_thread, extent in extents if not is_thread)
    return total


def _difference(arrays: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> str:
    """The first wrong element in words; "" if all are equal."""
    for number, (array, right) in enumerate(zip(arrays, expected, strict=True)):
        if not np.array_equal(array, right):
            wrong = np.argwhere(array != right)
            at = tuple(int(x) for x in wrong[0])
            count = f"{len(wrong)} of {array.size} elements of parameter {number} are wrong"
            return f"{count}, the first at {at}: {array[at]}, expected {right[at]}"
    return ""


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
