"""Functions of Python that graphs call by name (`call_packed`, `R.call_dps_packed`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar, overload

from tir_mlir.dialect.diagnostics import GraphError, short_repr

Packed: TypeAlias = Callable[..., object]
"""A function of arrays, which writes the last of them."""
_KNOWN: dict[str, Packed] = {}

F = TypeVar("F", bound=Packed)


@overload
def register_packed(name: str, function: None = None, override: bool = False) -> Callable[[F], F]: ...
@overload
def register_packed(name: str, function: F, override: bool = False) -> F: ...
def register_packed(name: str, function: Packed | None = None, override: bool = False) -> Packed:
    """Register a function that graphs call by name: `register_packed("name", f)`, or as a decorator.

        @register_packed("env.linear")
        def linear(x, w, out):          # NumPy arrays that share memory with the model: inputs, then outputs to write
            np.matmul(x, w.T, out=out)

    Raises GraphError for a name that is taken, unless `override`.
    """
    if not isinstance(name, str) or not name:
        raise GraphError(f"register_packed takes a name, not {short_repr(name)}")
    if function is None:
        return lambda decorated: register_packed(name, decorated, override)
    if not callable(function):
        raise GraphError(f"register_packed({name!r}) takes a function, not {short_repr(function)}")
    if name in _KNOWN and not override:
        raise GraphError(f"there is a packed function {name} already; fix: override=True")
    _KNOWN[name] = function
    return function


def packed_function(name: str) -> Packed | None:
    """The function of a name, None if there is none."""
    return _KNOWN.get(name)
