"""The questions about ops, by the records of `dialect.ops`.

A record has its class (see `op_views`: what the op does to its buffer, what control flow it is, its operands by name),
its traits and its algebra. Questions about memory and control flow are `isa(op, LoadOp)`, those about numbers the sets
below: `op.name in SUMS`. A new op is a new record; an op without one is taken to read and write every buffer it gets.
"""

from __future__ import annotations

from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.ir import lowering_op_views
from tir_mlir.dialect.ir import op_views as views
from tir_mlir.dialect.ir.op_views import TypedOp
from tir_mlir.dialect.ops import MLIR_OPS as OPS
from tir_mlir.dialect.ops import Trait

_T = Trait


def _with(wanted: Trait) -> frozenset[str]:
    """The ops that have all of some traits."""
    return frozenset(name for name, row in OPS.items() if wanted in row.traits)


def _operators(algebra: str) -> frozenset[str]:
    return frozenset(name for name, row in OPS.items() if row.algebra == algebra)


# --- memory ---------------------------------------------------------------------------------------------------------


# the ops of each class
_views = vars(views) | vars(lowering_op_views)
_CLASSES: dict[str, type[TypedOp]] = {name: _views[row.view] for name, row in OPS.items()}
_of_class: dict[type[TypedOp], set[str]] = {}
for _name, _own in _CLASSES.items():
    for _class in _own.__mro__:
        if issubclass(_class, TypedOp):
            _of_class.setdefault(_class, set()).add(_name)
for _class, _names in _of_class.items():
    _class.names = frozenset(_names)


def names_of(*classes: type[TypedOp]) -> tuple[str, ...]:
    """The ops that have one of these classes, class by class."""
    return tuple(dict.fromkeys(name for one in classes for name in sorted(one.names)))


ADDRESSED = views.AffineAccessOp.names | views.ComputedAccessOp.names | views.AdjacentAccessOp.names
"""Of one element or of adjacent ones: an address says which."""
(AFFINE_LOAD,), (AFFINE_STORE,) = views.AffineLoadOp.names, views.AffineStoreOp.names
NO_ACCESS = views.BufferOp.names | views.AllocLikeOp.names
"""Ops on buffers that access no element."""
RETYPED = _with(_T.RETYPED)
MEMREF_OPERAND = {n: kind.memref.number for n, kind in _CLASSES.items() if issubclass(kind, views.AccessOp)} | {
    n: kind.source.number for n, kind in _CLASSES.items() if issubclass(kind, views.BufferOp)
}
"""The operand that is accessed or viewed."""
WRITTEN_OPERAND = {name: MEMREF_OPERAND[name] for name in views.WriteOp.names}

# --- numbers --------------------------------------------------------------------------------------------------------

ASSOCIATIVE = COMMUTATIVE = _with(_T.ASSOCIATIVE)
"""Ops that a declared reduction may reassociate, including floating-point sums and products. They commute."""
DIVISIONS = _with(_T.TRAPS)
"""Integer ops that trap on a zero."""
SUMS, DIFFERENCES, PRODUCTS = _operators("sum"), _operators("difference"), _operators("product")
MAXIMA, MINIMA = _operators("max"), _operators("min")
INTEGER_RING = (SUMS | DIFFERENCES | PRODUCTS) & _with(_T.SIGNLESS)
"""Sums, differences and products of integers."""
INDEX_ARITH = INTEGER_RING | _operators("floordiv") | _operators("ceildiv")
"""Ops of which an affine expression consists, on numbers that are not affine."""
QUOTIENTS, REMAINDERS = _operators("quotient"), _operators("remainder")
BITWISE = _operators("and") | _operators("or") | _operators("xor")
REDUCERS = {name: OPS[name].algebra for name in (*SUMS, *PRODUCTS, *MAXIMA, *MINIMA, *BITWISE)}
IDEMPOTENT = frozenset({"max", "min", "and", "or"})
"""Of the algebras of reducers: x op x is x, so that what is combined twice changes nothing."""
ATOMICS = {name: row.atomic for name, row in OPS.items() if row.atomic}
"""Reducers by which GPUs update an element at once, whatever other threads do: the kind of the instruction."""
ORDERED_REDUCERS = (SUMS | PRODUCTS) - INTEGER_RING
"""Of floats: another order gives another result."""
CONTRACTED, TO_FLOAT = _with(_T.CONTRACTS), _with(_T.TO_FLOAT)
WIDENINGS, ROUNDINGS = _with(_T.WIDENS), _with(_T.ROUNDS)
FOLDED, SIZES, OF_ZEROS = _with(_T.FOLDS), _with(_T.SIZE), _with(_T.ZERO)
"""The last: ops that are 0 if all operands are."""
UNSIGNED = {name: row.unsigned for name, row in OPS.items() if row.unsigned}
"""Op on signed integers -> op on unsigned ones. All other integer ops are the same for both."""
SIGNLESS, LANES, LANE_JOINS = _with(_T.SIGNLESS), _with(_T.LANES), _with(_T.JOINS)
CHEAP_FUNCTIONS, SLOW_FUNCTIONS = _with(_T.CHEAP), _with(_T.SLOW)


def both_signs(name: str) -> frozenset[str]:
    """An op on signed integers and the one on unsigned integers."""
    return frozenset((name, UNSIGNED[name]))


@lru_cache(maxsize=1024)
def is_scalar(name: str) -> bool:
    """Whether ops of a name compute numbers from numbers: all of arith and math."""
    return name.startswith(("arith.", "math."))


_PURE = _with(_T.PURE)


def is_pure(op: ir.Operation) -> bool:
    """Whether an op has no side effects; loads count as pure."""
    return is_scalar(op.name) or op.name in _PURE


@lru_cache(maxsize=1024)
def is_approximate(name: str) -> bool:
    """Whether an op on floats may give another result on another machine: a quotient, a function that rounds."""
    row = OPS.get(name)
    if name.startswith("math."):
        return row is None or not row.traits & (Trait.CHEAP | Trait.ROUNDS | Trait.SIGNLESS)
    return row is not None and row.algebra == "quotient"


@lru_cache(maxsize=1024)
def takes_no_memref(name: str) -> bool:
    """Whether ops of a name never have a memref operand, and so access nothing."""
    if is_scalar(name):
        return name not in views.SelectOp.names
    other = name not in views.AffineAccessOp.names and name not in views.CountedLoopOp.names
    return name in views.IfOp.names or (name in views.AffineOp.names and other)


_CARRIERS = views.CountedLoopOp.names | views.YieldOp.names


def has_no_memref(op: ir.Operation) -> bool:
    """Whether an op has no memref operand by its name, or because it is a loop, or the end of one, without operands."""
    name = op.name
    return takes_no_memref(name) or (name in _CARRIERS and not len(op.operands))


_HARMLESS = NO_ACCESS | _PURE | _with(_T.FREE) | {
    *names_of(views.ReadOp, views.LoopLikeOp, views.IfOp, views.YieldOp)
}  # fmt: skip


@lru_cache(maxsize=1024)
def may_write(name: str) -> bool:
    """Whether ops of a name may write to memory; ops in their regions do not count."""
    if name.startswith("vector."):
        return name in views.WriteOp.names
    return not is_scalar(name) and name not in _HARMLESS


# --- of an op -------------------------------------------------------------------------------------------------------


def accessed_memref(op: ir.Operation) -> ir.Value:
    """The memref of a load or store."""
    return op.operands[MEMREF_OPERAND[op.name]]


def index_operands(op: ir.Operation) -> list[ir.Value]:
    """The operands of the indices of a load or store of one element; of an affine one also of a vector."""
    return list(op.operands)[MEMREF_OPERAND[op.name] + 1 :]


def stored_value(op: ir.Operation) -> ir.Value | None:
    """The value that a store stores; None for an op that stores none."""
    kind = _CLASSES[op.name]
    return kind(op).value if issubclass(kind, views.StoreOp | views.AtomicOp) else None
