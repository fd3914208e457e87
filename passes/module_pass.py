"""A registered pass over a whole module, and the decorator that registers it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from mlir import ir


@dataclass(frozen=True)
class ModulePass:
    """A rewrite of a module in place.

    `run(module, **options)` raises `LoweringError` or another `TirError` for an unsupported program. In a `tir-opt`
    pipeline the options are strings. only_with: words of which the text of a module has at least one where the pass has
    anything to do; no words: any module.
    """

    name: str
    help: str
    run: Callable[..., Any]
    only_with: Collection[str] = ()

    def __call__(self, module: ir.Module, **options: Any) -> Any:
        return self.run(module, **options)

    def is_needed(self, text: str) -> bool:
        """Whether a module with this text has one of the words. The passes before it introduce none."""
        return not self.only_with or any(word in text for word in self.only_with)

    def run_if_needed(self, module: ir.Module, text: str) -> Any:
        """What the pass returns; None if the text, of the module before all passes, has none of the words."""
        return self.run(module) if self.is_needed(text) else None


def register_in(
    passes: dict[str, ModulePass],
) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Make a decorator `(name, help, only_with)` that registers a function `run(module, **options)` in `passes`."""

    def pass_decorator(
        name: str, help_: str, *, only_with: Collection[str] = ()
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(run: Callable[..., Any]) -> Callable[..., Any]:
            passes[name] = ModulePass(name, help_, run, only_with)
            return run

        return register

    return pass_decorator
