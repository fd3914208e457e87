"""The import hook that serves `tvm` and its submodules from the table in `tvm_names.py`."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

from tir_mlir.compat.absent import AbsentModule, NotInCompat, refusal
from tir_mlir.compat.tvm_names import MODULES
from tir_mlir.dialect.diagnostics import TirError


class CompatModule(types.ModuleType):
    """A module of the table, with lazy attributes. Looking up a name that is not in the table raises NotInCompat."""

    def __getattr__(self, name: str) -> Any:
        table = MODULES[self.__name__]
        if name in table:
            value = _load(table[name])
        elif f"{self.__name__}.{name}" in MODULES:
            value = importlib.import_module(f"{self.__name__}.{name}")
        elif name == "__all__":  # of `from tvm.relax.dpl import *`
            return [word for word in table if not word.startswith("_")]
        elif name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        else:
            raise NotInCompat(refusal(f"{self.__name__}.{name}", self.__dir__()))
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, AbsentModule):  # an absent submodule is imported, and is no attribute
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        start = self.__name__ + "."
        below = [m[len(start) :] for m in MODULES if m.startswith(start) and "." not in m[len(start) :]]
        return sorted({*MODULES[self.__name__], *below})


def _load(where: str) -> Any:
    module, _, name = where.partition(":")
    loaded = importlib.import_module(module)
    return functools.reduce(getattr, name.split("."), loaded) if name else loaded


class CompatFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tvm` and `tvm.*`, before any installed package of that name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "tvm" and not fullname.startswith("tvm."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin="tir_mlir.compat", is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        if spec.name in MODULES:
            return CompatModule(spec.name, f"{spec.name} as tir_mlir has it.")
        parent = sys.modules.get(spec.name.rpartition(".")[0])
        siblings = dir(parent) if isinstance(parent, CompatModule) else ()
        return AbsentModule(spec.name, f"{spec.name} is not part of tir_mlir.", siblings)

    def exec_module(self, module: types.ModuleType) -> None:
        """`import tvm.script.tir as T` binds the object that the parent has under this name, if there is one."""
        parent, _, name = module.__name__.rpartition(".")
        home = sys.modules.get(parent)
        if module.__name__ not in MODULES and not isinstance(home, AbsentModule) and hasattr(home, name):
            sys.modules[module.__name__] = getattr(home, name)


_FINDER = CompatFinder()


def install() -> None:
    """Install the hook for `import tvm`. Idempotent.

    Raises TirError if the real TVM has been imported already.
    """
    if _FINDER in sys.meta_path:
        return
    loaded = sys.modules.get("tvm")
    if loaded is not None and not isinstance(loaded, CompatModule):
        origin = getattr(loaded, "__file__", None) or "an unknown place"
        raise TirError(
            f"tvm is already imported, from {origin}: put `import tir_mlir.compat` before the first `import tvm`"
        )
    sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Remove the hook and its modules."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
        for name in sorted((n for n in sys.modules if n == "tvm" or n.startswith("tvm.")), reverse=True):
            module = sys.modules.pop(name)
            parent, _, word = name.rpartition(".")
            if isinstance(module, AbsentModule) and vars(sys.modules.get(parent, module)).get(word) is module:
                delattr(sys.modules[parent], word)  # of a module of tir_mlir, such as topi
