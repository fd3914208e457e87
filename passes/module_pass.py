"""A registered pass over a whole module, and the decorator that registers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir import ir


@dataclass(frozen=True)
class ModulePass:
    """A rewrite of a module in place.

    `run(module, **options)` raises `LoweringError` or another `TirError` for an unsupported program. In a `tir-opt`
    pipeline the options are strings.
    """

    name: str
    help: str
    run: Callable[..., Any]

    def __call__(self, module: ir.Module, **options: Any) -> Any:
        return self.run(module, **options)


def register_in(
    passes: dict[str, ModulePass],
) -> Callable[[str, str], Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Make a decorator `(name, help)` that registers a function `run(module, **options)` in `passes`."""

    def named(name: str, help_: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(run: Callable[..., Any]) -> Callable[..., Any]:
            passes[name] = ModulePass(name, help_, run)
            return run

        return register

    return named
