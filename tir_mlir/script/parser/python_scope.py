"""The Python names a program may use: closure variables, locals of the place of definition, globals."""

from __future__ import annotations

import types
from collections import ChainMap
from collections.abc import Mapping
from typing import Any


def of_function(func: types.FunctionType, frame: types.FrameType | None) -> Mapping[str, Any]:
    """What the names in a function mean: its closure, then the locals around its definition, then its globals.

    Names that occur only in annotations are in no closure, hence the look at the defining frames.
    """
    maps: list[dict[str, Any]] = [_closure(func)]
    current: types.FrameType | None = frame
    while current is not None and current.f_locals is not current.f_globals:
        maps.append(dict(current.f_locals))
        if "__qualname__" not in current.f_locals:  # a function: its callers are no scope of it
            break
        current = current.f_back  # a class body: the scope around it encloses the function too
    return ChainMap(*maps, func.__globals__)


def _closure(func: types.FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(func.__code__.co_freevars, func.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def default() -> dict[str, Any]:
    """The names that printed programs use."""
    from tir_mlir.script import ir, tir

    script = types.SimpleNamespace(ir_module=ir.ir_module, ir=ir, tir=tir)
    return {"T": tir, "tir": tir, "I": ir, "tvm": types.SimpleNamespace(script=script), "tir_mlir": None}
