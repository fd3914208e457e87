"""The module that an object of the public API holds."""

from __future__ import annotations

from typing import Any

from mlir import ir

# attributes: `mlir` of an IRModule; `alone` of a PrimFunc (the module of that function only); `mod` of a schedule
_ATTRIBUTES = ("mlir", "alone", "mod")


def held_module(program: Any) -> ir.Module | None:
    """The `ir.Module` of an IRModule, a PrimFunc, a Schedule or a module itself; None for anything else."""
    for _ in range(len(_ATTRIBUTES)):
        if isinstance(program, ir.Module):
            return program
        name = next((name for name in _ATTRIBUTES if hasattr(program, name)), None)
        if name is None:
            return None
        program = getattr(program, name)
    return program if isinstance(program, ir.Module) else None
