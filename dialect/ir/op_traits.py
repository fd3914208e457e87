"""The table of ops: what the passes must know about an op by its name. A fact about an op stands only here.

A row says what the op does to its buffer, what kind of control flow it is, and its algebra. The sets below are the
questions: `op.name in ELEMENT_LOADS`. A new memory op is a new row; an op without a row is taken to read and write
every buffer that it gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto
from functools import lru_cache

from mlir import ir


class Trait(Flag):
    """One property of an op."""

    READ = auto()  # at most reads what its memref, or its pointer, refers to
    LOAD = auto()  # its result is made of elements of its memref
    PREFETCH = auto()
    STORE = auto()  # writes its value to elements of its memref, and does nothing else
    UPDATE = auto()  # reads and writes elements of its memref
    COPY = auto()  # writes all elements of its memref
    ELEMENT = auto()  # accesses one element
    ADJACENT = auto()  # accesses the elements of a vector side by side, from indices that are values
    AFFINE = auto()  # its indices or bounds are affine maps, which `edit.rewrite_indices` changes
    MAPPED = auto()  # its result is the value of its affine map, or the largest or least of its values
    VIEW = auto()  # its result is a view of its memref
    NAMED = auto()  # a view that a program may name
    SAME_INDICES = auto()  # a view whose elements have the indices that they have in its memref
    RETYPED = auto()  # a view whose type follows another layout or memory space of its memref
    POINTER = auto()  # its results are the pointer, offset, sizes and strides of its memref
    NEUTRAL = auto()  # takes a memref, but no element of it
    ALLOC = auto()
    LOOP = auto()
    COUNTED = auto()  # a loop with one variable between bounds, which may carry values
    PARALLEL = auto()  # a loop with variables whose iterations have no order
    DATA = auto()  # a loop with computed bounds, or with a condition
    IF = auto()
    YIELD = auto()
    BODY = auto()  # not inside a nest: functions and modules
    PURE = auto()  # no side effects, and no scalar op (see `is_pure`); a load counts as pure
    FREE = auto()  # no side effects, but no op of an expression
    ASSOCIATIVE = auto()  # a declared reduction may reassociate it, floats too; all of these commute
    TRAPS = auto()  # an integer division: it traps on zero
    CONTRACTS = auto()  # of floats: may become a part of a fused multiply-add
    TO_FLOAT = auto()  # integer to float
    COMPARE = auto()
    FOLDS = auto()  # `read_map` reads the expression of the value, not the value
    SIZE = auto()  # may define a shape variable
    CAST = auto()  # another type of number for each element
    INDEX_CAST = auto()  # between an index and another integer
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
    """A row. memref: the operand that is accessed or viewed. value: the operand that is stored. algebra: of operators.
    unsigned: the op on unsigned integers, if it is another one."""

    traits: Trait
    memref: int = 0
    value: int | None = None
    algebra: str = ""
    unsigned: str = ""


_T = Trait
_LOAD, _STORE, _UPDATE = _T.READ | _T.LOAD, _T.STORE, _T.UPDATE
_VIEW, _MEMREF_CAST, _NEUTRAL = OpTraits(_T.VIEW), OpTraits(_T.VIEW | _T.SAME_INDICES), OpTraits(_T.NEUTRAL)
_NONE = Trait(0)
_CAST, _WIDENS = _T.CAST | _T.ZERO, _T.CAST | _T.ZERO | _T.WIDENS


def _sum(algebra: str, more: Trait = _NONE, unsigned: str = "") -> OpTraits:
    """A row of an operator that reductions use."""
    return OpTraits(_T.ASSOCIATIVE | _T.ZERO | more, algebra=algebra, unsigned=unsigned)


def _division(unsigned: str = "") -> OpTraits:
    return OpTraits(_T.TRAPS, unsigned=unsigned)


OPS: dict[str, OpTraits] = {
    # loads and stores
    "affine.load": OpTraits(_LOAD | _T.ELEMENT | _T.AFFINE | _T.PURE),
    "affine.store": OpTraits(_STORE | _T.ELEMENT | _T.AFFINE, memref=1, value=0),
    "affine.vector_load": OpTraits(_LOAD | _T.AFFINE),
    "affine.vector_store": OpTraits(_STORE | _T.AFFINE, memref=1, value=0),
    "memref.load": OpTraits(_LOAD | _T.ELEMENT | _T.PURE),
    "memref.store": OpTraits(_STORE | _T.ELEMENT, memref=1, value=0),
    "vector.load": OpTraits(_LOAD | _T.ADJACENT),
    "vector.store": OpTraits(_STORE | _T.ADJACENT, memref=1, value=0),
    "vector.maskedload": OpTraits(_LOAD),
    "vector.maskedstore": OpTraits(_STORE, value=-1),
    "vector.expandload": OpTraits(_LOAD),
    "vector.compressstore": OpTraits(_STORE, value=-1),
    "vector.gather": OpTraits(_LOAD),
    "vector.scatter": OpTraits(_STORE, value=-1),
    "vector.transfer_read": OpTraits(_LOAD),
    "vector.transfer_write": OpTraits(_STORE, memref=1, value=0),
    "memref.copy": OpTraits(_T.COPY, memref=1, value=0),
    "memref.atomic_rmw": OpTraits(_UPDATE, memref=1, value=0),
    "memref.generic_atomic_rmw": OpTraits(_UPDATE),
    "affine.prefetch": OpTraits(_T.READ | _T.PREFETCH),
    "memref.prefetch": OpTraits(_T.READ | _T.PREFETCH),
    "llvm.load": OpTraits(_T.READ),
    # what else takes or makes a buffer
    "memref.alloc": OpTraits(_T.ALLOC),
    "memref.alloca": OpTraits(_T.ALLOC),
    "memref.assume_alignment": _MEMREF_CAST,
    "memref.cast": OpTraits(_T.VIEW | _T.SAME_INDICES | _T.RETYPED),
    "memref.collapse_shape": _VIEW,
    "memref.expand_shape": _VIEW,
    "memref.memory_space_cast": _MEMREF_CAST,
    "memref.reinterpret_cast": OpTraits(_T.VIEW | _T.RETYPED),
    "memref.subview": OpTraits(_T.VIEW | _T.NAMED | _T.RETYPED | _T.PURE),
    "memref.transpose": _VIEW,
    "memref.view": OpTraits(_T.VIEW | _T.NAMED),
    "memref.dealloc": _NEUTRAL,
    "memref.dim": OpTraits(_T.NEUTRAL | _T.SIZE),
    "memref.extract_aligned_pointer_as_index": OpTraits(_T.POINTER),
    "memref.extract_strided_metadata": OpTraits(_T.POINTER | _T.RETYPED | _T.SIZE),
    # control flow
    "affine.for": OpTraits(_T.LOOP | _T.AFFINE | _T.COUNTED),
    "affine.parallel": OpTraits(_T.LOOP | _T.AFFINE | _T.PARALLEL),
    "scf.for": OpTraits(_T.LOOP | _T.COUNTED | _T.DATA),
    "scf.parallel": OpTraits(_T.LOOP | _T.PARALLEL),
    "scf.while": OpTraits(_T.LOOP | _T.DATA),
    "affine.if": OpTraits(_T.IF | _T.AFFINE),
    "scf.if": OpTraits(_T.IF),
    "affine.yield": OpTraits(_T.YIELD),
    "scf.yield": OpTraits(_T.YIELD),
    "builtin.module": OpTraits(_T.BODY),
    "func.func": OpTraits(_T.BODY),
    # indices and choices
    "affine.apply": OpTraits(_T.PURE | _T.AFFINE | _T.FOLDS | _T.MAPPED),
    "affine.max": OpTraits(_T.FREE | _T.MAPPED),
    "affine.min": OpTraits(_T.FREE | _T.MAPPED),
    "scf.condition": OpTraits(_T.FREE),
    "memref.get_global": OpTraits(_T.FREE),
    "arith.constant": OpTraits(_T.FOLDS),
    "arith.select": OpTraits(_T.SIGNLESS),
    "arith.cmpf": OpTraits(_T.COMPARE | _T.ROUNDS),
    "arith.cmpi": OpTraits(_T.COMPARE),
    # operators
    "arith.addf": _sum("sum", _T.CONTRACTS),
    "arith.addi": _sum("sum", _T.SIGNLESS),
    "arith.subf": OpTraits(_T.ZERO | _T.CONTRACTS, algebra="difference"),
    "arith.subi": OpTraits(_T.ZERO | _T.SIGNLESS, algebra="difference"),
    "arith.mulf": _sum("product", _T.CONTRACTS),
    "arith.muli": _sum("product", _T.SIGNLESS | _T.SIZE),
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
    "arith.divf": OpTraits(_NONE, algebra="quotient"),
    "arith.remf": OpTraits(_NONE, algebra="remainder"),
    "arith.divsi": _division("arith.divui"),
    "arith.divui": _division(),
    "arith.floordivsi": OpTraits(_T.TRAPS | _T.SIZE, algebra="floordiv", unsigned="arith.divui"),
    "arith.ceildivsi": OpTraits(_T.TRAPS, algebra="ceildiv", unsigned="arith.ceildivui"),
    "arith.ceildivui": _division(),
    "arith.remsi": OpTraits(_T.TRAPS, algebra="remainder", unsigned="arith.remui"),
    "arith.remui": OpTraits(_T.TRAPS, algebra="remainder"),
    "arith.shli": OpTraits(_T.SIGNLESS),
    "arith.shrsi": OpTraits(_NONE, unsigned="arith.shrui"),
    "arith.shrui": OpTraits(_NONE),
    "arith.negf": OpTraits(_T.ZERO | _T.CONTRACTS),
    # casts
    "arith.extf": OpTraits(_WIDENS),
    "arith.extsi": OpTraits(_WIDENS, unsigned="arith.extui"),
    "arith.extui": OpTraits(_WIDENS),
    "arith.sitofp": OpTraits(_WIDENS | _T.TO_FLOAT, unsigned="arith.uitofp"),
    "arith.uitofp": OpTraits(_WIDENS | _T.TO_FLOAT),
    "arith.truncf": OpTraits(_CAST),
    "arith.trunci": OpTraits(_CAST),
    "arith.fptosi": OpTraits(_CAST | _T.ROUNDS, unsigned="arith.fptoui"),
    "arith.fptoui": OpTraits(_CAST | _T.ROUNDS),
    "arith.index_cast": OpTraits(_T.INDEX_CAST | _T.SIZE, unsigned="arith.index_castui"),
    "arith.index_castui": OpTraits(_T.INDEX_CAST),
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

LOADS, STORES, READING = _with(_T.LOAD), _with(_T.STORE), _with(_T.READ)
PREFETCHES = _with(_T.PREFETCH)
WRITING = STORES | _with(_T.UPDATE) | _with(_T.COPY)
ACCESSES = READING | WRITING
ELEMENT_LOADS, ELEMENT_STORES = _with(_T.LOAD | _T.ELEMENT), _with(_T.STORE | _T.ELEMENT)
ELEMENT_ACCESSES = ELEMENT_LOADS | ELEMENT_STORES
AFFINE_ACCESSES = _with(_T.LOAD | _T.AFFINE) | _with(_T.STORE | _T.AFFINE)
AFFINE_ELEMENT_ACCESSES = ELEMENT_ACCESSES & AFFINE_ACCESSES
"""Of one element, at indices that are affine."""
AFFINE_VECTOR_ACCESSES = AFFINE_ACCESSES - ELEMENT_ACCESSES
COMPUTED_ACCESSES = ELEMENT_ACCESSES - AFFINE_ACCESSES
"""Of one element, at any index values."""
ADDRESSED = AFFINE_ACCESSES | COMPUTED_ACCESSES | _with(_T.ADJACENT)
"""Of one element or of adjacent ones: an address says which."""
AFFINE_LOAD, AFFINE_STORE = *(LOADS & AFFINE_ELEMENT_ACCESSES), *(STORES & AFFINE_ELEMENT_ACCESSES)
VECTOR_LOAD, VECTOR_STORE = *(LOADS & AFFINE_VECTOR_ACCESSES), *(STORES & AFFINE_VECTOR_ACCESSES)
VIEWS, NAMED_VIEWS, MEMREF_CASTS = _with(_T.VIEW), _with(_T.NAMED), _with(_T.SAME_INDICES)
POINTERS, NEUTRAL, ALLOCS = _with(_T.POINTER), _with(_T.NEUTRAL), _with(_T.ALLOC)
NO_ACCESS = VIEWS | POINTERS | NEUTRAL | ALLOCS
"""Ops on buffers that access no element."""
RETYPED = _with(_T.RETYPED)
MEMREF_OPERAND = {name: row.memref for name, row in OPS.items()}
WRITTEN_OPERAND = {name: OPS[name].memref for name in WRITING}

# --- control flow, affine ops ---------------------------------------------------------------------------------------

AFFINE_OPS, AFFINE_VALUES = _with(_T.AFFINE), _with(_T.MAPPED)
LOOPS, COUNTED_LOOPS, PARALLEL_LOOPS, DATA_LOOPS = (
    _with(_T.LOOP), _with(_T.COUNTED), _with(_T.PARALLEL), _with(_T.DATA)
)  # fmt: skip
AFFINE_LOOPS = _with(_T.LOOP | _T.AFFINE)
IFS, YIELDS, BODIES = _with(_T.IF), _with(_T.YIELD), _with(_T.BODY)
CHOICES = IFS | YIELDS
"""What an `if` with a value is made of."""

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
COMPARISONS, CASTS, INDEX_CASTS = _with(_T.COMPARE), _with(_T.CAST), _with(_T.INDEX_CAST)
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
    return name in IFS or name in AFFINE_OPS and name not in AFFINE_ACCESSES and name not in COUNTED_LOOPS


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
    number = OPS[op.name].value
    return None if number is None else op.operands[number]
