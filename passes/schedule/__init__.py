"""The schedule primitives. Importing this package imports every module below it, which registers the primitives."""

import importlib
import pkgutil

from tir_mlir.passes.schedule.registry import PRIMITIVES, Primitive

__all__ = ["PRIMITIVES", "Primitive"]

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
