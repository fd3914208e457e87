"""Costs of kernels on the GPU of this machine: a product in float32, and what it costs to start a kernel."""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import kernels
import report
from compiling import Cost
from contest import WrongResult
from measure import Stats, interleaved
from models_on_gpu import run_models
from predictions import card_of, predictions
from tir_mlir import Schedule, build
from tir_mlir.runtime.call.fast_entry import python_function
from tir_mlir.runtime.drivers.device_driver import DeviceDriver, active
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.script import tir as T
from tir_mlir.target import CUDA

N, SMALL = 4096, 1024
NUMBER, REPEAT = 5, 11
RANKED, CANDIDATES = 1024, 60
"""The size of a product, and how many kernels of it are ranked by predicted times."""
BAR, BAR_OF_HALVES = ">= 40", ">= 450"
"""TFLOP/s of a product on an H100 or H200, without tensor cores, and by `wgmma`."""


def run(path: Path, target: CUDA) -> int:
    """Measure, show, and write the figures as JSON; 1 if a goal is missed or a result is wrong."""
    driver, torch = active(), torch_with_cuda()
    device = driver.devices()[0]
    peer = f"PyTorch {torch.__version__}" if torch else "no PyTorch with CUDA is installed: nothing to compare with"
    facts = {"gpu": device.name, "chip": device.chip, "driver": driver.name, "peer": peer, "date": str(date.today())}
    for key, value in facts.items():
        print(f"{key:8} {value}")
    costs = launches(driver, target, torch)
    try:
        costs += product(target, N, torch)
        costs += run_models(target, torch) if torch else []
        if target.has("wgmma"):
            costs += product_of_halves(target, N, torch)
    except WrongResult as error:
        facts["wrong"] = str(error)
        print(f"wrong    {error}")
    if (card := card_of(device.name)) is not None:
        costs += predictions(target, card, RANKED, CANDIDATES)
    else:
        print(f"predictions: no rates are known of {device.name}: nothing is compared")
    report.show_costs(costs)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": facts, "rows": [cost.plain() for cost in costs]}, indent=1) + "\n")
    print(f"written to {path}")
    return int("wrong" in facts or any(cost.met is False for cost in costs))


def torch_with_cuda() -> Any:
    """PyTorch, where it is installed and finds the GPU; else None."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def product(target: CUDA, n: int, torch: Any = None) -> list[Cost]:
    """TFLOP/s of C = A @ B in float32 by the schedule of the library, by events of the GPU, whose result is checked on
    numbers that no order rounds; and PyTorch's, without tensor cores."""
    lib = build(kernels.product(n, target), target=target)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 8, (n, n)).astype(np.float32) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    function = python_function(lib["main"])
    assert isinstance(function, DeviceFunction)
    rate = Stats.of(function.seconds([a, b, c], NUMBER, REPEAT)).rate(2e-12 * n**3)
    if not np.array_equal(c, a @ b):
        raise WrongResult(f"the product of {n} x {n} numbers is wrong on the GPU")
    group = "kernels on the GPU"
    costs = [Cost(group, f"product, float32, {n}^3", "TFLOP/s", rate, BAR)]
    if torch:
        theirs = Stats.of(_seconds_of_torch(torch, a, b)).rate(2e-12 * n**3)
        costs.append(Cost(group, f"product, float32, {n}^3, by PyTorch", "TFLOP/s", theirs))
    return costs


def product_of_halves(target: CUDA, n: int, torch: Any = None) -> list[Cost]:
    """TFLOP/s of C = A @ B of float16 in float32 by the TMA and `wgmma`, checked like the product of float32; and
    PyTorch's, whose result is of float16."""
    lib = build(kernels.product_of_halves(n), target=target)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (n, n)).astype(np.float16) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    function = python_function(lib["main"])
    assert isinstance(function, DeviceFunction)
    rate = Stats.of(function.seconds([a, b, c], NUMBER, REPEAT)).rate(2e-12 * n**3)
    if not np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32)):
        raise WrongResult(f"the product of {n} x {n} halves is wrong on the GPU")
    group = "kernels on the GPU"
    costs = [Cost(group, f"product, float16 by wgmma, {n}^3", "TFLOP/s", rate, BAR_OF_HALVES)]
    if torch:
        theirs = Stats.of(_seconds_of_torch(torch, a, b)).rate(2e-12 * n**3)
        costs.append(Cost(group, f"product, float16, {n}^3, by PyTorch", "TFLOP/s", theirs))
    return costs


def _seconds_of_torch(torch: Any, a: np.ndarray, b: np.ndarray) -> list[float]:
    """Seconds of torch.mm on the GPU, by events."""
    torch.backends.cuda.matmul.allow_tf32 = False
    x, y = torch.from_numpy(a).cuda(), torch.from_numpy(b).cuda()
    z = torch.mm(x, y)
    events = [torch.cuda.Event(enable_timing=True) for _ in range(REPEAT + 1)]
    events[0].record()
    for event in events[1:]:
        for _ in range(NUMBER):
            torch.mm(x, y, out=z)
        event.record()
    torch.cuda.synchronize()
    return [first.elapsed_time(last) / 1e3 / NUMBER for first, last in itertools.pairwise(events)]


def launches(driver: DeviceDriver, target: CUDA, torch: Any = None) -> list[Cost]:
    """Microseconds in which the call of a small kernel returns: of the bare driver and, on tensors of PyTorch, ours
    beside its own addition."""
    lib = build(added(SMALL), target=target)
    calls = {"of the bare driver": _bare(driver, lib["main"])}
    if torch:
        a, b, c = (torch.ones(SMALL, device="cuda") for _ in range(3))
        calls["on tensors of PyTorch"] = lambda: lib(a, b, c)
        calls["of PyTorch's own addition"] = lambda: torch.add(a, b, out=c)
    took = interleaved(calls, before=lambda: driver.synchronize(0, 0))
    theirs = took.get("of PyTorch's own addition")
    goals = {"on tensors of PyTorch": f"<= {theirs.median * 1e6:.2f}"} if theirs else {}
    return [Cost("calls of kernels", f"call {n}", "us", took[n].times(1e6), goals.get(n)) for n in calls]


def added(n: int) -> Any:
    """C = A + B by blocks of 128 threads."""

    @T.prim_func
    def main(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32"), C: T.Buffer((n,), "float32")):  # type: ignore[valid-type]
        for i in range(n):
            with T.block("C"):
                vi = T.axis.spatial(n, i)
                C[vi] = A[vi] + B[vi]

    sch = Schedule(main)
    block, thread = sch.split(sch.get_loops("C")[0], [None, 128])
    sch.bind(block, "blockIdx.x")
    sch.bind(thread, "threadIdx.x")
    return sch


def _bare(driver: DeviceDriver, function: Any) -> Callable[[], object]:
    """A launch of the only kernel of a function, with its words, on memory that is not given back."""
    (prepared,) = function.program.prepare([(SMALL,)] * 3).launches
    start = driver.launcher(function.code.module_on_device(driver, 0), prepared.launch)
    words: Sequence[int] = [driver.allocate(0, 4 * SMALL, 0) for _ in range(3)]
    for word in words:
        driver.copy_in(0, word, np.zeros(SMALL, np.float32), 0)
    return lambda: start(0, words)
