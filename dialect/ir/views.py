"""Typed views over the ops of a TensorIR module.

A view wraps an op: create it where it is used, never keep it across a rewrite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeGuard, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import VerifyError
from tir_mlir.dialect.ir import attrs, signs
from tir_mlir.dialect.ir.index import Index, read_map, read_value
from tir_mlir.dialect.ir.memo import ENTRIES, cache_while_frozen, frozen, size_names
from tir_mlir.dialect.ir.op_traits import FOLDED, SIZES
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AffineIfOp,
    AffineParallelOp,
    AllocLikeOp,
    AllocOp,
    ByteViewOp,
    DimOp,
    FloorDivOp,
    FuncOp,
    IndexCastSIOp,
    MemrefCastOp,
    MulIOp,
    ScfIfOp,
    StridedMetadataOp,
    SubviewOp,
    ViewLikeOp,
    isa,
)
from tir_mlir.dialect.ir.traversal import direct_ops

TENSOR_LEVEL = "graph.kind"
"""An attribute of functions on tensors, which are not programs of TensorIR."""


def is_program(op: ir.Operation) -> bool:
    """Whether an op of a module is a function of TensorIR with a body."""
    return op.name in FuncOp.names and len(op.regions[0].blocks) > 0 and TENSOR_LEVEL not in op.attributes


def is_declaration(op: ir.Operation | ir.OpView) -> bool:
    """Whether an op of a module is a function without a body."""
    return op.name in FuncOp.names and not len(op.regions[0].blocks)


def is_loop(op: ir.Operation | ir.OpView) -> bool:
    return op.name in AffineForOp.names


def is_block(op: ir.Operation | ir.OpView) -> bool:
    return op.name in AffineParallelOp.names and attrs.BLOCK in op.attributes


def is_init(op: ir.Operation | ir.OpView) -> bool:
    return op.name in AffineIfOp.names and attrs.INIT in op.attributes


def is_where(op: ir.Operation | ir.OpView) -> bool:
    return op.name in AffineIfOp.names and attrs.WHERE in op.attributes


def is_view(op: ir.Operation | None) -> TypeGuard[ir.Operation]:
    """Whether an op makes a view of another buffer, and not the only name by which that is accessed."""
    return op is not None and op.name in ViewLikeOp.names and attrs.SOLE not in op.attributes


def is_data_where(op: ir.Operation | ir.OpView) -> bool:
    """Whether an op is the guard of a block by a condition on data."""
    return op.name in ScfIfOp.names and attrs.WHERE in op.attributes


@dataclass(unsafe_hash=True, slots=True)
class Iter:
    """One axis of a block: its kind, its domain [min, min + extent) and the value bound to it. Immutable."""

    name: str
    kind: str
    var: ir.Value
    min: Index
    extent: Index
    binding: Index

    @property
    def is_wide(self) -> bool:
        """Whether it is declared as int64."""
        return attrs.is_wide(self.var)


T = TypeVar("T")


class _OneView(type):
    """Makes one view per op while modules are frozen. Without `__new__`: half of the calls for a view that is known."""

    def __call__(cls: type[T], op: ir.Operation | ir.OpView) -> T:  # pyright: ignore[reportGeneralTypeIssues]
        period = frozen.held()  # as `active_cache`, without the call: most calls of this package are of this
        if period is None or not period._is_owned():
            return type.__call__(cls, op)
        cache, key = period.known, (cls, op.operation)
        view = cache.get(key)
        if view is None:
            view = cache[key] = type.__call__(cls, op)
        return view


class EachView(_OneView):
    """Makes a view for each call: what is asked of ops that change all the time is not kept."""

    def __call__(cls: type[T], op: ir.Operation | ir.OpView) -> T:  # pyright: ignore[reportGeneralTypeIssues]
        return type.__call__(cls, op)


class View(metaclass=_OneView):
    """Base class of loops, blocks and functions: an op with an id. One view per op while modules are frozen."""

    def __init__(self, op: ir.Operation | ir.OpView):
        self.op: ir.Operation = op.operation

    @property
    def id(self) -> int:
        facts = self.op.attributes
        return ir.IntegerAttr(facts[attrs.ID]).value if attrs.ID in facts else -1

    @property
    def annotations(self) -> dict[str, Any]:
        facts = self.op.attributes
        return attrs.from_attr(facts[attrs.ANNOTATIONS]) if attrs.ANNOTATIONS in facts else {}

    @property
    def body(self) -> ir.Block:
        return self.op.regions[0].blocks[0]

    def body_ops(self) -> list[ir.Operation]:
        """The ops of the body without its terminator."""
        return direct_ops(self.op)[:-1]

    def __eq__(self, view: object) -> bool:
        return isinstance(view, View) and self.op == view.op

    def __hash__(self) -> int:
        return hash(self.op)


class Loop(View):
    """An `affine.for` with a name, a kind and annotations."""

    @property
    def name(self) -> str:
        facts = self.op.attributes
        return ir.StringAttr(facts[attrs.LOOP]).value if attrs.LOOP in facts else "i"

    @property
    def kind(self) -> str:
        """`serial`, `parallel`, `vectorized`, `unrolled` or a thread tag such as `threadIdx.x`."""
        facts = self.op.attributes
        return ir.StringAttr(facts[attrs.KIND]).value if attrs.KIND in facts else "serial"

    @property
    def is_thread(self) -> bool:
        return self.kind not in ("serial", "parallel", "vectorized", "unrolled")

    @property
    def is_wide(self) -> bool:
        """Whether its variable is declared as int64."""
        return attrs.is_wide(self.var)

    @property
    def var(self) -> ir.Value:
        return self.body.arguments[0]

    @cached_property
    def _bounds(self) -> tuple[list[Index], list[Index]]:
        low = attrs.map_of(self.op.attributes["lowerBoundMap"])
        high = attrs.map_of(self.op.attributes["upperBoundMap"])
        cut, upper_inputs = low.n_inputs, high.n_inputs
        operands = list(self.op.operands) if cut or upper_inputs else []
        return read_map(low, operands[:cut]), read_map(high, operands[cut : cut + upper_inputs])

    @property
    def lowers(self) -> list[Index]:
        """Lower bounds; the loop starts at their maximum."""
        return self._bounds[0]

    @property
    def uppers(self) -> list[Index]:
        """Upper bounds; the loop ends before their minimum."""
        return self._bounds[1]

    @property
    def lower(self) -> Index:
        return self.lowers[0]

    @property
    def upper(self) -> Index:
        return self.uppers[0]

    @property
    def extent(self) -> Index:
        return (self.upper - self.lower).simplify()

    @property
    def const_extent(self) -> int | None:
        lowers, uppers = self._bounds
        if len(lowers) != 1 or len(uppers) != 1:
            return None
        low, high = lowers[0].as_constant(), uppers[0].as_constant()
        return self.extent.as_constant() if low is None or high is None else high - low

    def __repr__(self) -> str:
        return f"loop {self.name}"


@cache_while_frozen
def _init_in(block: ir.Operation) -> ir.Operation | None:
    return next((op for op in direct_ops(block) if is_init(op)), None)


class Block(View):
    """A one-point `affine.parallel`: named iters bound to expressions of the loops around it, and a body."""

    @property
    def name(self) -> str:
        facts = self.op.attributes
        return ir.StringAttr(facts[attrs.BLOCK]).value if attrs.BLOCK in facts else ""

    @cached_property
    def iters(self) -> list[Iter]:
        if not self.has_iters:
            return []
        facts, syms = self.op.attributes, self.symbols
        kinds, names = _strings(facts[attrs.ITERS]), _strings(facts[attrs.NAMES])
        mins, extents = (_over_symbols(self.op, key, syms) for key in (attrs.MIN, attrs.EXTENT))
        args, bindings = list(self.body.arguments), self.bindings
        return [Iter(names[i], kinds[i], args[i], mins[i], extents[i], bindings[i]) for i in range(len(kinds))]

    @property
    def has_iters(self) -> bool:
        attributes = self.op.attributes
        return attrs.ITERS in attributes and len(attributes[attrs.ITERS]) > 0  # type: ignore[arg-type]

    @cached_property
    def bindings(self) -> list[Index]:
        """One expression per iter (none for the dummy argument of a block without iters)."""
        map_ = attrs.map_of(self.op.attributes["lowerBoundsMap"])
        indices = read_map(map_, list(self.op.operands)[: map_.n_inputs])
        return indices[: len(_strings(self.op.attributes[attrs.ITERS]))] if self.has_iters else []

    @cached_property
    def symbols(self) -> list[ir.Value]:
        """The values of `tir.syms`, looked up by name at the top of the function."""
        facts = self.op.attributes
        names = _strings(facts[attrs.SYMS]) if attrs.SYMS in facts else ()
        return [symbols_by_name(self.op)[n] for n in names] if names else []

    @property
    def where(self) -> ir.Operation | None:
        """The `affine.if` that guards the block, if any."""
        parent = self.op.parent
        return parent.operation if parent is not None and is_where(parent) else None

    @property
    def init(self) -> ir.Operation | None:
        return _init_in(self.op)

    @property
    def outermost(self) -> ir.Operation:
        """The guard if there is one, else the block's op: the op to move with the block."""
        return self.where or self.op

    @property
    def guarded_op(self) -> ir.Operation:
        """The outermost guard, also on data, or the block's op: what is to remain together with the block."""
        parent = self.outermost.parent
        return parent.operation if parent is not None and is_data_where(parent) else self.outermost

    def iter(self, name: str) -> Iter:
        return next(i for i in self.iters if i.name == name)

    def __repr__(self) -> str:
        return f'block "{self.name}"'


@lru_cache(maxsize=ENTRIES)
def _argument_name(facts: ir.Attribute, number: int) -> str:
    """The name of a parameter, of the attributes of all."""
    argument_facts = ir.DictAttr(ir.ArrayAttr(facts)[number])
    return ir.StringAttr(argument_facts[attrs.NAME]).value if attrs.NAME in argument_facts else "buf"


@dataclass(unsafe_hash=True, slots=True)
class Buffer:
    """A memref with a name: a parameter, an allocation, or a match_buffer view. Immutable."""

    value: ir.Value

    @property
    def type(self) -> ir.MemRefType:
        return ir.MemRefType(self.value.type)

    @property
    def op(self) -> ir.Operation | None:
        """The op that defines the buffer; None for a parameter."""
        owner = self.value.owner
        return None if isinstance(owner, ir.Block) else owner

    @property
    def is_param(self) -> bool:
        return self.op is None

    @property
    def is_alloc(self) -> bool:
        return self.op is not None and isa(self.op, AllocLikeOp)

    @property
    def is_view(self) -> bool:
        return self.op is not None and isa(self.op, SubviewOp)

    @property
    def attributes(self) -> dict[str, Any]:
        """The `tir.*` attributes of the buffer, as Python values."""
        if self.op is not None:
            return {n: attrs.get(self.op, n) for n in self.op.attributes if n.startswith("tir.")}
        func = self.value.owner.owner
        if "arg_attrs" not in func.attributes:
            return {}
        return attrs.from_attr(func.attributes["arg_attrs"][ir.BlockArgument(self.value).arg_number])

    @property
    def name(self) -> str:
        op = self.op
        if op is not None:
            return attrs.get(op, attrs.NAME, "buf")
        facts = self.value.owner.owner.attributes
        return (
            _argument_name(facts["arg_attrs"], ir.BlockArgument(self.value).arg_number)
            if "arg_attrs" in facts
            else "buf"
        )

    @property
    def dtype(self) -> str:
        return signs.buffer_dtype(self.value)

    @property
    def scope(self) -> str:
        space = self.type.memory_space
        return space.value if isinstance(space, ir.StringAttr) else "global"

    @property
    def shape(self) -> list[int | None]:
        """Static extents, None where symbolic."""
        type_ = self.type
        return [None if type_.is_dynamic_dim(i) else type_.get_dim_size(i) for i in range(type_.rank)]

    @property
    def rank(self) -> int:
        return self.type.rank

    @property
    def dims(self) -> list[Index]:
        """Extents as expressions over the function's symbols."""
        shape = self.shape
        if None not in shape:
            return [Index.constant(n) for n in shape if n is not None]
        if self.op is None:
            facts = self.attributes
            map_ = facts[attrs.SHAPE]
            by_name = symbols_by_name(self.value.owner.owner)
            return read_map(map_, [by_name[n] for n in facts[attrs.SYMS]])
        if isa(self.op, MemrefCastOp):
            return Buffer(MemrefCastOp(self.op).source).dims
        sizes = iter(_dynamic_sizes(self.op))
        return [Index.constant(n) if n is not None else next(sizes) for n in shape]

    @property
    def root(self) -> Buffer:
        """The parameter or allocation behind a chain of views."""
        buffer = self
        while is_view(op := buffer.op):
            buffer = Buffer(ViewLikeOp(op).source)
        return buffer

    def __repr__(self) -> str:
        return f"buffer {self.name}"


class Func(View):
    """A `func.func` with a body: a PrimFunc, and its implicit root block."""

    @property
    def name(self) -> str:
        return ir.StringAttr(self.op.attributes["sym_name"]).value

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that `T.func_attr` set."""
        return attrs.get(self.op, attrs.ATTRS, {})

    def body_ops(self) -> list[ir.Operation]:  # a lowered function may have several basic blocks
        return [op.operation for op in self.body.operations][:-1]

    @property
    def args(self) -> list[ir.Value]:
        return list(self.body.arguments)

    @property
    def params(self) -> list[Buffer]:
        return [Buffer(a) for a in self.args if isinstance(a.type, ir.MemRefType)]

    @property
    def allocs(self) -> list[Buffer]:
        """The buffers that the function's root block owns."""
        return [Buffer(op.results[0]) for op in self.body_ops() if isa(op, AllocOp)]

    @property
    def symbols(self) -> dict[str, ir.Value]:
        """Shape variables by name."""
        return symbols_by_name(self.op)

    def arg_name(self, number: int) -> str:
        return attrs.argument_attributes(self.op, number).get(attrs.NAME, f"arg{number}")

    def __repr__(self) -> str:
        return f"function {self.name}"


def funcs(module: ir.Module | ir.Operation) -> list[Func]:
    """The functions of TensorIR of a module with a body; those on tensors are views of `dialect.graph`."""
    root = module.operation if isinstance(module, ir.Module) else module
    return [Func(op) for op in _programs(root)]


@cache_while_frozen
def _programs(root: ir.Operation) -> list[ir.Operation]:
    return [op for op in direct_ops(root) if is_program(op)]


def parent_op(op: ir.Operation) -> ir.Operation:
    """The parent of an op inside a function."""
    parent = op.operation.parent
    if parent is None:
        raise ValueError(f"{op.name} is not inside a function")
    return parent.operation


def func_of(op: ir.Operation) -> Func:
    """The function that contains an op (or is the op)."""
    return Func(_func_above(op.operation))


@cache_while_frozen
def _func_above(op: ir.Operation) -> ir.Operation:
    while op.name not in FuncOp.names:
        op = parent_op(op)
    return op


def symbols_by_name(op: ir.Operation) -> dict[str, ir.Value]:
    """Shape variables (`memref.dim`, size arguments, strides) of the function around an op, by name."""
    return _symbols(func_of(op).op)


SIZE_PRELUDE = SIZES | FOLDED


@cache_while_frozen
def _symbols(op: ir.Operation) -> dict[str, ir.Value]:
    func, symbols = Func(op), Symbols(op)
    for number, arg in enumerate(func.args):
        if isinstance(arg.type, ir.IndexType):
            symbols[func.arg_name(number)] = arg
    missing = size_names(op)
    for inner in func.body.operations:
        if missing == set() and inner.operation.name not in SIZE_PRELUDE:
            break  # the body may be long
        for name, value in sizes_of(inner.operation):
            symbols[name] = value
            missing = missing and missing - {name}
    return symbols


def sizes_of(op: ir.Operation) -> list[tuple[str, ir.Value]]:
    """The shape variables that an op in the body of a function defines."""
    name = op.name
    if name not in SIZES:
        return []
    if is_size(op) or (name in IndexCastSIOp.names and attrs.NAME in op.attributes):
        return [(attrs.get(op, attrs.NAME), op.results[0])]
    if name in StridedMetadataOp.names and attrs.STRIDES in op.attributes:
        names = attrs.get(op, attrs.STRIDES)
        return [(n, s) for n, s in zip(names, list(op.results)[2 + len(names) :], strict=True) if n]
    return []


def is_size(op: ir.Operation) -> bool:
    """Whether an op defines a shape variable: an extent `n`, a quotient of an extent such as `n * 16`, a product."""
    if attrs.NAME not in op.attributes:
        return False
    if isa(op, MulIOp):  # see size_products; the name of any other value is an identifier
        return " * " in attrs.get(op, attrs.NAME)
    return isa(op, DimOp) or (isa(op, FloorDivOp) and isinstance(op.results[0].type, ir.IndexType))


def symbol_name(value: ir.Value) -> str:
    """The stable name of a shape variable: its isl parameter."""
    for name, symbol in symbols_by_name(owner_op(value)).items():
        if symbol == value:
            return name
    return str(value).split(" ", 1)[0].lstrip("%") or "s"


def owner_op(value: ir.Value) -> ir.Operation:
    """The op that defines a value, or whose region has it as a block argument."""
    owner = value.owner
    return owner.owner.operation if isinstance(owner, ir.Block) else owner.operation


@lru_cache(maxsize=ENTRIES)
def _strings(attr: ir.Attribute) -> tuple[str, ...]:
    """The strings of an array; attributes are unique in a context, so that most are read once."""
    return tuple(attrs.from_attr(attr))


def _over_symbols(op: ir.Operation, key: str, symbols: Sequence[ir.Value]) -> list[Index]:
    return read_map(attrs.map_of(op.attributes[key]), symbols)


def _dynamic_sizes(op: ir.Operation) -> list[Index]:
    if isa(op, SubviewOp):
        counts = attrs.integers(op, "operandSegmentSizes")
        start = counts[0] + counts[1]
        return [Index.from_value(v) for v in list(op.operands)[start : start + counts[2]]]
    if isa(op, ByteViewOp):
        operands = list(op.operands)[2:]
    else:
        operands = list(op.operands)[: attrs.integers(op, "operandSegmentSizes")[0]]
    return [read_value(v) for v in operands]


class Symbols(dict[str, ir.Value]):
    """Shape variables by name. Errors: VerifyError for a name that is not defined."""

    def __init__(self, func: ir.Operation):
        self.func = func

    def __missing__(self, name: str) -> ir.Value:
        names = ", ".join(self) or "none"
        text = f"no shape variable of the function is called {name} (it has {names}); a pass may have removed it"
        raise VerifyError(text, "names", self.func.location, attrs.get(self.func, attrs.ID))
