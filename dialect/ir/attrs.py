"""The names of the `tir.*` attributes, and conversion between attributes and Python values."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAnAttribute, short_repr
from tir_mlir.dialect.ir.memo import BoundedDict, touch
from tir_mlir.dialect.ir.op_views import FuncOp, isa

NAME = "tir.name"
ID = "tir.id"
ATTRS = "tir.attrs"
LOOP = "tir.loop"
KIND = "tir.kind"
ANNOTATIONS = "tir.annotations"
BLOCK = "tir.block"
ITERS = "tir.iters"
NAMES = "tir.names"
MIN = "tir.min"
EXTENT = "tir.extent"
SYMS = "tir.syms"
SHAPE = "tir.shape"
ASSUME = "tir.assume"
READS = "tir.reads"
WRITES = "tir.writes"
INIT = "tir.init"
WHERE = "tir.where"
STRIDES = "tir.strides"
OFFSET_FACTOR = "tir.offset_factor"
ALIGN = "tir.align"
DEFAULT_ALIGN = 64  # bytes; the alignment that a buffer has without the attribute
BIND = "tir.bind"
LAYOUT = "tir.layout"
FRAGMENT_LAYOUTS = "tir.fragment_layouts"  # of a product of fragments: those that its description takes A and B in
TENSOR_MAP = "tir.tensor_map"  # {box, swizzle}, on what makes the tensor map of an array for the TMA of a GPU
ACCESS = "tir.access"
COUNT = "tir.count"
OP = "tir.op"
DTYPE = "tir.dtype"
DTYPES = "tir.dtypes"
EXTENT_DTYPE = "tir.extent_dtype"
NEST_MARK = ".nest"  # in the names of functions that lowering makes of nests
HIDDEN = "tir.hidden"
PARTIAL = "tir.partial"  # of a block: ["writes"] if its kernels may write less than their windows
SOLE = "tir.sole"  # of a view through which alone its source is accessed: it counts as a buffer of its own
OF_REGIONS = (HIDDEN, PARTIAL)  # printed among the annotations of a block
OPEN = "tir.open"  # of a view that may end outside of its source: conditions say what of it is accessed
SCRATCH = "tir.scratch"  # of a parameter: bytes that lowering uses for buffers of the function
LIGHT = "tir.light"  # of a function: it is compiled with few passes, to be ready soon
DIRECT = "tir.direct"  # of a function without a schedule: its code is written directly, for so many threads
UNIT = "tir.unit"  # of a function: it is compiled in a module of its own, and called there from others


def to_attr(value: object) -> ir.Attribute:
    """A Python value as an attribute; lists and dictionaries nest. An attribute passes through."""
    if isinstance(value, ir.Attribute):
        return value
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise NotAnAttribute(f"{value} does not fit in 64 bits")
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if isinstance(value, float):
        return ir.FloatAttr.get(ir.F64Type.get(), value)
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise NotAnAttribute(f"{short_repr(value)} contains an unpaired surrogate")
        return ir.StringAttr.get(value)
    if isinstance(value, (list, tuple)):
        return ir.ArrayAttr.get([to_attr(v) for v in value])
    if isinstance(value, dict):
        if "" in value:  # would abort the process
            raise NotAnAttribute("an annotation needs a name; the key is empty")
        for key in value:
            if not isinstance(key, str):
                raise NotAnAttribute(f"the keys of an annotation are strings, not {short_repr(key)}")
        return ir.DictAttr.get({k: to_attr(v) for k, v in value.items()})
    raise NotAnAttribute(
        f"{short_repr(value)} ({type(value).__name__}) cannot be an annotation; use str, int, float, bool, list or dict"
    )


def from_attr(attr: ir.Attribute) -> Any:
    """The Python value of an attribute; the inverse of `to_attr`. Attributes of other kinds are returned unchanged."""
    read = _READERS.get(type(attr))
    return attr if read is None else read(attr)


def _value(attr: Any) -> Any:
    return attr.value


_lists: BoundedDict[ir.Attribute, tuple[Any, ...]] = BoundedDict()
_dicts: BoundedDict[ir.Attribute, tuple[tuple[str, Any], ...]] = BoundedDict()
"""The elements of attributes, which are unique in a context, so that most are read once."""


def _list(attr: Any) -> list[Any]:
    items = _lists.get(attr)
    if items is None:
        items = _lists[attr] = tuple([from_attr(a) for a in attr])
    return [_fresh(v) for v in items]


def _dict(attr: Any) -> dict[str, Any]:
    items = _dicts.get(attr)
    if items is None:
        items = _dicts[attr] = tuple([(named.name, from_attr(named.attr)) for named in attr])
    return {name: _fresh(value) for name, value in items}


def _fresh(value: Any) -> Any:
    """A copy of what a caller may modify."""
    if type(value) is list:
        return [_fresh(v) for v in value]
    return {k: _fresh(v) for k, v in value.items()} if type(value) is dict else value


_READERS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr, ir.StringAttr, ir.AffineMapAttr), _value),
    ir.ArrayAttr: _list,
    ir.DictAttr: _dict,
}


def get(op: ir.Operation | ir.OpView, key: str, default: object = None) -> Any:
    """The Python value of the attribute `key` of `op`, or `default`."""
    attributes = op.attributes
    return from_attr(attributes[key]) if key in attributes else default


def argument_attributes(op: ir.Operation, number: int) -> dict[str, Any]:
    """The attributes of a parameter of a function."""
    return from_attr(ir.ArrayAttr(op.attributes["arg_attrs"])[number]) if "arg_attrs" in op.attributes else {}


def argument_attrs(op: ir.Operation, key: str = "arg_attrs") -> list[dict[str, ir.Attribute]]:
    """The attributes of each argument (or, under `res_attrs`, result) of a function; [] if there are none."""
    if key not in op.attributes:
        return []
    return [{named.name: named.attr for named in ir.DictAttr(entry)} for entry in ir.ArrayAttr(op.attributes[key])]


map_of: Callable[[ir.Attribute], ir.AffineMap] = attrgetter("value")
"""The affine map of an attribute that is one. Not a function of Python: steps ask it most often."""


def declares_accesses(block: ir.Operation) -> bool:
    """Whether a block declares regions that it reads or writes."""
    return READS in block.attributes or WRITES in block.attributes


def integers(op: ir.Operation, key: str) -> list[int]:
    """The dense array of integers in attribute `key` of `op`."""
    return list(op.attributes[key])  # pyright: ignore[reportArgumentType]  the stubs know no common array type


def put(op: ir.Operation | ir.OpView, key: str, value: object) -> None:
    """Set the attribute `key` of `op`; None or an empty dictionary removes it."""
    touch(op.operation)
    if value is None or value == {}:
        if key in op.attributes:
            del op.attributes[key]
    else:
        op.attributes[key] = to_attr(value)


OVERWRITES = "tir.overwrites"


WIDE = "int64"


def is_wide(value: ir.Value) -> bool:
    """Whether an index (a size, a loop variable, an iter) is declared as int64. All are computed as such."""
    owner = value.owner
    if not isinstance(owner, ir.Block):
        return get(owner, DTYPE) == WIDE
    op, number = owner.owner.operation, ir.BlockArgument(value).arg_number
    if isa(op, FuncOp):
        return argument_attributes(op, number).get(DTYPE) == WIDE
    if DTYPES in op.attributes:
        names = get(op, NAMES)
        return number < len(names) and names[number] in get(op, DTYPES)
    return get(op, DTYPE) == WIDE
