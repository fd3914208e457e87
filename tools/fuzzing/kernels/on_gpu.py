"""One random kernel on a GPU: the same PTX on the PTX machine and on the chip gives the same bits."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np

from fuzzing.kernels.bindings import scheduled
from fuzzing.kernels.case import TooLarge, refuse_large
from fuzzing.kernels.machine import function_of
from fuzzing.kernels.sources import Source, source
from fuzzing.kinds import Fault, Kind, Record
from tir_mlir.errors import BuildError, DeviceError, LoweringError, PtxError
from tir_mlir.ptx.program import run as run_on_machine
from tir_mlir.runtime.drivers.device_driver import DeviceDriver, active
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.script import parse

DRAWS = 50
"""Programs that are drawn until one runs: two in five are refused."""
INTEGERS, FRACTIONS = "on small integers", "on fractions"


def case(random: Random) -> Record:
    """Draw kernels until one runs on the machine, run it on the GPU of `active()`, and compare all arguments bit for
    bit: the order of operations is that of the text on both. Of text in which ptxas may fuse two operations, on numbers
    that no order rounds."""
    for _ in range(DRAWS):
        program, seed = source(random), random.randrange(1 << 16)
        sch, taken = scheduled(parse(program.text), random)
        try:
            function = function_of(sch)
            refuse_large(function, sch)
            numbers = INTEGERS if "mul.f32" in function.code.code.text else FRACTIONS
            expected = _arrays(program, seed, numbers)
            run_on_machine(function, expected)
        except (LoweringError, BuildError, TooLarge, PtxError):
            continue  # what `--kernels` without a GPU judges
        story = f"{', '.join(taken)}\n{sch.mod.script()}"
        arrays = _arrays(program, seed, numbers)
        _run(function, arrays, story)
        if wrong := difference(arrays, expected):
            raise Fault(f"the GPU differs from the machine, {numbers}: {wrong}\n{story}\n{function.code.code.text}")
        return Record("equal", Counter({("equal on the GPU", numbers): 1}), lambda story=story: story)
    raise Fault(f"none of {DRAWS} random kernels runs")


def _arrays(program: Source, seed: int, numbers: str) -> list[np.ndarray]:
    arrays = program.arrays(seed)
    if numbers == FRACTIONS:
        rng = np.random.default_rng(seed)
        arrays = [array + rng.random(array.shape, np.float32) for array in arrays]
    return arrays


def _run(function: DeviceFunction, arrays: Sequence[np.ndarray], story: str) -> None:
    """Run a kernel on the GPU. After a fault in one none runs in this process: it ends, with the story as its log."""
    driver = active()
    try:
        function(*arrays)
    except DeviceError as error:
        if _still_runs(driver):
            raise Fault(f"the GPU reports: {error}\n{story}") from error
        print(f"the GPU reports: {error}\n{story}", file=sys.stderr, flush=True)
        os._exit(70)


def _still_runs(driver: DeviceDriver) -> bool:
    try:
        driver.synchronize(0, 0)
    except DeviceError:
        return False
    return True


def difference(arrays: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> str:
    """How many elements differ in a bit, and the first of them; "" if none does."""
    for number, (array, right) in enumerate(zip(arrays, expected, strict=True)):
        wrong = np.argwhere(array.view(np.uint32) != right.view(np.uint32))
        if len(wrong):
            at = tuple(int(x) for x in wrong[0])
            values = f"{array[at]!r}, the machine has {right[at]!r}"
            return f"{len(wrong)} of {array.size} elements of parameter {number}, the first at {at}: {values}"
    return ""


KINDS = {"kernel": Kind(case, unlimited=True)}
"""CUDA's driver reserves more addresses than the memory of all its GPUs."""
