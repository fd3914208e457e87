"""Moved public modules: their old paths can be imported for one more release, with a DeprecationWarning."""

from __future__ import annotations

import importlib.util
import sys
import types
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from typing import Any

# old path -> new paths that have its names, the preferred one first
MOVED: dict[str, tuple[str, ...]] = {
    "tir_mlir.check": ("tir_mlir.equivalence",),
    "tir_mlir.dialect.attrs": ("tir_mlir.dialect.ir.attrs",),
    "tir_mlir.dialect.context": ("tir_mlir.dialect.ir.context",),
    "tir_mlir.dialect.create": ("tir_mlir.dialect.ir.create",),
    "tir_mlir.dialect.errors": ("tir_mlir.errors", "tir_mlir.dialect.diagnostics.errors"),
    "tir_mlir.dialect.index": ("tir_mlir.dialect.ir.index",),
    "tir_mlir.dialect.index_map": ("tir_mlir.dialect.index_maps.index_map",),
    "tir_mlir.dialect.views": ("tir_mlir.dialect.ir.views",),
    "tir_mlir.dialect.walk": ("tir_mlir.dialect.ir.walk", "tir_mlir.dialect.ir.edit"),
    "tir_mlir.graph.low_precision": ("tir_mlir.graph.precision",),
    "tir_mlir.graph.patterns": ("tir_mlir.graph.rewrite", "tir_mlir.graph.expressions"),
    "tir_mlir.intrin.kernels": ("tir_mlir.runtime.kernels",),
    "tir_mlir.passes.graph": ("tir_mlir.graph.memory",),
    "tir_mlir.runtime.clang": ("tir_mlir.runtime.drivers.clang",),
    "tir_mlir.schedule.testing": ("tir_mlir.testing",),
    "tir_mlir.script.relax": ("tir_mlir.graph.script",),
    "tir_mlir.tune.search.whole_program": ("tir_mlir.tune.search.tune_entry",),
}


def new_paths(name: str) -> tuple[str, ...]:
    """The new paths of a module: of a moved package its modules have moved as well. Empty: it has not moved."""
    package, _, last = name.rpartition(".")
    return MOVED.get(name) or tuple(f"{new}.{last}" for new in MOVED.get(package, ()))


class MovedModule(types.ModuleType):
    """The module at an old path: looks names up at the new path, with a warning."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by the import system
            raise AttributeError(name)
        for path in new_paths(self.__name__):
            module = importlib.import_module(path)
            if hasattr(module, name):
                text = f"{self.__name__} is now {path}; the old path will be removed in the next release"
                warnings.warn(text, DeprecationWarning, stacklevel=2)
                return getattr(module, name)
        raise AttributeError(
            f"module {self.__name__!r} (now {new_paths(self.__name__)[0]!r}) has no attribute {name!r}"
        )


class Finder:
    """Finds the modules of `MOVED`, and those in moved packages. First in `sys.meta_path`, as stale folders of an older
    checkout would be namespace packages.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        new = importlib.util.find_spec(new_paths(name)[0]) if new_paths(name) else None
        is_package = new is not None and new.submodule_search_locations is not None
        return new and ModuleSpec(name, Finder, is_package=is_package)  # pyright: ignore[reportArgumentType]  a loader

    @staticmethod
    def create_module(spec: ModuleSpec) -> types.ModuleType:
        return MovedModule(spec.name, f"Moved to {new_paths(spec.name)[0]}.")

    @staticmethod
    def exec_module(module: types.ModuleType) -> None:
        """No-op."""


def install() -> None:
    """Make the old paths importable."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)  # pyright: ignore[reportArgumentType]
