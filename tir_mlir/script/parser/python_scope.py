"""The Python names visible in a program: closure, locals of the enclosing scopes, globals, and `T` and `I`."""

from __future__ import annotations

import types
from collections import ChainMap
from collections.abc import Mapping

_NAMESPACES: dict[str, object] = {}


def of_function(func: types.FunctionType, frame: types.FrameType | None) -> Mapping[str, object]:
    """The names visible in a function: its closure, then the locals around its definition, then its globals.

    Names used only in annotations are not in the closure, so the defining frames are searched as well.
    """
    maps: list[dict[str, object]] = [_closure(func)]
    current: types.FrameType | None = frame
    while current is not None and current.f_locals is not current.f_globals:
        maps.append(dict(current.f_locals))
        if "__qualname__" not in current.f_locals:  # a function: its callers do not enclose it
            break
        current = current.f_back  # a class body: the scope around it encloses the function too
    return ChainMap(*maps, func.__globals__)


def _closure(func: types.FunctionType) -> dict[str, object]:
    variables = {}
    for name, cell in zip(func.__code__.co_freevars, func.__closure__ or (), strict=True):
        try:
            variables[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return variables


def set_namespaces(tir: types.ModuleType, ir: types.ModuleType) -> None:
    """Give the parser the modules that `T` and `I` denote in text (the namespaces import the parser, not reverse)."""
    script = types.SimpleNamespace(ir_module=ir.ir_module, ir=ir, tir=tir)
    _NAMESPACES.update(T=tir, tir=tir, I=ir, tvm=types.SimpleNamespace(script=script), tir_mlir=None)


def namespaces() -> dict[str, object]:
    """The names that printed programs use: `T`, `I`, `tvm.script`."""
    return dict(_NAMESPACES)
