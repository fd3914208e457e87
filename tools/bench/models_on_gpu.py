"""Whole models on the GPU of this machine, beside PyTorch: from the examples, with random weights."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from compiling import Cost
from contest import WrongResult
from measure import Stats
from tir_mlir import build, from_torch
from tir_mlir.examples import models
from tir_mlir.graph.device.device_model import DeviceModel
from tir_mlir.target import CUDA

NAMES = ("mlp-64", "bert-base", "resnet50", "gpt2-decode")
NUMBER, REPEAT = 10, 11
TOLERANCE = 2e-3
"""Of results, relative to the greatest element: sums in another order, in tens of layers."""


def run_models(target: CUDA, torch: Any) -> list[Cost]:
    """Milliseconds of a call on tensors of PyTorch, and PyTorch's own; CPU seconds of the build, kernels a call.

    Raises WrongResult for a model whose results are not those of PyTorch on the CPU.
    """
    return [cost for name in NAMES for cost in _model(name, target, torch)]


def _model(name: str, target: CUDA, torch: Any) -> list[Cost]:
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    example = models.example(name)
    expected = _arrays(example.model(*example.inputs))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of functions by elements: the time tells
        model = build(from_torch(example.model, example.inputs), target=target)
    took = time.process_time() - start
    assert isinstance(model, DeviceModel)
    inputs = [each.cuda() for each in example.inputs]
    _check(name, _arrays(model(*inputs)), expected)
    theirs = example.model.cuda()
    ours, other = (_seconds(torch, run) for run in (lambda: model(*inputs), lambda: theirs(*inputs)))
    group, rest = "models on the GPU", f"{name}, float32"
    return [
        Cost(group, rest, "ms", ours.times(1e3)),
        Cost(group, f"{rest}, by PyTorch", "ms", other.times(1e3)),
        Cost(group, f"{name}, kernels a call", "", Stats.of([float(len(model.program.launches({})[0]))])),
        Cost(group, f"{name}, build", "CPU s", Stats.of([took])),
    ]


def _check(name: str, results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    for result, right in zip(results, expected, strict=True):
        error = float(np.abs(result - right).max() / max(np.abs(right).max(), 1e-30))
        if not error <= TOLERANCE:
            raise WrongResult(f"{name} is wrong on the GPU: by {error:.2g} of its greatest element")


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
