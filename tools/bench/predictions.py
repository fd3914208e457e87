"""How well predicted times rank kernels that a GPU times: candidates of `tune` for a product."""

from __future__ import annotations

import numpy as np

import kernels
from compiling import Cost
from measure import Stats, geometric_mean, rank_correlation
from tir_mlir import Schedule, build
from tir_mlir.errors import TirError
from tir_mlir.ptx.prediction.cards import CARDS
from tir_mlir.runtime.call.fast_entry import python_function
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.target import CUDA
from tir_mlir.tune.spaces.kernels import kernels as space

RANKS = ">= 0.8"
"""The rank correlation of predicted and measured times."""
NUMBER, REPEAT = 3, 3


def card_of(device: str) -> str | None:
    """The card of a device's name: "NVIDIA H200" -> "H200"; None: its rates are not known."""
    words = device.replace("-", " ").split()
    named = [name for name in CARDS if set(name.replace("-", " ").split()) <= {*words, *(w + "GB" for w in words)}]
    return max(named, key=len, default=None)


def predictions(target: CUDA, card: str, n: int, count: int) -> list[Cost]:
    """The rank correlation of `count` kernels of C = A @ B in float32, and measured by predicted seconds."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal((n, n), np.float32) for _ in range(3))
    measured, predicted = [], []
    for seed in range(2 * count):
        sch = Schedule(kernels.product_program(n), seed=seed)
        try:
            space(sch, target)
            lib = build(sch, target=target)
        except TirError:  # a choice that does not fit
            continue
        function = python_function(lib["main"])
        assert isinstance(function, DeviceFunction)
        predicted.append(lib.predict(gpu=card).seconds)
        measured.append(Stats.of(function.seconds([a, b, c], NUMBER, REPEAT)).median)
        if len(measured) == count:
            break
    ratios = [m / p for m, p in zip(measured, predicted, strict=True)]
    group, what = f"times predicted for {card}", f"{len(measured)} kernels of a product, float32, {n}^3"
    return [
        Cost(group, f"rank correlation, {what}", "", Stats.of([rank_correlation(measured, predicted)]), RANKS),
        Cost(group, "measured by predicted, geometric mean", "", Stats.of([geometric_mean(ratios)])),
        Cost(group, "measured by predicted", "", Stats.of(ratios)),
    ]
