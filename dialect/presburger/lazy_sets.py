"""Sets that are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import islpy as isl

from tir_mlir.dialect.presburger.questions import counter


class LazyPoints:
    """A set, or one that follows from another by a step, which runs when somebody asks."""

    __slots__ = ("_before", "_step", "_value")

    def __init__(
        self, value: isl.Set | None, before: LazyPoints | None = None, step: Callable[[isl.Set], isl.Set] | None = None
    ):
        self._value, self._before, self._step = value, before, step

    @property
    def is_evaluated(self) -> bool:
        return self._value is not None

    def get(self) -> isl.Set:
        if self._value is None:
            assert self._before is not None and self._step is not None
            self._value = self._step(self._before.get())
            self._before = self._step = None
        return self._value


class LazySet:
    """An attribute that is computed from `points`. Steps hold isl objects only, so they may run when the module has
    changed; they count for no question."""

    def __get__(self, holder: Any, owner: type) -> isl.Set:
        if holder is None:
            raise AttributeError  # a field without a default
        if holder.points.is_evaluated:
            return holder.points.get()
        with counter(0):
            return holder.points.get()

    def __set__(self, holder: Any, value: isl.Set | LazyPoints) -> None:
        holder.points = value if isinstance(value, LazyPoints) else LazyPoints(value)
