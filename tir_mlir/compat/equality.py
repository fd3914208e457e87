"""`tvm.ir.structural_equal` and related functions: comparison of programs up to names."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeGuard

from tir_mlir.dialect.diagnostics import ArgumentError, TirError, short_repr
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.structural_equal import difference

if TYPE_CHECKING:
    from tir_mlir.graph.expressions import Function


class StructuralMismatchError(TirError, ValueError, AssertionError):
    """Two programs differ. TVM raises ValueError here; tests expect an AssertionError."""


def structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> bool:
    """Whether two modules, two functions (programs or graphs), or two types of values are the same.

    Ignores the names of variables, buffers, loops, blocks, and of a function that is compared alone; compares loop
    kinds, annotations, storage scopes, orders, domains, regions and types, and what a graph calls. map_free_vars:
    accepted; programs have no free variables. Numbers, strings, lists and dictionaries are compared as Python does.
    """
    return _difference(lhs, rhs) is None


def assert_structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> None:
    """Raise NotEqual with the first line that differs unless two programs are equal (see `structural_equal`)."""
    mismatch = _difference(lhs, rhs)
    if mismatch is not None:
        raise StructuralMismatchError(f"the programs differ: {mismatch}")


def assert_structural_equal_ignore_global_symbol(lhs: object, rhs: object, map_free_vars: bool = False) -> None:
    """Same as `assert_structural_equal`, which always ignores the names of functions."""
    assert_structural_equal(lhs, rhs, map_free_vars)


def structural_hash(node: object, map_free_vars: bool = False) -> int:
    """A hash of 64 bits; equal for structurally equal programs, and the same in every process."""
    from tir_mlir.script.structural_equal import canonical

    if _is_program(node):
        text = canonical(_module(node).mlir, names=False, symbols=False)
    else:
        text = _text(_comparable_node(node))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _difference(lhs: object, rhs: object) -> str | None:
    if _is_program(lhs) and _is_program(rhs) and type(lhs) is type(rhs):
        return difference(_module(lhs).mlir, _module(rhs).mlir, names=False, symbols=isinstance(lhs, IRModule))
    if _is_program(lhs) or _is_program(rhs):
        return f"{short_repr(lhs)} and {short_repr(rhs)} have different kinds"
    lhs, rhs = _comparable_node(lhs), _comparable_node(rhs)
    return None if lhs == rhs else _value_difference(lhs, rhs)


def _is_program(node: object) -> TypeGuard[IRModule | PrimFunc | Function]:
    return isinstance(node, (IRModule, PrimFunc)) or _is_graph(node)


def _is_graph(node: object) -> TypeGuard[Function]:
    """Whether it is a graph."""
    if not hasattr(node, "params"):
        return False
    from tir_mlir.graph.expressions import Function  # loads the package of graphs

    return isinstance(node, Function)


def _comparable_node(node: object) -> object:
    """The node; of a shape its type, as sizes are expressions. Errors: ArgumentError for what cannot be compared."""
    if isinstance(node, tuple) and hasattr(node, "struct_info"):
        return node.struct_info  # pyright: ignore[reportAttributeAccessIssue]
    if not isinstance(node, (bool, int, float, str, list, tuple, dict, type(None))) and not hasattr(node, "could_be"):
        raise ArgumentError(f"can compare modules, functions, types and Python values, not {short_repr(node)}")
    return node


def _text(value: object) -> str:
    """A text that is equal for equal values: numbers of all types alike, dictionaries in the order of their keys."""
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{_text(k)}: {_text(v)}' for k, v in value.items()))}}}"
    if isinstance(value, (list, tuple)):
        return f"{'list' if isinstance(value, list) else 'tuple'}({', '.join(map(_text, value))})"
    if isinstance(value, (bool, int, float)):
        return repr(int(value)) if value == value // 1 else repr(value)
    return repr(value)


def _value_difference(lhs: object, rhs: object) -> str:
    """The first difference between two Python values."""
    if isinstance(lhs, (list, tuple)) and isinstance(rhs, type(lhs)) and len(lhs) == len(rhs):
        keys = range(len(lhs))
    elif isinstance(lhs, dict) and isinstance(rhs, dict) and lhs.keys() == rhs.keys():
        keys = lhs.keys()
    else:
        return f"{short_repr(lhs)} and {short_repr(rhs)}"
    key = next(k for k in keys if lhs[k] != rhs[k])
    return f"at [{short_repr(key)}], {_value_difference(lhs[key], rhs[key])}"


def _module(node: IRModule | PrimFunc | Function) -> IRModule:
    """A module to compare: a function that is alone is renamed."""
    if isinstance(node, PrimFunc):
        return IRModule({"main": node})
    if not isinstance(node, IRModule):
        return node.with_name("compared").isolated_module
    functions = list(node.functions.values())
    if len(functions) > 1:
        return node
    return _module(functions[0]) if functions else node
