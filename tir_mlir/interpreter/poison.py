"""Poison, the value of uninitialized memory: it propagates through arithmetic and must not decide a branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tir_mlir.dialect.diagnostics import UnwrittenError

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import TypeIs

    from tir_mlir.interpreter.diagnose import Origin


class Poison:
    """The value of an uninitialized element. `origin`: the access that first read it, or None."""

    __slots__ = ("origin",)
    __array_ufunc__ = None  # makes NumPy scalars defer to the operators of this class

    def __init__(self, origin: Origin | str | None = None):
        self.origin = origin

    def _spread(self, *_: object) -> Poison:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _spread
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _spread
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _spread
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _spread
    __neg__ = __pos__ = __abs__ = __invert__ = _spread
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _spread  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise PoisonUse(self)

    __index__ = __int__ = __float__ = __bool__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "POISON"


class PoisonUse(UnwrittenError):
    """Raised when poison is used as a condition, bound or index."""

    def __init__(self, poison: Poison):
        super().__init__("an uninitialized value is used as a branch condition")
        self.poison = poison


Number: TypeAlias = "float | np.floating | Poison"
"""A number of the interpreter: one of Python, a float32 or float16 of NumPy, or poison."""
POISON = Poison()
"""The value of uninitialized memory."""


def is_poison(value: object) -> TypeIs[Poison]:
    return value.__class__ is Poison
