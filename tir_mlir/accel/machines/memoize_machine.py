"""Machines that ship are described once a process: to parse the descriptions of Gemmini's instructions takes 0.2 s."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec

from tir_mlir.accel.machine import Machine

P = ParamSpec("P")


def memoize_machine(describe: Callable[P, Machine]) -> Callable[P, Machine]:
    """Decorator: describe a machine once for the same arguments; each call returns one of its own, to be added to."""
    described = lru_cache(maxsize=8, typed=True)(describe)

    @wraps(describe)
    def machine(*args: P.args, **kwargs: P.kwargs) -> Machine:
        return described(*args, **kwargs).copy()  # pyright: ignore[reportArgumentType]  any Hashable

    return machine
