"""The shape variables of a function, by name."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import attrs
from tir_mlir.dialect.errors import VerifyError


class Symbols(dict[str, ir.Value]):
    """Shape variables by name. Errors: VerifyError for one that is named and not there any more."""

    def __init__(self, func: ir.Operation):
        self.func = func

    def __missing__(self, name: str) -> ir.Value:
        there = ", ".join(self) or "none"
        text = f"no shape variable of the function is called {name} (it has {there}); a pass may have taken it away"
        raise VerifyError(text, "names", self.func.location, attrs.get(self.func, attrs.ID))
