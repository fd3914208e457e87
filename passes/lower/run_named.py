"""Run passes by name: ours, with options, and upstream ones as `mlir-opt` takes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower.registry import LOWERINGS
from tir_mlir.passes.lower.to_llvm import PassTimer, run_upstream

Follow = Callable[[str, ir.Module], None]


def run_named(
    module: ir.Module,
    names: Sequence[str],
    options: Mapping[str, Mapping[str, Any]],
    *,
    timing: dict[str, float] | None = None,
    follow: Follow | None = None,
) -> None:
    """Run passes over a module in place. options: of ours, by name. `timing` collects seconds by pass; `follow(name,
    module)` is called after each."""
    clock = PassTimer(timing, follow, module)
    with enter_context():
        for name in names:
            if name in LOWERINGS:
                clock.run(name, lambda name=name: LOWERINGS[name].run(module, **options.get(name, {})))
            else:
                clock.run(f"upstream:{_last_conversion(name)}", lambda name=name: run_upstream(module, (name,)))


def _last_conversion(passes: str) -> str:
    """The last conversion of a run of upstream passes, or the last pass."""
    names = re.findall(r"[a-z][a-z-]+(?=[,{)]|$)", passes)
    return next((name for name in reversed(names) if name.startswith("convert-")), names[-1])
