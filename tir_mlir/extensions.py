"""Functions that a lower package declares and calls, and an upper one implements; MLIR has promised interfaces for it.

    @extension_point                                      # below: a signature, and what it is for
    def read_graphs(module: IRModule, programs: Sequence[FunctionSource]) -> None: ...

    @implement(parser.read_graphs)                        # above: registers itself when it is imported
    def read_graphs(module: IRModule, programs: Sequence[FunctionSource]) -> None: ...

A package says which module has it (`implemented_in`), which is imported at the first call. A method of
a class is declared in the same way: `Graph.verify` is a function above `Graph`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., object])

_implementations: dict[str, Callable[..., Any]] = {}
MODULES: dict[str, str] = {}
"""The modules of implementations, by the full names of what is declared."""


def extension_point(declared: Callable[P, R]) -> Callable[P, R]:
    """Decorator: a function without a body of its own, which calls its implementation."""
    name = full_name(declared)

    @wraps(declared)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return implementation(name)(*args, **kwargs)

    return call


def implement(point: Callable[..., object]) -> Callable[[F], F]:
    """Decorator: the implementation of what is declared below."""

    def register(function: F) -> F:
        _implementations[full_name(point)] = function
        return function

    return register


def implemented_in(modules: Mapping[str, Mapping[str, str]]) -> None:
    """Say which modules have implementations: declaring module -> {declared name: implementing module}."""
    for module, names in modules.items():
        MODULES.update({f"{module}.{name}": above for name, above in names.items()})


def implementation(name: str) -> Callable[..., Any]:
    """The function that is registered for a full name; its module is imported if it is not yet."""
    if name not in _implementations:
        importlib.import_module(MODULES[name])
    return _implementations[name]


def full_name(function: Callable[..., object]) -> str:
    """Module and name: "tir_mlir.graph.graph.Graph.verify"."""
    return f"{function.__module__}.{function.__qualname__}"
