"""Compile a program for the check: exactly, or as f64 with NaN-filled memory.

Exactly: floats are elements of a prime field, and float ops become its arithmetic (`field_functions`), by a table.
"""

from __future__ import annotations

import ctypes
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.constants.float_constants import round_to_dtype
from tir_mlir.dialect.diagnostics import BuildError, LoweringError, NotChecked
from tir_mlir.dialect.ir import Func, clone_module, func_of, funcs, walk
from tir_mlir.dialect.ir.op_traits import MAXIMA, MINIMA, OPS
from tir_mlir.dialect.ir.op_views import (
    BitcastOp,
    CastBaseOp,
    CastOp,
    CompareOp,
    ConditionOp,
    ConstantOp,
    DivFOp,
    ExtFOp,
    NegFOp,
    RsqrtOp,
    ScfForOp,
    SelectOp,
    TruncFOp,
    UnaryOp,
    WhileOp,
    isa,
)
from tir_mlir.equivalence import instrument
from tir_mlir.equivalence.edits import OpBuilder, change_float_types, is_float
from tir_mlir.equivalence.field import exact_rounding, field_functions
from tir_mlir.equivalence.field.field_functions import P, inverse
from tir_mlir.equivalence.instrument import ARENA
from tir_mlir.equivalence.plain_loops import make_plain
from tir_mlir.passes.lower.blocks import scopes
from tir_mlir.passes.lower.llvm import abi
from tir_mlir.passes.lower.memory import allocs
from tir_mlir.passes.lower.registry import called_programs
from tir_mlir.runtime.call.signature import signatures
from tir_mlir.runtime.drivers import jit
from tir_mlir.runtime.drivers.compiled_code import LoweredProgram
from tir_mlir.runtime.llvm import object_code

if TYPE_CHECKING:
    from tir_mlir.runtime.call.signature import CallSignature
    from tir_mlir.runtime.timing import Clock


EXACT, NAN = "exact", "nan"

LOWER = (
    "builtin.module(convert-linalg-to-loops,lower-affine,expand-strided-metadata,lower-affine,arith-expand,"
    "finalize-memref-to-llvm,convert-scf-to-cf,convert-to-llvm,{libm}reconcile-unrealized-casts)"
)
_LIBM = "convert-math-to-libm,convert-to-llvm,"


@dataclass
class OutOfBounds:
    """Out-of-bounds accesses of a run: their number, the site and index of the first."""

    count: int
    site: instrument.Site
    index: int


class CheckedProgram:
    """Machine code of a module in one number domain, and its state."""

    def __init__(
        self,
        code: jit.Jit,
        signatures: Mapping[str, CallSignature],
        sites: list[instrument.Site],
        build: OpBuilder,
        allocates: bool,
    ):
        self._functions = code.functions(list(signatures.values()))
        address = code.address(field_functions.STATE)
        self._state = np.ctypeslib.as_array((ctypes.c_int64 * field_functions.STATE_SIZE).from_address(address))
        self._code = code
        self.sites = sites
        self.ordered = bool(build.called & field_functions.ORDERED)
        self.compares = build.ordered or self.ordered
        self.constants = frozenset(build.constants)
        self.allocates = allocates

    def run(
        self, name: str, arrays: Sequence[object], rotation: int, poison: int, target: int = -1, scale: int = 1
    ) -> OutOfBounds | None:
        """Run a function, with an order of this start and scale. Returns its out-of-bounds accesses."""
        self._state[:] = 0
        self._state[field_functions.ROTATION] = rotation
        self._state[field_functions.SCALE] = scale
        self._state[field_functions.UNSCALE] = inverse(scale)
        self._state[field_functions.POISON] = poison
        self._state[field_functions.TARGET] = target
        self._functions[name](*arrays)
        count = int(self._state[field_functions.OUTSIDE])
        if not count:
            return None
        site, index = (int(self._state[p]) for p in (field_functions.OUTSIDE_SITE, field_functions.OUTSIDE_INDEX))
        return OutOfBounds(count, self.sites[site], index)

    def writer(self, sites: Sequence[instrument.Site]) -> tuple[instrument.Site, dict[str, int]] | None:
        """The site of the last write of the watched element, and the loop variables there."""
        number = int(self._state[field_functions.WRITER])
        if not number:
            return None
        site = sites[number - 1]
        values = self._state[field_functions.LOOPS : field_functions.LOOPS + len(site.loops)].tolist()
        return site, dict(zip(site.loops, values, strict=False))


@dataclass
class InstrumentedProgram:
    """A program that records the last writer of an element of a parameter."""

    program: CheckedProgram
    writers: list[instrument.Site]


def compile_checked(module: ir.Module, domain: str, quick: bool = True) -> CheckedProgram:
    """Compile a module, which is not modified (call inside `entered`). `quick`: without optimization.

    Raises NotChecked for ops without exact semantics.
    """
    return _compile(module, domain, quick, None)[0]


def compile_instrumented(module: ir.Module, function: str, parameter: int) -> InstrumentedProgram:
    """Compile the exact program that records writers of a parameter."""
    return InstrumentedProgram(*_compile(module, EXACT, True, (function, parameter)))


def _compile(module: ir.Module, domain: str, quick: bool, watch: tuple[str, int] | None) -> tuple[CheckedProgram, list]:
    module = clone_module(module)
    build = OpBuilder()
    make_plain(module, build)
    functions = funcs(module)
    writers = []
    if watch is not None:
        writers = instrument.note_writers(next(f for f in functions if f.name == watch[0]), watch[1], build)
    sites = instrument.clamp(walk.ops(module.operation), build)
    instrument.make_total(walk.ops(module.operation), build)
    if not quick:
        instrument.spread_rows(_bodies(functions))
    if domain == EXACT:
        to_prime_field(_bodies(functions), build)
    else:
        _convert_to_doubles(_bodies(functions))
    bodies = _bodies(functions)
    _note_integer_comparisons(bodies, build)
    limit_loops(bodies, build)
    allocates = instrument.fill_allocations(bodies, build, None if domain == EXACT else float("nan"))
    by_name, promised, called = signatures(module), abi.noalias_functions(module), called_programs(module)
    scopes.run(module)
    _add_code(module, build)
    scratch = allocs.run(module)
    abi.run(module)
    _lower(module, domain)
    abi.name_interfaces(module)
    abi.set_noalias(module, promised)
    abi.forbid_inlining(module, called)
    code = _machine_code(module, list(by_name), quick, scratch)
    return CheckedProgram(code, by_name, sites, build, allocates), writers


def _bodies(functions: Sequence[Func]) -> list[ir.Operation]:
    return [op for f in functions for op in walk.ops(f.op)]


def _note_integer_comparisons(everything: Sequence[ir.Operation], build: OpBuilder) -> None:
    names = CompareOp.names | MAXIMA | MINIMA
    if any(o.name in names and isinstance(o.operands[0].type, ir.IntegerType) for o in everything):
        build.ordered = True


def _convert_to_doubles(everything: list[ir.Operation]) -> None:
    """Convert every float type to f64: NaN propagates as in any format, and every machine supports it."""
    double = ir.F64Type.get()
    casts = [BitcastOp(op) for op in everything if isa(op, BitcastOp)]
    formats = [(cast.op, cast.source.type, cast.result.type) for cast in casts]
    change_float_types(everything, lambda _: double)
    for op in everything:
        if isa(op, ConstantOp) and isinstance(op.attributes["value"], ir.FloatAttr):
            op.attributes["value"] = ir.FloatAttr.get(double, ir.FloatAttr(op.attributes["value"]).value)
        elif isa(op, ExtFOp, TruncFOp):
            op.results[0].replace_all_uses_with(CastOp(op).source)
            op.erase()
    for op, source, target in formats:
        _keep_bits(op, source, target)


def _keep_bits(op: ir.Operation, source: ir.Type, target: ir.Type) -> None:
    """Take the bits of a float in the format that the program has: f32 -> i32 of an f64 rounds it first."""
    value = BitcastOp(op).source
    with ir.InsertionPoint(op), op.location:
        if value.type != source:
            value = ir.Operation.create("arith.truncf", [source], [value]).results[0]
        value = ir.Operation.create("arith.bitcast", [target], [value]).results[0]
        if op.results[0].type != target:
            value = ir.Operation.create("arith.extf", [op.results[0].type], [value]).results[0]
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _add_code(module: ir.Module, build: OpBuilder) -> None:
    extra = ir.Module.parse(field_functions.text(build.called))
    start = ir.InsertionPoint.at_block_begin(module.body)
    for op in extra.body.operations:
        op.operation.clone(ip=start)


def _lower(module: ir.Module, domain: str) -> None:
    try:
        PassManager.parse(LOWER.format(libm=_LIBM if domain == NAN else "")).run(module.operation)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        raise NotChecked(f"the program cannot be compiled for the check: {error}") from error
    unconverted = abi.unconverted_ops(module)
    if unconverted:
        raise LoweringError(f"{unconverted[0].name} cannot be lowered for the check")


def _machine_code(module: ir.Module, names: list[str], quick: bool, scratch: int) -> jit.Jit:
    try:
        jit.require(scratch)
    except BuildError as error:
        raise NotChecked(str(error)) from error
    libs = jit.needed_libraries(module, [])
    passes = object_code.NO_PASSES if quick else object_code.LIGHT_PASSES
    clock: Clock = lambda _: nullcontext()  # noqa: E731
    return jit.Jit(jit.compile_program(LoweredProgram(module), names, libs, clock, passes=passes), names)


# --- a limit of the trips of loops ------------------------------------------------------------------------------------


_MOST_TRIPS = 1 << 12
"""Loops whose bounds or conditions are data would run for hours on random data. Both programs of a comparison get the
same limit, so each still computes the same function of the data."""


def limit_loops(everything: Sequence[ir.Operation], build: OpBuilder) -> None:
    """Stop every `scf.for` and `scf.while` after `_MOST_TRIPS` iterations, but the loops of the check over an arena."""
    for op in everything:
        if isa(op, ScfForOp) and ARENA not in op.attributes:
            _limit_for(op, build)
        elif isa(op, WhileOp):
            _limit_while(op, build)


def _limit_for(op: ir.Operation, build: OpBuilder) -> None:
    """`scf.for %i = %a to %b` -> `scf.for %i = %a to min(%b, %a + _MOST_TRIPS)`."""
    loop = ScfForOp(op)
    with ir.InsertionPoint(op), op.location:
        loop.upper = build.binary("arith.minsi", loop.upper, build.plus(loop.lower, build.index(_MOST_TRIPS)))


def _limit_while(op: ir.Operation, build: OpBuilder) -> None:
    """A counter in memory, set to 0 before the loop; its condition also asks that it is below _MOST_TRIPS."""
    type_ = ir.MemRefType.get([], build.word())
    with ir.InsertionPoint.at_block_begin(func_of(op).body), op.location:
        segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
        count = ir.Operation.create("memref.alloca", [type_], [], segments).results[0]
    with ir.InsertionPoint(op), op.location:
        ir.Operation.create("memref.store", [], [build.number(0), count])
    end = ConditionOp(list(op.regions[0].blocks[0].operations)[-1].operation)
    with ir.InsertionPoint(end.op), op.location:
        trips = ir.Operation.create("memref.load", [build.word()], [count]).results[0]
        ir.Operation.create("memref.store", [], [build.plus(trips, build.number(1)), count])
        is_below = build.cmpi("slt", trips, build.number(_MOST_TRIPS))
        end.condition = build.binary("arith.andi", end.condition, is_below)


# --- float ops as arithmetic of the prime field -----------------------------------------------------------------------


# uninterpreted functions: mixed with a salt from their name
OPAQUE = sorted(name.removeprefix("math.") for name, row in OPS.items() if row.field == "opaque")
# cmpf predicate -> integer comparison of keys, or its constant value
_COMPARE = ("no", "eq", "ugt", "uge", "ult", "ule", "ne", "yes", "eq", "ugt", "uge", "ult", "ule", "ne", "no", "yes")
_GREATEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}
_NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_UNIT_FRACTIONS = 1 << 20
"""A constant that is 1/n rounded is taken as exactly 1/n, up to this n."""


def to_prime_field(everything: list[ir.Operation], build: OpBuilder) -> None:
    """Rewrite the ops of plain loops in place. Raises NotChecked for an op without exact semantics."""
    old = [(op, op.name, _kinds(op.operands), _kinds(op.results)) for op in everything]
    change_float_types(everything, lambda _: ir.IntegerType.get_signless(64))
    for op, name, operands, results in old:
        if any(operands) or any(results):
            _convert(op, name, operands, results, build)


def _kinds(values: object) -> list[str]:
    """The name of the type for each float, "" for all else."""
    return [str(v.type) if is_float(v.type) else "" for v in values]  # type: ignore[attr-defined]


def _convert(op: ir.Operation, name: str, operands: list[str], results: list[str], build: OpBuilder) -> None:
    if name.split(".")[0] in ("affine", "memref", "scf", "func") or name in SelectOp.names:
        return  # only moves values
    make = _table().get(name)
    if make is None:
        raise NotChecked(f"{build.origin_text(op)}: {name} on {(operands + results)[0]} has no exact semantics")
    with ir.InsertionPoint(op), op.location:
        value = make(op, operands, results, build)
    op.results[0].replace_all_uses_with(value)
    op.erase()


Make = Callable[[ir.Operation, list[str], list[str], OpBuilder], ir.Value]


@cache
def _table() -> dict[str, Make]:
    """How an op is computed in the field, by its record; a few need more than one function of the field."""
    unknown: dict[str, Make] = {"opaque": _mix_operands, "predicate": _predicate}
    makers = {name: unknown.get(row.field) or _call(row.field) for name, row in OPS.items() if row.field}
    return makers | {
        "arith.constant": lambda op, o, r, b: constant(op.attributes["value"], r[0], b, op),
        "arith.negf": lambda op, o, r, b: b.call("sub", b.number(0), NegFOp(op).operand),
        "arith.divf": lambda op, o, r, b: b.call("mul", DivFOp(op).lhs, b.call("inv", DivFOp(op).rhs)),
        "math.rsqrt": lambda op, o, r, b: b.call("inv", _mix_salt(RsqrtOp(op).operand, "math.sqrt0", b)),
        "math.fma": lambda op, o, r, b: _multiply_add(b, *op.operands),
        "arith.extf": lambda op, o, r, b: ExtFOp(op).source,
        "arith.truncf": _round,
        "arith.sitofp": lambda op, o, r, b: b.call("of_int", b.widen(CastOp(op).source, "arith.extsi")),
        "arith.uitofp": lambda op, o, r, b: b.call("of_unsigned", b.widen(CastOp(op).source, "arith.extui")),
        "arith.fptosi": _truncate,
        "arith.fptoui": _truncate,
        "arith.bitcast": _bits,
        "arith.cmpf": _compare,
    }


def _call(to: str) -> Make:
    return lambda op, o, r, b: b.call(to, *op.operands)


def _salt(words: str) -> int:
    return zlib.crc32(words.encode()) * 0x9E3779B97F4A7C15 % P


def _mix_salt(value: ir.Value, words: str, build: OpBuilder) -> ir.Value:
    return build.call("mix", value, build.number(_salt(words)))


def _mix_but_zero(value: ir.Value, words: str, build: OpBuilder) -> ir.Value:
    """An unknown function that is 0 for 0, as all roundings are."""
    return build.call("mul", value, _mix_salt(value, words, build))


def _multiply_add(build: OpBuilder, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
    return build.call("add", build.call("mul", a, b), c)


def _round(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    if exact_rounding.EXACT in op.attributes:
        return TruncFOp(op).source
    return _mix_but_zero(TruncFOp(op).source, f"round to {results[0]}", build)


def _mix_operands(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    mixed = build.number(0)
    for number, (value, kind) in enumerate(zip(op.operands, operands, strict=True)):
        wide = value if kind else build.widen(value, "arith.extsi")
        mixed = build.call(
            "mix", build.plus(mixed, wide) if number else wide, build.number(_salt(f"{op.name}{number}"))
        )
    return mixed


def _truncate(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    """Float to integer: mix first, as truncation of field elements would commute with sums."""
    mixed = _mix_but_zero(CastBaseOp(op).source, f"{op.name} to {op.results[0].type}", build)
    return build.narrow(mixed, op.results[0].type)


def _to_int(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    """The bits of a float as an integer."""
    mixed = _mix_salt(CastBaseOp(op).source, f"{op.name} to {op.results[0].type}", build)
    return build.narrow(mixed, op.results[0].type)


def _bits(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    """The bits of a float as an integer, and back: unknown functions of the value, one for each pair of types."""
    source, target = operands[0], results[0]
    if source and not target:
        return _to_int(op, operands, results, build)
    value = BitcastOp(op).source
    value = value if source else build.widen(value, "arith.extsi")
    return _mix_salt(value, f"{op.name} {source} to {target}", build)


def _predicate(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    """An unknown predicate of the value: no element is NaN or infinite."""
    return build.narrow(_mix_salt(UnaryOp(op).operand, op.name, build), op.results[0].type)


def _compare(op: ir.Operation, operands: list[str], results: list[str], build: OpBuilder) -> ir.Value:
    word = _COMPARE[ir.IntegerAttr(op.attributes["predicate"]).value]
    if word in ("no", "yes"):
        return build.bit(word == "yes")
    build.ordered = True
    keys = op.operands if word in ("eq", "ne") else [build.call("key", v) for v in op.operands]
    return build.cmpi(word, *keys)


# --- constants ----------------------------------------------------------------------------------------------------


def constant(attribute: ir.Attribute, kind: str, build: OpBuilder, op: ir.Operation) -> ir.Value:
    """The field element of a constant: exact; 1/n for a rounded 1/n; ends of the order for infinities."""
    if not isinstance(attribute, ir.FloatAttr):
        raise NotChecked(f"{build.origin_text(op)}: the constant {attribute} has no exact semantics")
    value = attribute.value
    if math.isnan(value):
        return build.number(_salt("NaN"))  # an unknown element: the field has no NaN
    if abs(value) >= _GREATEST[kind]:
        return build.call("top" if value > 0 else "bottom")
    exact = exact_value(value, kind)
    build.constants.add(exact)
    return build.number(exact.numerator * pow(exact.denominator, -1, P) % P)


def element(value: float, kind: str) -> int:
    """The element of the field for a finite float of an MLIR type."""
    exact = exact_value(value, kind)
    return exact.numerator * pow(exact.denominator, -1, P) % P


def exact_value(value: float, kind: str) -> Fraction:
    """The number that a finite float stands for: 1/n for a rounded 1/n."""
    exact = Fraction(value)
    if 0 < abs(value) < 1:
        n = round(1 / abs(exact))
        if 1 < n <= _UNIT_FRACTIONS and round_to_dtype(1 / n, _NAMES[kind]) == abs(value):
            exact = Fraction(1 if value > 0 else -1, n)
    return exact
