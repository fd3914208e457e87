"""Bind the arguments of a step to the parameters of its primitive, and check and convert their types.

A `Loop` or `Block` parameter takes a handle, or the name of a block; an integer may be the handle of a sampled one.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Block, Func, Loop, is_block, walk
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.passes.schedule import Primitive
from tir_mlir.passes.schedule.edits import find_accessed_buffer
from tir_mlir.passes.schedule.queries.decider import Choices
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, is_dict, is_list

Fit = Callable[[object], object]


class BlockName(str):
    """The name of a block, not looked up yet."""


class ArgumentTypeMismatch(Exception):
    """A value does not have the type of its parameter."""


def bind_arguments(primitive: Primitive, args: tuple[object, ...], kwargs: dict[str, object]) -> dict[str, object]:
    """Bind arguments to parameter names (`*args` under its own name) and convert them. Errors: TypeError."""
    where = f'In "Schedule.{primitive.name}"'
    given = _arguments_by_name(primitive, args, kwargs)
    if given is None:
        try:
            arguments = primitive.signature.bind_partial(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{where}: {error}") from None
        arguments.apply_defaults()
        given = arguments.arguments
    converted: dict[str, object] = {}
    for key, parameter in primitive.parameters.items():
        if parameter.annotation is Choices:
            continue
        value = given.get(key, parameter.default)
        if value is inspect.Parameter.empty:
            raise TypeError(f'{where}, "{key}" is missing. Expected "{annotation_text(parameter.annotation)}"')
        converted[key] = convert_argument(primitive, key, value)
    return converted


def _arguments_by_name(
    primitive: Primitive, args: tuple[object, ...], kwargs: dict[str, object]
) -> dict[str, object] | None:
    """Arguments by name, without defaults; None for a call that only Python's own binding can judge."""
    if primitive.variadic is None:
        arguments = dict(zip(primitive.positional, args, strict=False))
        plain = len(args) <= len(primitive.positional)
    else:
        arguments, plain = {primitive.variadic: args}, not primitive.positional
    plain = plain and kwargs.keys() <= primitive.parameters.keys() and arguments.keys().isdisjoint(kwargs)
    return arguments | kwargs if plain else None


def convert_argument(primitive: Primitive, key: str, value: object) -> object:
    """Convert a value to the type of a parameter. Errors: TypeError."""
    parameter = primitive.parameters[key]
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        assert is_list(value)
        return [_fit_argument(primitive, parameter, entry) for entry in value]
    return _fit_argument(primitive, parameter, value)


def _fit_argument(primitive: Primitive, parameter: inspect.Parameter, value: object) -> object:
    if _is_endless(value):
        raise TypeError(f'In "Schedule.{primitive.name}", "{parameter.name}" is nested too deeply or contains itself')
    try:
        return fitting(parameter.annotation)(value)
    except ArgumentTypeMismatch:
        raise TypeError(
            f'In "Schedule.{primitive.name}", "{parameter.name}" has wrong type. Expected'
            f' "{annotation_text(parameter.annotation)}", but gets: "{value_type(value)}"'
        ) from None


def _is_endless(value: object) -> bool:
    """Whether lists and dictionaries are nested deeper than 40."""
    if not is_list(value) and not is_dict(value):
        return False
    level: list[object] = [value]
    for _ in range(40):
        inner = [i for v in level for i in (v.values() if is_dict(v) else v if is_list(v) else ())]
        level = list({id(i): i for i in inner}.values())  # without duplicates: a list may occur many times
        if not level:
            return False
    return True


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; of any other annotation, the annotation itself."""
    if isinstance(annotation, types.UnionType) or get_origin(annotation) is Union:
        return tuple(a for part in get_args(annotation) for a in alternatives(part))
    return (annotation,)


def handle_types(annotation: Any) -> set[type[Handle]]:
    """The handle types of an annotation: Loop, Block, a union or list of them."""
    classes: set[type[Handle]] = set()
    for part in alternatives(annotation):
        if part is Loop:
            classes.add(LoopHandle)
        elif part in (Block, Func):
            classes.add(BlockHandle)
        for inner in get_args(part):
            classes |= handle_types(inner)
    return classes


# --- converters: one function per annotation; returns the converted value or raises Mistyped --------------------------


@lru_cache(maxsize=512)
def fitting(annotation: Any) -> Fit:
    """The converter of an annotation. `Func` takes the name of a function."""
    if annotation is Func:
        return _union((_instance(str), _none))
    return _union(tuple(_single(part) for part in alternatives(annotation)))


def _union(fits: tuple[Fit, ...]) -> Fit:
    if len(fits) == 1:
        return fits[0]

    def fit(value: object) -> object:
        for convert in fits:
            try:
                return convert(value)
            except ArgumentTypeMismatch:
                continue
        raise ArgumentTypeMismatch

    return fit


def _single(part: Any) -> Fit:
    converters: dict[object, Fit] = {
        Any: _snapshot,
        inspect.Parameter.empty: _snapshot,
        None: _none,
        types.NoneType: _none,
        int: _integer,
    }
    converters |= {bool: _boolean, float: _real, str: _text, Block: _block, Func: _block, Loop: _instance(LoopHandle)}
    origin = get_origin(part)
    if part in converters:
        return converters[part]
    if origin is Literal:
        return _one_of(get_args(part))
    if origin is tuple or part is tuple:
        return _tuple(get_args(part))
    if origin is dict or origin is Mapping or part is dict:
        return _instance(Mapping, deepcopy)
    if part is list or (isinstance(origin, type) and issubclass(origin, Iterable)):
        return _list(get_args(part))
    if isinstance(origin, type) and issubclass(origin, Callable):  # pyright: ignore[reportArgumentType]
        return _callable
    return _instance(part) if isinstance(part, type) else _snapshot


def _snapshot(value: object) -> object:
    """Copy a value, as the caller may modify it after the trace records it."""
    try:
        return deepcopy(value)
    except Exception:
        return value


def _none(value: object) -> None:
    if value is not None:
        raise ArgumentTypeMismatch


def _integer(value: Any) -> object:
    if isinstance(value, (ExprHandle, Formula)):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__") or type(value).__name__ in ("bool_", "bool"):
        raise ArgumentTypeMismatch
    try:
        return int(value.__index__())
    except TypeError:  # an array of several integers
        raise ArgumentTypeMismatch from None


def _boolean(value: object) -> bool:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # NumPy's too
        return bool(value)
    raise ArgumentTypeMismatch


def _real(value: Any) -> object:
    if isinstance(value, (ExprHandle, Formula)):
        return value
    if isinstance(value, (bool, str)) or not hasattr(value, "__float__"):
        raise ArgumentTypeMismatch
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentTypeMismatch from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ArgumentTypeMismatch
    return str(value)


def _block(value: object) -> BlockHandle | BlockName:
    if isinstance(value, BlockHandle):
        return value
    return BlockName(_text(value))


def _callable(value: object) -> object:
    if not callable(value):
        raise ArgumentTypeMismatch
    return value


def _instance(expected: type, copy: Fit = lambda value: value) -> Fit:
    def fit(value: object) -> object:
        if not isinstance(value, expected) or (isinstance(value, Handle) and not issubclass(expected, Handle)):
            raise ArgumentTypeMismatch
        return copy(value)

    return fit


def _one_of(values: tuple[object, ...]) -> Fit:
    def fit(value: object) -> object:
        if not isinstance(value, str) or value not in values:
            raise ArgumentTypeMismatch
        return str(value)

    return fit


def _items(value: Any) -> list[object]:
    if isinstance(value, (str, bytes, Mapping, set, frozenset)) or not hasattr(value, "__len__"):
        raise ArgumentTypeMismatch
    try:
        return list(value)
    except TypeError:  # an array of rank 0
        raise ArgumentTypeMismatch from None


def _list(parts: tuple[Any, ...]) -> Callable[[object], list[object]]:
    fit = fitting(parts[0]) if parts else _snapshot
    return lambda value: [fit(v) for v in _items(value)]


def _tuple(parts: tuple[Any, ...]) -> Fit:
    if not parts or parts[-1] is Ellipsis:
        many = _list(parts[:1])
        return lambda value: tuple(many(value))
    fits = [fitting(p) for p in parts]

    def fit(value: object) -> object:
        items = _items(value)
        if len(items) != len(fits):
            raise ArgumentTypeMismatch
        return tuple(convert(v) for convert, v in zip(fits, items, strict=True))

    return fit


# --- type names in messages -------------------------------------------------------------------------------------------


def annotation_text(annotation: Any) -> str:
    """`int | list[Block]` -> `int or list[BlockHandle or str]`."""
    if annotation is Func:
        return "str or None"
    words = [w for part in alternatives(annotation) for w in _words(part)]
    return " or ".join(dict.fromkeys(words))


def _words(part: Any) -> list[str]:
    if part in (Block, Func):
        return ["BlockHandle", "str"]
    if part is Loop:
        return ["LoopHandle"]
    if part in (None, types.NoneType):
        return ["None"]
    origin, inner = get_origin(part), get_args(part)
    if origin is Literal:
        return [repr(v) for v in inner]
    if part in (Any, inspect.Parameter.empty):
        return ["anything"]
    name = getattr(origin or part, "__name__", str(part))
    if inner and name != "Callable":
        name = "list" if name == "Sequence" else name
        return [f"{name}[{', '.join('...' if i is Ellipsis else annotation_text(i) for i in inner)}]"]
    return [name] if name != "SpecialLocation" else []


def value_type(value: object, depth: int = 3) -> str:
    """`[4, None]` -> `list[int, None]`."""
    if value is None:
        return "None"
    name = type(value).__name__
    if is_list(value) and depth and value:
        kinds = dict.fromkeys(value_type(v, depth - 1) for v in value)
        return f"{name}[{', '.join(kinds)}]"
    return name


_ANY = 8  # enough parameters for maps like `lambda i, j, *rest: ...`


def rank(module: ir.Module, index_map: object, block: object, buffer: Any) -> int | None:
    """The rank of a buffer, or the number of iters of a block; None if the map has a fixed number of parameters.

    For an unknown block or buffer, an arbitrary number: the primitive reports the error, and the map is not used.
    """
    if not _is_open(index_map):
        return None
    view = _block_rank(module, block)
    if view is None or buffer is None:
        return _ANY if view is None else len(view.iters)
    try:
        return find_accessed_buffer(view, buffer)[0].rank
    except (TirError, TypeError, KeyError, IndexError):  # not found, or not a valid buffer argument
        return _ANY


def _is_open(index_map: object) -> bool:
    if not inspect.isfunction(index_map):
        return False
    return any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(index_map).parameters.values())


def _block_rank(module: ir.Module, block: object) -> Block | None:
    if isinstance(block, BlockHandle):
        op = walk.find(module, block.id)
        return Block(op) if op is not None and is_block(op) else None
    if not isinstance(block, str):
        return None
    named = [b for b in walk.all_blocks(module.operation) if b.name == block]
    return named[0] if len(named) == 1 else None
