"""`tvm.register_func` and `tvm.get_global_func`: Python functions by name.

Graphs call them with NDArrays (`call_packed`, `R.call_dps_packed`), the results last. A tensor program calls C, with
`T.call_extern`.
"""

from __future__ import annotations

from collections.abc import Callable

from tir_mlir.compat.ndarray import wrap_array
from tir_mlir.dialect.diagnostics import TirError, short_repr
from tir_mlir.graph.packed_functions import register_packed

GlobalFunction = Callable[..., object]
_functions: dict[str, GlobalFunction] = {}


class GlobalFunctionError(TirError, ValueError):
    """A name that is registered already, or that is not registered."""


def register_func(
    func_name: str | GlobalFunction, f: GlobalFunction | None = None, override: bool = False
) -> GlobalFunction | Callable[[GlobalFunction], GlobalFunction]:
    """Register a function: `register_func("name", f)`, `@register_func("name")`, or `@register_func` for its own name.

    Returns the function. Raises GlobalFunctionError for a name that is taken, unless `override`.
    """
    if callable(func_name):
        return _register(func_name.__name__, func_name, override)
    if not isinstance(func_name, str) or not func_name:
        raise GlobalFunctionError(f"register_func takes a name, not {short_repr(func_name)}")
    if f is None:
        return lambda function: _register(func_name, function, override)
    return _register(func_name, f, override)


def _register(name: str, function: GlobalFunction, override: bool) -> GlobalFunction:
    if not callable(function):
        raise GlobalFunctionError(f"register_func({name!r}) takes a function, not {short_repr(function)}")
    if name in _functions and not override:
        raise GlobalFunctionError(
            f"the global function {name!r} is registered already; pass override=True to replace it"
        )
    _functions[name] = function
    register_packed(name, lambda *arrays: function(*map(wrap_array, arrays)), override=True)
    return function


def get_global_func(name: str, allow_missing: bool = False) -> GlobalFunction | None:
    """The function registered under a name; None for an unknown one if `allow_missing`, else GlobalFunctionError."""
    if name in _functions or allow_missing:
        return _functions.get(name)
    registered = ", ".join(_functions) or "none"
    raise GlobalFunctionError(f"no global function {short_repr(name)}; registered by tvm.register_func: {registered}")


def list_global_func_names() -> list[str]:
    """The registered names."""
    return list(_functions)


def remove_global_func(name: str) -> None:
    """Forget a function. Raises GlobalFunctionError for an unknown name."""
    get_global_func(name)
    del _functions[name]
