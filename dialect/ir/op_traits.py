"""The table of ops: what the passes must know about an op by its name. A fact about an op stands only here.

A row has its class (see `op_views`: what the op does to its buffer, what control flow it is, its operands by name), its
traits and its algebra. Questions about memory and control flow are `isa(op, LoadOp)`, those about numbers the sets
below: `op.name in SUMS`. A new op is a new row; an op without one is taken to read and write every buffer it gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.ir import op_views as views
from tir_mlir.dialect.ir.op_views import TypedOp


class Trait(Flag):
    """One property of an op."""

    RETYPED = auto()  # a view whose type follows another layout or memory space of its memref
    PURE = auto()  # no side effects, and no scalar op (see `is_pure`); a load counts as pure
    FREE = auto()  # no side effects, but no op of an expression
    ASSOCIATIVE = auto()  # a declared reduction may reassociate it, floats too; all of these commute
    TRAPS = auto()  # an integer division: it traps on zero
    CONTRACTS = auto()  # of floats: may become a part of a fused multiply-add
    TO_FLOAT = auto()  # integer to float
    FOLDS = auto()  # `read_map` reads the expression of the value, not the value
    SIZE = auto()  # may define a shape variable
    WIDENS = auto()  # a cast to a type that may have all values of the operand
    ROUNDS = auto()  # a step function of floats: a small change of the operand may change the result by 1
    ZERO = auto()  # zero if all operands are
    SIGNLESS = auto()  # on integers: the result has the sign of the operands
    JOINS = auto()  # the lanes of its operands, one after the other
    LANES = auto()  # the elements of its vector are those of its operands
    CHEAP = auto()  # of functions: a few instructions
    SLOW = auto()  # of functions: so many instructions that a sum over it is not bound by the latency of additions


@dataclass(frozen=True, slots=True)
class OpTraits:
    """A row."""

    traits: Trait
    kind: type[TypedOp] = views.TypedOp
    """Names the operands."""
    algebra: str = ""
    """Of operators."""
    unsigned: str = ""
    """The op on unsigned integers, if it is another one."""


_T = Trait
_NONE = Trait(0)
_CAST, _WIDENS = _T.ZERO, _T.ZERO | _T.WIDENS


def _row(kind: type[TypedOp], traits: Trait = _NONE, algebra: str = "", unsigned: str = "") -> OpTraits:
    return OpTraits(traits, kind, algebra, unsigned)


def _sum(algebra: str, more: Trait = _NONE, unsigned: str = "", kind: type[TypedOp] = views.BinaryOp) -> OpTraits:
    """A row of an operator that reductions use."""
    return OpTraits(_T.ASSOCIATIVE | _T.ZERO | more, kind, algebra, unsigned)


def _division(unsigned: str = "") -> OpTraits:
    return _row(views.BinaryOp, _T.TRAPS, unsigned=unsigned)


OPS: dict[str, OpTraits] = {
    # loads and stores
    "affine.load": _row(views.AffineLoadOp, _T.PURE),
    "affine.store": _row(views.AffineStoreOp),
    "affine.vector_load": _row(views.AffineVectorLoadOp),
    "affine.vector_store": _row(views.AffineVectorStoreOp),
    "memref.load": _row(views.MemrefLoadOp, _T.PURE),
    "memref.store": _row(views.MemrefStoreOp),
    "vector.load": _row(views.VectorLoadOp),
    "vector.store": _row(views.VectorStoreOp),
    "vector.maskedload": _row(views.LoadOp),
    "vector.maskedstore": _row(views.MaskedStoreOp),
    "vector.expandload": _row(views.LoadOp),
    "vector.compressstore": _row(views.MaskedStoreOp),
    "vector.gather": _row(views.LoadOp),
    "vector.scatter": _row(views.MaskedStoreOp),
    "vector.transfer_read": _row(views.LoadOp),
    "vector.transfer_write": _row(views.StoreOp),
    "memref.copy": _row(views.CopyOp),
    "memref.atomic_rmw": _row(views.AtomicOp),
    "memref.generic_atomic_rmw": _row(views.UpdateOp),
    "affine.prefetch": _row(views.PrefetchOp),
    "memref.prefetch": _row(views.PrefetchOp),
    "llvm.load": _row(views.ReadOp),
    # what else takes or makes a buffer
    "memref.alloc": _row(views.AllocOp),
    "memref.alloca": _row(views.AllocaOp),
    "memref.assume_alignment": _row(views.SameIndicesOp),
    "memref.cast": _row(views.MemrefCastOp, _T.RETYPED),
    "memref.collapse_shape": _row(views.ViewLikeOp),
    "memref.expand_shape": _row(views.ViewLikeOp),
    "memref.memory_space_cast": _row(views.SameIndicesOp),
    "memref.reinterpret_cast": _row(views.ViewLikeOp, _T.RETYPED),
    "memref.subview": _row(views.SubviewOp, _T.RETYPED | _T.PURE),
    "memref.transpose": _row(views.ViewLikeOp),
    "memref.view": _row(views.ByteViewOp),
    "memref.dealloc": _row(views.DeallocOp),
    "memref.dim": _row(views.DimOp, _T.SIZE),
    "memref.extract_aligned_pointer_as_index": _row(views.AlignedPointerOp),
    "memref.extract_strided_metadata": _row(views.StridedMetadataOp, _T.RETYPED | _T.SIZE),
    "memref.get_global": _row(views.GetGlobalOp, _T.FREE),
    "llvm.inttoptr": _row(views.IntToPtrOp),
    # control flow
    "affine.for": _row(views.AffineForOp),
    "affine.parallel": _row(views.AffineParallelOp),
    "scf.for": _row(views.ScfForOp),
    "scf.parallel": _row(views.ScfParallelOp),
    "scf.while": _row(views.WhileOp),
    "affine.if": _row(views.AffineIfOp),
    "scf.if": _row(views.ScfIfOp),
    "affine.yield": _row(views.AffineYieldOp),
    "scf.yield": _row(views.YieldOp),
    "scf.condition": _row(views.ConditionOp, _T.FREE),
    "builtin.module": _row(views.ModuleOp),
    "func.func": _row(views.FuncOp),
    "func.call": _row(views.CallOp),
    # indices and choices
    "affine.apply": _row(views.ApplyOp, _T.PURE | _T.FOLDS),
    "affine.max": _row(views.MappedOp, _T.FREE),
    "affine.min": _row(views.MappedOp, _T.FREE),
    "arith.constant": _row(views.ConstantOp, _T.FOLDS),
    "arith.select": _row(views.SelectOp, _T.SIGNLESS),
    "arith.cmpf": _row(views.CompareFloatsOp, _T.ROUNDS),
    "arith.cmpi": _row(views.CompareIntegersOp),
    # operators
    "arith.addf": _sum("sum", _T.CONTRACTS),
    "arith.addi": _sum("sum", _T.SIGNLESS, kind=views.AddIOp),
    "arith.subf": _row(views.BinaryOp, _T.ZERO | _T.CONTRACTS, algebra="difference"),
    "arith.subi": _row(views.SubIOp, _T.ZERO | _T.SIGNLESS, "difference"),
    "arith.mulf": _sum("product", _T.CONTRACTS),
    "arith.muli": _sum("product", _T.SIGNLESS | _T.SIZE, kind=views.MulIOp),
    "arith.maximumf": _sum("max"),
    "arith.maxnumf": _sum("max"),
    "arith.maxsi": _sum("max", unsigned="arith.maxui"),
    "arith.maxui": _sum("max"),
    "arith.minimumf": _sum("min"),
    "arith.minnumf": _sum("min"),
    "arith.minsi": _sum("min", unsigned="arith.minui"),
    "arith.minui": _sum("min"),
    "arith.andi": _sum("and", _T.SIGNLESS),
    "arith.ori": _sum("or", _T.SIGNLESS),
    "arith.xori": _sum("xor", _T.SIGNLESS),
    "arith.divf": _row(views.BinaryOp, _NONE, algebra="quotient"),
    "arith.remf": _row(views.BinaryOp, _NONE, algebra="remainder"),
    "arith.divsi": _division("arith.divui"),
    "arith.divui": _division(),
    "arith.floordivsi": _row(views.FloorDivOp, _T.TRAPS | _T.SIZE, "floordiv", "arith.divui"),
    "arith.ceildivsi": _row(views.BinaryOp, _T.TRAPS, algebra="ceildiv", unsigned="arith.ceildivui"),
    "arith.ceildivui": _division(),
    "arith.remsi": _row(views.BinaryOp, _T.TRAPS, algebra="remainder", unsigned="arith.remui"),
    "arith.remui": _row(views.BinaryOp, _T.TRAPS, algebra="remainder"),
    "arith.shli": _row(views.BinaryOp, _T.SIGNLESS),
    "arith.shrsi": _row(views.BinaryOp, _NONE, unsigned="arith.shrui"),
    "arith.shrui": _row(views.BinaryOp, _NONE),
    "arith.negf": OpTraits(_T.ZERO | _T.CONTRACTS),
    # casts
    "arith.extf": _row(views.CastOp, _WIDENS),
    "arith.extsi": _row(views.CastOp, _WIDENS, unsigned="arith.extui"),
    "arith.extui": _row(views.CastOp, _WIDENS),
    "arith.sitofp": _row(views.CastOp, _WIDENS | _T.TO_FLOAT, unsigned="arith.uitofp"),
    "arith.uitofp": _row(views.CastOp, _WIDENS | _T.TO_FLOAT),
    "arith.truncf": _row(views.CastOp, _CAST),
    "arith.trunci": _row(views.CastOp, _CAST),
    "arith.fptosi": _row(views.CastOp, _CAST | _T.ROUNDS, unsigned="arith.fptoui"),
    "arith.fptoui": _row(views.CastOp, _CAST | _T.ROUNDS),
    "arith.index_cast": _row(views.IndexCastOp, _T.SIZE, unsigned="arith.index_castui"),
    "arith.index_castui": _row(views.IndexCastOp),
    # functions
    "math.absf": OpTraits(_T.CHEAP),
    "math.ceil": OpTraits(_T.CHEAP | _T.ROUNDS),
    "math.copysign": OpTraits(_T.CHEAP),
    "math.floor": OpTraits(_T.CHEAP | _T.ROUNDS),
    "math.fma": OpTraits(_T.CHEAP | _T.CONTRACTS),
    "math.round": OpTraits(_T.ROUNDS),
    "math.roundeven": OpTraits(_T.CHEAP | _T.ROUNDS),
    "math.trunc": OpTraits(_T.CHEAP | _T.ROUNDS),
    "math.exp": OpTraits(_T.SLOW),
    "math.exp2": OpTraits(_T.SLOW),
    "math.expm1": OpTraits(_T.SLOW),
    "math.log": OpTraits(_T.SLOW),
    "math.tanh": OpTraits(_T.SLOW),
    "math.erf": OpTraits(_T.SLOW),
    "math.powf": OpTraits(_T.SLOW),
    "math.sin": OpTraits(_T.SLOW),
    "math.cos": OpTraits(_T.SLOW),
    "math.ctlz": OpTraits(_T.SIGNLESS),
    "math.ctpop": OpTraits(_T.SIGNLESS),
    "math.cttz": OpTraits(_T.SIGNLESS),
    "math.ipowi": OpTraits(_T.SIGNLESS),
    # vectors
    "vector.broadcast": OpTraits(_T.LANES),
    "vector.extract": OpTraits(_T.LANES),
    "vector.from_elements": OpTraits(_T.LANES | _T.JOINS),
    "vector.shape_cast": OpTraits(_T.LANES | _T.JOINS),
    "vector.shuffle": OpTraits(_T.LANES),
}


def _with(wanted: Trait) -> frozenset[str]:
    """The ops that have all of some traits."""
    return frozenset(name for name, row in OPS.items() if wanted in row.traits)


def _operators(algebra: str) -> frozenset[str]:
    return frozenset(name for name, row in OPS.items() if row.algebra == algebra)


# --- memory ---------------------------------------------------------------------------------------------------------


# the ops of each class
_of_class: dict[type[TypedOp], set[str]] = {}
for _name, _facts in OPS.items():
    for _class in _facts.kind.__mro__:
        if issubclass(_class, TypedOp):
            _of_class.setdefault(_class, set()).add(_name)
for _class, _names in _of_class.items():
    _class.names = frozenset(_names)

LOADS, STORES, READING = views.LoadOp.names, views.StoreOp.names, views.ReadOp.names
PREFETCHES = views.PrefetchOp.names
WRITING, ACCESSES = views.WriteOp.names, views.AccessOp.names
ELEMENT_LOADS, ELEMENT_STORES = views.ElementLoadOp.names, views.ElementStoreOp.names
ELEMENT_ACCESSES, AFFINE_ACCESSES = views.ElementAccessOp.names, views.AffineAccessOp.names
AFFINE_ELEMENT_ACCESSES = views.AffineElementAccessOp.names
AFFINE_VECTOR_ACCESSES = views.AffineVectorAccessOp.names
COMPUTED_ACCESSES = views.ComputedAccessOp.names
ADDRESSED = AFFINE_ACCESSES | COMPUTED_ACCESSES | views.AdjacentAccessOp.names
"""Of one element or of adjacent ones: an address says which."""
(AFFINE_LOAD,), (AFFINE_STORE,) = views.AffineLoadOp.names, views.AffineStoreOp.names
(VECTOR_LOAD,), (VECTOR_STORE,) = views.AffineVectorLoadOp.names, views.AffineVectorStoreOp.names
VIEWS, NAMED_VIEWS, MEMREF_CASTS = views.ViewLikeOp.names, views.NamedViewOp.names, views.SameIndicesOp.names
POINTERS, NEUTRAL, ALLOCS = views.PointerOp.names, views.NeutralOp.names, views.AllocLikeOp.names
NO_ACCESS = views.BufferOp.names | ALLOCS
"""Ops on buffers that access no element."""
RETYPED = _with(_T.RETYPED)
MEMREF_OPERAND = {n: f.kind.memref.number for n, f in OPS.items() if issubclass(f.kind, views.AccessOp)} | {
    n: f.kind.source.number for n, f in OPS.items() if issubclass(f.kind, views.BufferOp)
}
"""The operand that is accessed or viewed."""
WRITTEN_OPERAND = {name: MEMREF_OPERAND[name] for name in WRITING}

# --- control flow, affine ops ---------------------------------------------------------------------------------------

AFFINE_OPS, AFFINE_VALUES = views.AffineOp.names, views.MappedOp.names
LOOPS, COUNTED_LOOPS, PARALLEL_LOOPS, DATA_LOOPS = (
    views.LoopLikeOp.names, views.CountedLoopOp.names, views.ParallelLoopOp.names, views.DataLoopOp.names
)  # fmt: skip
AFFINE_LOOPS = views.AffineLoopOp.names
IFS, YIELDS, BODIES, CHOICES = views.IfOp.names, views.YieldOp.names, views.BodyOp.names, views.ChoiceOp.names

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
ORDERED_REDUCERS = (SUMS | PRODUCTS) - INTEGER_RING
"""Of floats: another order gives another result."""
CONTRACTED, TO_FLOAT = _with(_T.CONTRACTS), _with(_T.TO_FLOAT)
COMPARISONS, CASTS, INDEX_CASTS = views.CompareOp.names, views.CastOp.names, views.IndexCastOp.names
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
        return name != "arith.select"
    return name in IFS or (name in AFFINE_OPS and name not in AFFINE_ACCESSES and name not in COUNTED_LOOPS)


_HARMLESS = READING | NO_ACCESS | LOOPS | IFS | YIELDS | _PURE | _with(_T.FREE)


@lru_cache(maxsize=1024)
def may_write(name: str) -> bool:
    """Whether ops of a name may write to memory; ops in their regions do not count."""
    if name.startswith("vector."):
        return name in WRITING
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
    kind = OPS[op.name].kind
    return kind(op).value if issubclass(kind, views.StoreOp | views.AtomicOp) else None
