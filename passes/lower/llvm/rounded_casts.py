"""Lower casts of rounded numbers to integers: limit them first, and round in the conversion."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.constants.dense import is_dense, splat_of
from tir_mlir.dialect.ir import attrs, defining_op, walk
from tir_mlir.dialect.ir.op_views import ConstantOp
from tir_mlir.dialect.ir.vectors import scalar_type, with_scalar_type
from tir_mlir.dialect.ops import MLIR_OPS, SCALAR_FUNCTIONS
from tir_mlir.passes.lower.llvm.float_builder import FloatBuilder
from tir_mlir.passes.lower.registry import Content, lowering

ROUNDS_IN_CASTS = "tir.rounds_in_casts"
"""Attribute of a module for a CPU that rounds where it converts to integers, as x86 does by its rounding mode."""
_CAST = MLIR_OPS["arith.fptosi"]
_TO_FLOAT = MLIR_OPS["arith.sitofp"]
_OPS = {name: op.name for name in ("max", "min", "round", "add") if (op := SCALAR_FUNCTIONS[name].on_floats)}
_EXACT = 2**22
"""Up to it, all integers and halves are numbers of float32."""
_WHOLE = 1.5 * 2**23
"""Numbers of float32 up to `_EXACT` from it are integers: their lowest bits are those of what is added, rounded."""
_OF_NUMBERS = "#arith.fastmath<nnan>"
"""Flags of limits: what is not a number has no integer."""


@dataclass(frozen=True)
class _Limits:
    """min(max(roundeven(x) + zero, low), high), of integers. zero: a constant, or a value that is known to be one."""

    x: ir.Value
    zero: int | ir.Value
    low: int
    high: int


@lowering(
    "tir-lower-rounded-casts",
    "Limit numbers before they are rounded to integers",
    works_on=Content(ops={_OPS["round"]}),
)
def run(module: ir.Module) -> None:
    """Limit a number first, which then is rounded and converted at once.

        %r = math.roundeven %x                          %a = arith.maximumf %x, 0.0
        %a = arith.maximumf %r, 0.0                     %b = arith.minimumf %a, 255.0
        %b = arith.minimumf %a, 255.0            -->    %r = arith.addf %b, 12582912.0
        %i = arith.fptoui %b : f32 to i8                %n = arith.bitcast %r : f32 to i32
                                                        %i = arith.trunci %n : i32 to i8

    The same, as rounding is monotone and leaves the limits, which are integers, as they are; an integer that is added
    in between, a constant or one of up to 16 bits that is cast, moves them. A limit before them that is not tighter, as
    of a ReLU, is dropped. The sum is rounded to an integer, whose lowest bits it has: an addition takes the place of
    two conversions, which few units of a CPU do. With `tir.rounds_in_casts` on the module it is `llvm.intr.lrint`, one
    instruction of x86, which the limits make defined. Numbers of float32, scalars and vectors.
    """
    once = bool(attrs.get(module.operation, ROUNDS_IN_CASTS))
    attrs.put(module.operation, ROUNDS_IN_CASTS, None)
    for op in walk.ops(module.operation):
        if op.name not in (_CAST.name, _CAST.unsigned) or (limits := _limits(op)) is None:
            continue
        with ir.InsertionPoint(op), op.location:
            integer = _emit_cast(limits, op, once)
        op.results[0].replace_all_uses_with(integer)
        op.erase()


def _limits(op: ir.Operation) -> _Limits | None:
    """What a cast converts, if it is a rounded number with limits that the result represents."""
    wide, narrow = op.operands[0].type, scalar_type(op.results[0].type)
    if not isinstance(scalar_type(wide), ir.F32Type) or ir.IntegerType(narrow).width > 16:
        return None
    limits: dict[str, int] = {}
    value = op.operands[0]
    while (with_constant := _operand_and_constant(value, {_OPS["max"], _OPS["min"]} - limits.keys())) is not None:
        name, value, limits[name] = with_constant
    zero: int | ir.Value = 0
    if (with_constant := _operand_and_constant(value, {_OPS["add"]})) is not None:
        _, value, zero = with_constant
    elif (with_integer := _operand_and_integer(value)) is not None:
        value, zero = with_integer
    rounded = defining_op(value)
    if len(limits) < 2 or rounded is None or rounded.name != _OPS["round"]:
        return None
    bits, low, high = ir.IntegerType(narrow).width, limits[_OPS["max"]], limits[_OPS["min"]]
    least, most = (0, 2**bits - 1) if op.name == _CAST.unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not least <= low <= high <= most or (isinstance(zero, int) and abs(zero) > _EXACT - 2**16):
        return None
    return _Limits(rounded.operands[0], zero, low, high)


def _operand_and_constant(value: ir.Value, names: set[str]) -> tuple[str, ir.Value, int] | None:
    """The op of one of some names that a value comes from, what it takes, and the integer that is its constant."""
    op = defining_op(value)
    if op is None or op.name not in names:
        return None
    for number, operand in enumerate(op.operands):
        constant = defining_op(operand, ConstantOp)
        if constant is None:
            continue
        attribute = constant.op.attributes["value"].maybe_downcast()
        number_of = splat_of(attribute) if is_dense(attribute) else attribute
        if isinstance(number_of, ir.FloatAttr) and abs(number_of.value) <= _EXACT and number_of.value.is_integer():
            return op.name, op.operands[1 - number], int(number_of.value)
    return None


def _operand_and_integer(value: ir.Value) -> tuple[ir.Value, ir.Value] | None:
    """What a sum adds to a cast integer of at most 16 bits, all of which are numbers of float32, and that."""
    op = defining_op(value)
    if op is None or op.name != _OPS["add"]:
        return None
    for number, operand in enumerate(op.operands):
        cast = defining_op(operand)
        if cast is not None and cast.name == "vector.broadcast":
            cast = defining_op(cast.operands[0])
        if cast is None or cast.name not in (_TO_FLOAT.name, _TO_FLOAT.unsigned):
            continue
        if ir.IntegerType(scalar_type(cast.operands[0].type)).width <= 16:
            return op.operands[1 - number], operand
    return None


def _move(f: FloatBuilder, limit: int, zero: int | ir.Value) -> ir.Value:
    """A limit less what is added behind it."""
    return f.constant(limit - zero) if isinstance(zero, int) else f.sub(limit, zero)


def _emit_cast(limits: _Limits, op: ir.Operation, once: bool) -> ir.Value:
    x, result = limits.x, op.results[0].type
    f, wide = FloatBuilder(x.type), with_scalar_type(result, ir.IntegerType.get_signless(32))
    once = once and getattr(x.type, "rank", 1) == 1
    low, high = (_move(f, limit, limits.zero) for limit in (limits.low, limits.high))
    if once and isinstance(limits.zero, ir.Value):
        # vmaxps, vminps: LLVM does not see that a limit which is computed is no NaN
        x = f.clamp_above(f.clamp_below(x, low), high)
    else:
        flags = None if once else ir.Attribute.parse(_OF_NUMBERS)
        x = arith.maximumf(_without_limit(limits), low, fastmath=flags)
        x = arith.minimumf(x, high, fastmath=flags)
    if once:
        number = ir.Operation.create("llvm.intr.lrint", [wide], [x]).results[0]
    else:
        number = arith.bitcast(wide, arith.addf(x, f.constant(_WHOLE)))
    if isinstance(limits.zero, ir.Value):
        number = arith.addi(number, arith.fptosi(wide, limits.zero))
    elif limits.zero:
        number = arith.addi(number, f.integer(limits.zero))
    kept = "none" if not once else "nuw" if op.name == _CAST.unsigned else "nsw"
    return arith.trunci(result, number, overflow_flags=ir.Attribute.parse(f"#arith.overflow<{kept}>"))


def _without_limit(limits: _Limits) -> ir.Value:
    """What is limited, without a maximum with a constant before it that is not above the lower limit."""
    before = _operand_and_constant(limits.x, {_OPS["max"]})
    if before is None or isinstance(limits.zero, ir.Value) or before[2] > limits.low - limits.zero:
        return limits.x
    return before[1]
