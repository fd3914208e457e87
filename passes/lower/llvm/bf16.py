"""Lower bfloat16: rounding as integer arithmetic, and moves as i16, which LLVM 22 cannot legalize otherwise."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import defining_op, walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMBitcastOp, LLVMConstantOp, LLVMFuncOp
from tir_mlir.dialect.ir.op_traits import TO_FLOAT
from tir_mlir.dialect.ir.op_views import CastOp, ExtFOp, TruncFOp, dyn_cast, isa
from tir_mlir.dialect.ir.vectors import scalar_type, with_scalar_type
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import lowering

_CONSTANT, _CAST = "llvm.mlir.constant", "llvm.bitcast"
_MOVE_OPS = frozenset(
    f"llvm.{name}"
    for name in (
        *("load", "store", "intr.masked.load", "intr.masked.store", "intr.masked.gather", "intr.masked.scatter"),
        *("mlir.constant", "mlir.zero", "mlir.undef", "mlir.poison", "bitcast", "freeze", "select", "br", "cond_br"),
        *("extractelement", "insertelement", "shufflevector", "intr.vector.extract", "intr.vector.insert"),
    )
)


@lowering("tir-lower-bf16-moves", "Lower bf16 loads, stores and shuffles to i16")
def lower_moves(module: ir.Module) -> None:
    """Rewrite bf16 values that are only moved to i16.

        %x = llvm.load %p : !llvm.ptr -> bf16                %x = llvm.load %p : !llvm.ptr -> i16
        llvm.store %x, %q : bf16, !llvm.ptr           -->    llvm.store %x, %q : i16, !llvm.ptr

    LLVM 22 aborts on a bf16 vector that it builds on a CPU with AVX512-BF16 ("Do not know how to soft promote this
    operator's operand"). Runs on the llvm dialect, where arithmetic is in f32 (`tir-lower-bf16`). Leaves the module as
    it is if another op or a function still takes a bf16 value.
    """
    listed = walk.ops(module.operation)
    if not any(_is_bf16(value.type) for op in listed for value in op.results):
        return  # so only a parameter could be one, which remains
    bf16_ops = [op for op in listed if any(_is_bf16(v.type) for v in [*op.operands, *op.results])]
    if not all(op.name in _MOVE_OPS for op in bf16_ops) or any(map(_has_bf16_parameter, listed)):
        return
    joins = [a for op in listed for region in op.regions for block in region.blocks for a in block.arguments]
    results = [v for op in bf16_ops for v in op.results if not isa(op, LLVMConstantOp)]
    for value in [*joins, *results]:
        if _is_bf16(value.type):
            value.set_type(_as_i16(value.type))
    for op in bf16_ops:
        if isa(op, LLVMConstantOp):
            _bitcast_constant(op)
        elif (cast := dyn_cast(op, LLVMBitcastOp)) and cast.source.type == cast.result.type:
            cast.result.replace_all_uses_with(cast.source)
            op.erase()


def _is_bf16(type_: ir.Type) -> bool:
    return isinstance(type_.element_type if isinstance(type_, ir.VectorType) else type_, ir.BF16Type)


def _has_bf16_parameter(op: ir.Operation) -> bool:
    """Whether a function has a bf16 parameter, which is part of its type."""
    return isa(op, LLVMFuncOp) and "bf16" in str(op.attributes["function_type"])


def _as_i16(type_: ir.Type) -> ir.Type:
    return with_scalar_type(type_, ir.IntegerType.get_signless(16))


def _bitcast_constant(constant: ir.Operation) -> None:
    """Bitcast a constant; LLVM folds the cast."""
    value = constant.results[0]
    uses = list(value.uses)
    with ir.InsertionPoint.after(constant), constant.location:
        bits = ir.Operation.create(_CAST, [_as_i16(value.type)], [value]).results[0]
    for use in uses:
        use.owner.operands[use.operand_number] = bits


_DOUBLE_BITS, _MORE_BITS = 53, 11
"""The significant bits of a double, and how many more a 64-bit integer has."""


@lowering("tir-lower-bf16-once", "Round doubles and integers to bf16 once")
def lower_wide(module: ir.Module) -> None:
    """Round to f32 as to odd, for doubles and for integers that an f32 does not hold: to nearest, a number just above a
    tie would become one, which the second rounding, to bf16, sends to even.

        %b = arith.sitofp %x : i32 to bf16   -->   %d = arith.sitofp %x : i32 to f64 ; then as a double
        %b = arith.truncf %d : f64 to bf16   -->   %s = arith.truncf %d : f64 to f32
                                                   if %s != %d and its last bit is 0, its neighbor on the side of %d
                                                   %b = arith.truncf %s : f32 to bf16

    A 64-bit integer beyond 53 bits is rounded to odd first: its last 11 bits become one that says whether any was set.
    Runs before `arith-emulate-unsupported-floats`, which goes by way of f32. LLVM does, too: it makes a conversion of
    an integer to f64 and then to bf16 one of the integer to f32 and then to bf16.
    """
    for op in walk.ops(module.operation):
        is_integer = op.name in TO_FLOAT
        if not (is_integer or isa(op, TruncFOp)) or not _is_bf16(op.results[0].type):
            continue
        value = CastOp(op).source
        source = value.type
        if (
            ir.IntegerType(scalar_type(source)).width < 32
            if is_integer
            else not isinstance(scalar_type(source), ir.F64Type)
        ):
            continue
        with ir.InsertionPoint(op), op.location:
            f = FloatBuilder(with_scalar_type(source, ir.F64Type.get()))
            double = _as_double(f, value, op.name) if is_integer else value
            single = _odd_single(f, double)
            narrow = ir.Operation.create("arith.truncf", [op.results[0].type], [single]).results[0]
        op.results[0].replace_all_uses_with(narrow)
        op.erase()


def _as_double(f: FloatBuilder, x: ir.Value, conversion: str) -> ir.Value:
    if ir.IntegerType(scalar_type(x.type)).width > _DOUBLE_BITS:
        x = _rounded_to_odd(f, x, conversion)
    return ir.Operation.create(conversion, [f.type], [x]).results[0]


def _odd_single(f: FloatBuilder, double: ir.Value) -> ir.Value:
    """A double as an f32, rounded to odd."""
    single = FloatBuilder(with_scalar_type(f.type, ir.F32Type.get()))
    near = ir.Operation.create("arith.truncf", [single.type], [double]).results[0]
    back = ir.Operation.create("arith.extf", [f.type], [near]).results[0]
    bits = single.to_bits(near)
    outward = f.compare(f.magnitude(back), "olt", f.magnitude(double))
    make = ir.Operation.create
    step = make("arith.select", [single.whole], [outward, single.integer(1), single.integer(-1)]).results[0]
    even = single.whole_equal(single.whole_op("andi", bits, 1), 0)
    moves = make("arith.andi", [even.type], [even, f.compare(back, "one", double)]).results[0]
    moved = make("arith.select", [single.whole], [moves, single.whole_op("addi", bits, step), bits]).results[0]
    return single.from_bits(moved)


def _rounded_to_odd(f: FloatBuilder, x: ir.Value, conversion: str) -> ir.Value:
    """A 64-bit integer with at most 53 significant bits, which rounds as it does to fewer than 52."""
    last = (1 << _MORE_BITS) - 1
    some = f.whole_op("shrui", f.whole_op("addi", f.whole_op("andi", x, last), last), _MORE_BITS)
    odd = f.whole_op("ori", f.whole_op("shrui", x, _MORE_BITS), some)
    rounded = f.whole_op("shli", odd, _MORE_BITS)
    shifted = f.whole_op("addi", x, 1 << _DOUBLE_BITS) if conversion == "arith.sitofp" else x
    limit = _DOUBLE_BITS + (conversion == "arith.sitofp")
    fits = f.whole_equal(f.whole_op("shrui", shifted, limit), 0)
    return ir.Operation.create("arith.select", [x.type], [fits, x, rounded]).results[0]


_QUIET_BIT = 0x400000
"""The quiet bit of a NaN."""


@lowering("tir-lower-bf16", "Lower the rounding of f32 to bf16 to integer arithmetic")
def lower_rounding(module: ir.Module) -> None:
    """Round to nearest, ties to even; a NaN becomes quiet and keeps its leading bits.

        %b = arith.truncf %x : f32 to bf16
            -->
        %i = arith.bitcast %x : f32 to i32 ; add half a unit in the last digit, plus one if that bit is odd
        %b = arith.bitcast (arith.trunci (%i >> 16)) : i16 to bf16

    `arith-expand` does the same with a select between bf16 values for NaN, which LLVM scalarizes; here the select is on
    integers. Requires `arith-emulate-unsupported-floats`, which creates these roundings. What is rounded before and
    behind a maximum or minimum is rounded behind it only: rounding keeps the order, so the result is the same.
    """
    for cast in walk.views_in(module.operation, TruncFOp):
        if _is_bf16(cast.result.type):
            _round_behind_extremum(cast)
    for cast in walk.views_in(module.operation, TruncFOp):
        op, source, result = cast.op, cast.source.type, cast.result.type
        if isinstance(scalar_type(source), ir.F32Type) and isinstance(scalar_type(result), ir.BF16Type):
            with ir.InsertionPoint(op), op.location:
                rounded = _round(FloatBuilder(source), cast.source, result)
            op.results[0].replace_all_uses_with(rounded)
            op.erase()


_EXTREMA = frozenset(f"arith.{name}" for name in ("maximumf", "minimumf", "maxnumf", "minnumf"))


def _round_behind_extremum(cast: TruncFOp) -> None:
    """truncf(max(extf(truncf(x)), extf(y)))  ->  truncf(max(x, extf(y))), if y is bf16 and nothing else has the max"""
    extremum = defining_op(cast.source)
    if extremum is None or extremum.name not in _EXTREMA or len(list(extremum.results[0].uses)) > 1:
        return
    widened = [defining_op(value, ExtFOp) for value in extremum.operands]
    if not all(wide and _is_bf16(wide.source.type) for wide in widened):
        return
    for number, wide in enumerate(widened):
        before = defining_op(wide.source, TruncFOp) if wide else None
        if wide is None or before is None or before.source.type != wide.result.type:
            continue
        extremum.operands[number] = before.source
        for op in (wide.op, before.op):
            if not list(op.results[0].uses):
                op.erase()


def _round(f: FloatBuilder, x: ir.Value, result: ir.Type) -> ir.Value:
    bits = f.to_bits(x)
    odd = f.whole_op("andi", f.whole_op("shrui", bits, 16), 1)
    rounded = f.whole_op("addi", f.whole_op("addi", bits, 0x7FFF), odd)
    chosen = ir.Operation.create(
        "arith.select", [f.whole], [f.compare(x, "uno", x), f.whole_op("ori", bits, _QUIET_BIT), rounded]
    ).results[0]
    half = with_scalar_type(result, ir.IntegerType.get_signless(16))
    short = ir.Operation.create("arith.trunci", [half], [f.whole_op("shrui", chosen, 16)]).results[0]
    return ir.Operation.create("arith.bitcast", [result], [short]).results[0]
