"""Problems that both our schedules and Triton's text solve, side by side. Importing this needs Triton."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from harness import mma_products
from programs import attention, kernel_kinds, triton_kernels

from tir_mlir import Schedule, build, ptx, schedules
from tir_mlir.ptx.comparison import ComparedKernels
from tir_mlir.ptx.prediction.cards import Card, find_card
from tir_mlir.ptx.prediction.launches import describe_launch
from tir_mlir.ptx.program import LaunchRecorder, register_usage, sample_arguments

CAPABILITY = 80


@dataclass(frozen=True)
class Problem:
    """A problem: our schedule of it; a kernel of Triton, its grid and its arguments, whose values do not matter."""

    ours: Callable[[], Schedule]
    triton: str
    grid: tuple[int, ...]
    args: tuple[object, ...]


def _auto(program: object) -> Callable[[], Schedule]:
    def schedule() -> Schedule:
        sch = Schedule(program)  # type: ignore[arg-type]
        schedules.auto(sch, target=f"sm_{CAPABILITY}")
        return sch

    return schedule


def _product(n: int) -> Schedule:
    return mma_products.scheduled(mma_products.product(n, n, n), (32, 32, 32))


def _array(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.zeros(shape, dtype)


F16 = "float16"
PROBLEMS = {
    "product of float16, 1024": Problem(
        lambda: _product(1024), "matmul_f16", (16, 16),
        (_array(1024, 1024, dtype=F16), _array(1024, 1024, dtype=F16), _array(1024, 1024), 1024, 1024),
    ),
    "softmax, 4096 x 1024": Problem(
        _auto(kernel_kinds.softmax(4096, 1024)), "softmax", (4096,), (_array(4096, 1024), _array(4096, 1024), 1024)
    ),
    "layer norm, 4096 x 1024": Problem(
        _auto(kernel_kinds.norm(4096, 1024)), "layer_norm", (4096,),
        (_array(4096, 1024), _array(1024), _array(1024), _array(4096, 1024), 1024),
    ),
    "transpose of float16, 2048": Problem(
        _auto(kernel_kinds.transpose(2048, 2048, F16)), "transpose", (64, 64),
        (_array(2048, 2048, dtype=F16), _array(2048, 2048, dtype=F16), 2048, 2048),
    ),
    "attention, 1024 x 64 (ours of float32)": Problem(
        _auto(attention.attention(1, 1024, 1024, 64)), "attention", (16,),
        (*(_array(1024, 64, dtype=F16) for _ in range(3)), _array(1024, 64), 1024, np.float32(0.125)),
    ),
}  # fmt: skip


def ours(problem: Problem, card: Card) -> ComparedKernels:
    """Our kernels for a problem."""
    lib = build(problem.ours(), target=f"sm_{CAPABILITY}")
    function = lib[next(iter(lib))]
    driver = LaunchRecorder(chip=f"sm_{CAPABILITY}")
    function.run(driver, sample_arguments(function.signature, filled=False))
    return ComparedKernels("ours", driver.launches, card, register_usage(lib.assembly, f"sm_{CAPABILITY}"))


def of_triton(problem: Problem, card: Card) -> ComparedKernels:
    """Triton's kernel for a problem."""
    text, shared = triton_kernels.compile_kernel(problem.triton, CAPABILITY)
    (kernel,) = ptx.parse(text).kernels.values()
    args = [*problem.args, *[0] * (len(kernel.parameters) - len(problem.args))]
    assert kernel.block is not None
    launch = describe_launch(kernel, problem.grid, kernel.block, args, shared)
    return ComparedKernels("Triton", [launch], card, register_usage(text, f"sm_{CAPABILITY}"))


def side_by_side(name: str, gpu: str | None = None) -> list[ComparedKernels]:
    """Ours, then Triton's."""
    card = find_card(gpu, CAPABILITY)
    return [ours(PROBLEMS[name], card), of_triton(PROBLEMS[name], card)]
