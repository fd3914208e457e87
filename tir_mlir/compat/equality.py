"""`tvm.ir.structural_equal` and related functions: comparison of programs up to names."""

from __future__ import annotations

import hashlib
from typing import Any

from tir_mlir.dialect.diagnostics import ArgumentError, TirError, short_repr
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.structural_equal import difference


class NotEqual(TirError, ValueError, AssertionError):
    """Two programs differ. TVM raises ValueError here; tests expect an AssertionError."""


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two modules, or two functions, are the same program.

    Ignores the names of variables, buffers, loops, blocks and functions; compares loop kinds, annotations, storage
    scopes, orders, domains, regions and types. map_free_vars: accepted; programs have no free
    variables. Numbers, strings, lists and dictionaries are compared as Python does.
    """
    return _difference(lhs, rhs) is None


def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """Raise NotEqual with the first line that differs unless two programs are equal (see `structural_equal`)."""
    found = _difference(lhs, rhs)
    if found is not None:
        raise NotEqual(f"the programs differ: {found}")


def assert_structural_equal_ignore_global_symbol(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """Same as `assert_structural_equal`, which always ignores the names of functions."""
    assert_structural_equal(lhs, rhs, map_free_vars)


def structural_hash(node: Any, map_free_vars: bool = False) -> int:
    """A hash of 64 bits; equal for structurally equal programs, and the same in every process."""
    from tir_mlir.script.structural_equal import canonical

    text = canonical(_module(node).mlir, names=False, symbols=False)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _difference(lhs: Any, rhs: Any) -> str | None:
    programs = [isinstance(side, (IRModule, PrimFunc)) for side in (lhs, rhs)]
    if not any(programs):
        if not all(isinstance(side, (bool, int, float, str, list, tuple, dict, type(None))) for side in (lhs, rhs)):
            raise ArgumentError(
                f"can compare modules, functions and Python values, not {short_repr(lhs)} and {short_repr(rhs)}"
            )
        return None if lhs == rhs else _values_apart(lhs, rhs)
    if type(lhs) is not type(rhs):
        return f"{short_repr(lhs)} and {short_repr(rhs)} have different kinds"
    return difference(_module(lhs).mlir, _module(rhs).mlir, names=False, symbols=isinstance(lhs, IRModule))


def _values_apart(lhs: Any, rhs: Any) -> str:
    """The first difference between two Python values."""
    if isinstance(lhs, (list, tuple)) and type(lhs) is type(rhs) and len(lhs) == len(rhs):
        keys: Any = range(len(lhs))
    elif isinstance(lhs, dict) and isinstance(rhs, dict) and lhs.keys() == rhs.keys():
        keys = lhs.keys()
    else:
        return f"{short_repr(lhs)} and {short_repr(rhs)}"
    key = next(k for k in keys if lhs[k] != rhs[k])
    return f"at [{short_repr(key)}], {_values_apart(lhs[key], rhs[key])}"


def _module(node: IRModule | PrimFunc) -> IRModule:
    """A module to compare: a single function is renamed to `main`."""
    if isinstance(node, PrimFunc):
        return IRModule({"main": node})
    functions = list(node.functions.values())
    return IRModule({"main": functions[0]}) if len(functions) == 1 else node
