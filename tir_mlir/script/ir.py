"""The `I` namespace: modules of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from tir_mlir.script.parser import parse_class

if TYPE_CHECKING:
    from tir_mlir.script.module import IRModule


@overload
def ir_module(cls: type, /) -> IRModule: ...


@overload
def ir_module(*, check_well_formed: bool = True, **_: object) -> Callable[[type], IRModule]: ...


def ir_module(cls: Any = None, check_well_formed: bool = True, **_: object) -> IRModule | Callable[[type], IRModule]:
    """Convert a class of `@T.prim_func` methods into a module.

        @I.ir_module
        class Add:
            @T.prim_func
            def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
                for i in range(16):
                    with T.block("B"):
                        vi = T.axis.spatial(16, i)
                        B[vi] = A[vi] + 1.0

    check_well_formed: run the verifier. Returns an IRModule. Raises ScriptError with the line of the class body.
    """
    if cls is None:
        return lambda c: parse_class(c, check_well_formed)
    return parse_class(cls, check_well_formed)


def module_attrs(attributes: dict[str, object]) -> None:
    """Set attributes of the module, in its class body: `I.module_attrs({"key": value})`."""


def module_global_infos(infos: dict[str, object]) -> None:
    """Accepted for compatibility with TVM; ignored."""
