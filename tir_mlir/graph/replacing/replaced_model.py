"""A model that is ready soon, and is replaced by one that runs fast while calls go on."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import warn_at_user
from tir_mlir.graph.model import Model
from tir_mlir.runtime.call import no_pickle
from tir_mlir.runtime.workers import CRASHED, Background, Task, TaskResult


class ReplacementWarning(UserWarning):
    """A model goes on as it was built first, as the build that was to replace it failed."""


class ReplacedModel:
    """A model that another one replaces as soon as it is built, between two calls; a call that has begun ends as it
    began. What a `Model` has, this has too: that of the one in force.

    An error of that build is told once: by a ReplacementWarning of the next call, or by `wait`; the model then goes on
    as it is. At the exit of the process the build ends, and what it made is in the cache. The child of a fork goes on
    with the model in force; `wait` builds the other one there.
    """

    def __init__(self, first: Model, build: Callable[[], Model], task: Task | None):
        """Start to build. build: makes the model, of what the task, run by another process, left in the cache."""
        self._model, self._build, self._task = first, build, task
        self._call: Callable[..., Any] = first
        self._is_replaced = False
        self._error: Exception | None = None
        self._background = self._start_build()

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Run the model in force on inputs, see `Model`."""
        return self._call(*args, **named)

    @property
    def is_replaced(self) -> bool:
        """Whether calls run the second model."""
        return self._is_replaced

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, at most `timeout` seconds, until the model is replaced; whether it is. Raises the error of the build
        that was to replace it, a BuildError or GraphError."""
        if self._background.is_lost and not self._is_replaced and self._error is None:
            self._background = self._start_build()
        self._background.wait(timeout)
        if self._error is not None:
            self._call = self._model
            raise self._error
        return self._is_replaced

    def _start_build(self) -> Background:
        context = contextvars.copy_context()  # a database in force here is in force there
        return Background(self._task, lambda answer: context.run(self._replace, answer))

    def _replace(self, answer: TaskResult) -> None:
        try:
            if answer.status == CRASHED:
                raise BuildError(
                    f"{self._model.name}: MLIR or LLVM crashed ({answer.result.decode()}) in the process that built it"
                    ' fully; fix: please report it; build(..., optimize="fast") alone goes on to work'
                )
            model = self._build()
        except Exception as error:  # told in the thread of the user
            self._error, self._call = error, self._tell
            return
        self._model = model
        self._call, self._is_replaced = model, True

    def _tell(self, /, *args: Any, **named: Any) -> Any:
        """The first call after the build failed."""
        self._call = self._model
        warn_at_user(
            f"{self._model.name} goes on as it was built first, as its full build failed: {self._error}",
            ReplacementWarning,
        )
        return self._model(*args, **named)

    def __getattr__(self, name: str) -> Any:
        if name == "_model":  # not yet set
            raise AttributeError(name)
        return getattr(self._model, name)

    def __repr__(self) -> str:
        return repr(self._model)

    __reduce_ex__ = no_pickle.refuse
