"""What a package needs of one that stands on it; `tir_mlir/__init__.py` says how it is loaded.

- graphs: `tir_mlir.graph.script.reader`, by which `script` has `@R.function` and modules with graphs
- operators: `tir_mlir.graph.operators`, which the printer of graphs asks
- intrinsics: `tir_mlir.intrin`, by which `dialect.computation` has the built-in intrinsics
- machine: `tir_mlir.ptx.program`, which runs the kernels of a library
- machine_code: `tir_mlir.interpreter.machine_code`, by which `build` compares its code with the interpreter
- intrinsic_checks: `tir_mlir.intrin.check`, which runs their implementations
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Any]] = {}


def provide(**loaders: Callable[[], Any]) -> None:
    """Set the functions that import and return packages."""
    _LOADERS.update(loaders)


def load(name: str) -> Any:
    """The package of a name in the list above."""
    return _LOADERS[name]()
