"""Whole models on the GPU of this machine, beside PyTorch: from the examples, with random weights."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiling import Cost
from contest import WrongResult
from measure import Stats
from tir_mlir import build, from_torch
from tir_mlir.examples import models
from tir_mlir.graph.device.device_model import DeviceModel
from tir_mlir.target import CUDA

NUMBER, REPEAT = 10, 11


@dataclass(frozen=True)
class TimedModel:
    """A model of the examples and the type of its numbers, "tf32" for products of float32 in that.

    tolerance: of results, relative to the greatest element: sums in another order, and rounding, in tens of layers.
    bar: PyTorch's time over ours that is asked for, of a model that `torch.compile` has compiled.
    """

    name: str
    dtype: str = "float32"
    tolerance: float = 2e-3
    bar: float | None = None

    @property
    def is_float32(self) -> bool:
        """Whether its arrays are."""
        return self.dtype in ("float32", "tf32")


MODELS = (
    TimedModel("mlp-64"), TimedModel("bert-base"), TimedModel("resnet50"), TimedModel("gpt2-decode"),
    TimedModel("bert-base", "tf32", 2e-2), TimedModel("bert-base", "float16", 5e-2, bar=0.9),
)  # fmt: skip


def run_models(target: CUDA, torch: Any, timed: Sequence[TimedModel] = MODELS, tiny: bool = False) -> list[Cost]:
    """Milliseconds of a call on tensors of PyTorch, and PyTorch's own; CPU seconds of the build, kernels a call.

    Raises WrongResult for a model whose results are not those of PyTorch on the CPU, in float32.
    """
    return [cost for each in timed for cost in _model(each, target, torch, tiny)]


def _model(timed: TimedModel, target: CUDA, torch: Any, tiny: bool) -> list[Cost]:
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = timed.dtype == "tf32"
    example = models.example(timed.name, tiny=tiny)
    network, inputs, expected = example.model, list(example.inputs), _arrays(example.model(*example.inputs))
    if not timed.is_float32:
        dtype = getattr(torch, timed.dtype)
        network, inputs = network.to(dtype), [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of functions by elements: the time tells
        math = "tf32" if timed.dtype == "tf32" else None
        model = build(from_torch(network, tuple(inputs)), target=target, math=math)
    took = time.process_time() - start
    assert isinstance(model, DeviceModel)
    inputs = [each.cuda() for each in inputs]
    _check(timed, _arrays(model(*inputs)), expected)
    theirs = network.cuda() if timed.bar is None else torch.compile(network.cuda())
    ours, other = (_seconds(torch, run) for run in (lambda: model(*inputs), lambda: theirs(*inputs)))
    group, rest = "models on the GPU", f"{timed.name}, {timed.dtype}"
    goal = None if timed.bar is None else f"<= {other.median * 1e3 / timed.bar:.3f}"
    return [
        Cost(group, rest, "ms", ours.times(1e3), goal),
        Cost(group, f"{rest}, by {'PyTorch' if timed.bar is None else 'torch.compile'}", "ms", other.times(1e3)),
        Cost(group, f"{rest}, kernels a call", "", Stats.of([float(len(model.program.launches({})[0]))])),
        Cost(group, f"{rest}, build", "CPU s", Stats.of([took])),
    ]


def _check(timed: TimedModel, results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    for result, right in zip(results, expected, strict=True):
        error = float(np.abs(result - right).max() / max(np.abs(right).max(), 1e-30))
        if not error <= timed.tolerance:
            raise WrongResult(
                f"{timed.name} in {timed.dtype} is wrong on the GPU: by {error:.2g} of its greatest element"
            )


def _arrays(results: Any) -> list[np.ndarray]:
    several = results if isinstance(results, (tuple, list)) else [results]
    return [each.float().cpu().numpy() for each in several]


def _seconds(torch: Any, run: Callable[[], object]) -> Stats:
    """Seconds of a call, by events of the GPU, after some that are not counted."""
    for _ in range(NUMBER):
        run()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(REPEAT + 1)]
    events[0].record()
    for event in events[1:]:
        for _ in range(NUMBER):
            run()
        event.record()
    torch.cuda.synchronize()
    return Stats.of([first.elapsed_time(last) / 1e3 / NUMBER for first, last in itertools.pairwise(events)])
