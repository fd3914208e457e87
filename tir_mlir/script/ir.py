"""The `I` namespace: modules of functions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .module import IRModule


def ir_module(cls: type) -> IRModule:
    """Turn a class of `@T.prim_func` methods into a module.

        @I.ir_module
        class Add:
            @T.prim_func
            def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
                for i in range(16):
                    with T.block("B"):
                        vi = T.axis.spatial(16, i)
                        B[vi] = A[vi] + 1.0

    Errors: ScriptError at the line that is wrong.
    """
    from .parser import parse_class

    return parse_class(cls, sys._getframe(1))


def module_attrs(attributes: dict[str, Any]) -> None:
    """Attributes of the module, inside its class: `I.module_attrs({"key": value})`."""


def module_global_infos(infos: dict[str, Any]) -> None:
    """Accepted for programs that carry it; has no meaning here."""
