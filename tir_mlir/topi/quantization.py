"""Numbers stored in few bits: integers with a scale, for a whole tensor, for each channel, or for each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tir_mlir import te
from tir_mlir.topi.broadcast import broadcast_shape, read
from tir_mlir.topi.operands import (
    FLOATS,
    Number,
    Operand,
    as_type,
    axis_of,
    constant,
    describe_tensor,
    floats,
    integer,
    is_float,
    of_type,
    one_of,
    refuse,
    tensor,
    wide_type,
)
from tir_mlir.topi.sizes import are_equal, exact_quotient, is_one, simple

__all__ = ["dense_groups", "dequantize", "dequantize_group", "quantize", "requantize", "round_to", "unpack_int4"]

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}
MORE_OF_SUMS = {
    "offset": "", "bias": "float32", "addend": "", "addend_scale": "float32", "addend_zero": "", "top": "float32",
    "zero_point": "",
}  # fmt: skip
"""The operands that `requantize` may be given, in this order, and the type of floats that they are of."""


def _parameter(op: str, name: str, value: Operand, x: te.Tensor, axis: int) -> Callable[[Sequence[te.Expr]], Number]:
    """How to read a scale or zero point: a function of the index. It is a number, one element, or one for each position
    of the axis."""
    if not isinstance(value, te.Tensor):
        return lambda i: value
    if value.ndim == 0 or (value.ndim == 1 and is_one(value.shape[0])):
        return lambda i: value(*(0,) * value.ndim)
    if value.ndim != 1 or not are_equal(value.shape[0], x.shape[axis]):
        problem = f"{describe_tensor(name, value)} at axis {axis} of {describe_tensor('data', x)}"
        raise refuse(op, problem, f"pass one number, or {x.shape[axis]} of them")
    return lambda i: value(i[axis])


def quantize(
    data: te.Tensor, scale: Operand, zero_point: Operand = 0, axis: int = -1, out_dtype: str = "int8"
) -> te.Tensor:
    """round(data / scale) + zero_point, ties to even, limited to the range of the type.

    scale, zero_point: a number, a tensor of one, or of one for each position of the axis.
    """
    x = floats("quantize", "data", data)
    one_of("quantize", "out_dtype", out_dtype, list(LIMITS))
    dim, wide = axis_of("quantize", axis, x.ndim), wide_type(x.dtype)
    by, zero = (_parameter("quantize", n, v, x, dim) for n, v in (("scale", scale), ("zero_point", zero_point)))

    def element(*i: te.Expr) -> te.Expr:
        return _round_value(as_type(x(*i), x.dtype, wide) / constant(by(i), wide), constant(zero(i), wide), out_dtype)

    return te.compute(x.shape, element, name="T_quantize")


def round_to(data: te.Tensor, out_dtype: str = "int8", zero_point: te.Tensor | float = 0) -> te.Tensor:
    """round(data) + zero_point, ties to even, limited to the range of a type of integers: "int8", "uint8", "int16".

    zero_point: a number, or a tensor of one.
    """
    x = floats("round_to", "data", data)
    low, _ = LIMITS[one_of("round_to", "out_dtype", out_dtype, list(LIMITS))]
    wide, shifted = wide_type(x.dtype), isinstance(zero_point, te.Tensor) or zero_point != 0
    if isinstance(zero_point, float) and zero_point.is_integer():  # a number of a graph is one of the type of the data
        zero_point = int(zero_point)
    given = zero_point if isinstance(zero_point, te.Tensor) else integer("round_to", "zero_point", zero_point, low)
    zero = _parameter("round_to", "zero_point", given, x, -1)

    def element(*i: te.Expr) -> te.Expr:
        return _round_value(as_type(x(*i), x.dtype, wide), constant(zero(i), wide) if shifted else None, out_dtype)

    return te.compute(x.shape, element, name="T_round")


def _round_value(value: te.Expr, zero: te.Expr | None, dtype: str) -> te.Expr:
    """round(value) + zero, limited to the range of a type of integers."""
    low, high = (constant(end, value.dtype) for end in LIMITS[dtype])
    rounded = te.round(value)
    return te.min(te.max(rounded if zero is None else rounded + zero, low), high).astype(dtype)


def requantize(
    data: te.Tensor,
    scale: te.Tensor | float,
    *operands: te.Tensor,
    given: str = "",
    relu: bool = False,
    out_dtype: str = "int8",
) -> te.Tensor:
    """Integers, such as sums, scaled and rounded, ties to even, to the range of a type: "int8", "uint8", "int16".

        y = (data - offset) * scale + bias + (addend - addend_zero) * addend_scale
        round(min(max(y, 0) if relu else y, top)) + zero_point

    given: which of these operands, in this order, follow the scale, as "bias zero_point"; without one, its operation is
    left out. All broadcast to one shape, are float32 but the integers offset, addend, addend_zero and zero_point, and
    are computed in this order: each step as an operator of its own would. out_dtype: "float32" does not round. data of
    float32 is scaled as well.
    """
    op, named = "requantize", given.split()
    one_of(op, "out_dtype", out_dtype, [*LIMITS, "float32"])
    if named != [name for name in MORE_OF_SUMS if name in named] or len(named) != len(operands):
        problem, order = f"given={given!r} for {len(operands)} operands behind the scale", " ".join(MORE_OF_SUMS)
        raise refuse(op, problem, f"name each of them once, in the order {order}")
    if ("addend" in named) != ("addend_scale" in named) or ("addend_zero" in named and "addend" not in named):
        raise refuse(op, f"given={given!r}", "name addend with addend_scale")
    values = {"data": data, "scale": scale, **dict(zip(named, operands, strict=True))}
    tensors = {name: value for name, value in values.items() if isinstance(value, te.Tensor)}
    for name, x in tensors.items():
        types = ["int32", *LIMITS, "float32"] if name == "data" else [MORE_OF_SUMS.get(name, "float32")]
        if types != [""]:
            of_type(op, name, x, types, f"of {' or '.join(types)}")
    shape = broadcast_shape(op, *(x.shape for x in tensors.values()))

    def element(*i: te.Expr) -> te.Expr:
        at = {n: read(v, i, shape) if isinstance(v, te.Tensor) else constant(v, "float32") for n, v in values.items()}
        return _requantize_value(at, relu, out_dtype)

    return te.compute(shape, element, name="T_requantize")


def _requantize_value(at: Mapping[str, te.Expr], relu: bool, dtype: str) -> te.Expr:
    """An element of `requantize`, of those of its operands."""
    total = at["data"] if at["data"].dtype == "float32" else constant(at["data"], "int32")
    total = total - constant(at["offset"], total.dtype) if "offset" in at else total
    value = constant(total, "float32") * at["scale"]
    value = value + at["bias"] if "bias" in at else value
    if "addend" in at:
        added = constant(at["addend"], "int32")
        added = added - constant(at["addend_zero"], "int32") if "addend_zero" in at else added
        value = value + added.astype("float32") * at["addend_scale"]
    value = te.max(value, constant(0, "float32")) if relu else value
    value = te.min(value, at["top"]) if "top" in at else value
    if dtype == "float32":
        return value
    return _round_value(value, constant(at["zero_point"], "float32") if "zero_point" in at else None, dtype)


def dequantize(
    data: te.Tensor, scale: Operand, zero_point: Operand = 0, axis: int = -1, out_dtype: str = "float32"
) -> te.Tensor:
    """(data - zero_point) * scale, in floats.

    scale, zero_point: a number, a tensor of one, or of one for each position of the axis.
    """
    x = tensor("dequantize", "data", data)
    if is_float(x.dtype) or x.dtype == "bool":
        raise refuse("dequantize", f"{describe_tensor('data', x)} is not of integers", "pass what quantize made")
    one_of("dequantize", "out_dtype", out_dtype, FLOATS)
    dim, wide = axis_of("dequantize", axis, x.ndim), wide_type(out_dtype)
    by, zero = (_parameter("dequantize", n, v, x, dim) for n, v in (("scale", scale), ("zero_point", zero_point)))
    shifted = isinstance(zero_point, te.Tensor) or zero_point != 0

    def element(*i: te.Expr) -> te.Expr:
        value = x(*i).astype("int32") if x.dtype != "int32" else x(*i)
        value = value - constant(zero(i), "int32") if shifted else value
        return as_type(value.astype(wide) * constant(by(i), wide), wide, out_dtype)

    return te.compute(x.shape, element, name="T_dequantize")


def unpack_int4(data: te.Tensor, group_size: int = 32, order: str = "halves", zero_point: int = 8) -> te.Tensor:
    """Numbers of 4 bits, two in a byte, as int8: (.., k / 2) -> (.., k). A stored q, 0 to 15, means q - zero_point.

    group_size, order: which two share a byte, as of dequantize_group.
    """
    op = "unpack_int4"
    x = of_type(op, "data", tensor(op, "data", data), ("uint8",), "of uint8")
    one_of(op, "order", order, ["halves", "pairs"])
    group, count = integer(op, "group_size", group_size, 2), None if x.ndim < 1 else simple(x.shape[-1] * 2)
    if count is None or group % 2 or exact_quotient([count], [group]) is None:
        raise refuse(op, f"{describe_tensor('data', x)} for groups of {group}", "pass rows of whole, even groups")
    zero = integer(op, "zero_point", zero_point)

    def element(*i: te.Expr) -> te.Expr:
        return (_read_nibble(x, i, group, order) - zero).astype("int8")

    return te.compute((*x.shape[:-1], count), element, name="T_unpack")


def _read_nibble(x: te.Tensor, index: Sequence[te.Expr], group: int, order: str) -> te.Expr:
    """The number of 4 bits of an index of the unpacked tensor, in int32."""
    (*outer, r), half = index, group // 2
    byte = r // 2 if order == "pairs" else r // group * half + r % half
    low = r % 2 if order == "pairs" else r % group // half
    return (x(*outer, byte).astype("int32") >> low * 4) & 15


def dequantize_group(
    data: te.Tensor,
    scale: te.Tensor,
    zero_point: int = 8,
    group_size: int = 32,
    order: str = "halves",
    out_dtype: str | None = None,
    bits: int = 4,
) -> te.Tensor:
    """Numbers of 4 bits, two in a byte, times the scale of their group: (n, k / 2), (n, k / group) -> (n, k).

    A stored q, 0 to 15, means (q - zero_point) * scale. order: which two share a byte, the first in its low half:
    "pairs" neighbours; "halves" the elements j and j + group / 2 of a group, which vectors unpack without a shuffle.
    bits: 8 for int8, one number in a byte, that means q * scale: (n, k), (n, k / group) -> (n, k).
    """
    op = "dequantize_group"
    if bits not in (4, 8):
        raise refuse(op, f"bits={bits!r}", "pass 4 or 8")
    kind = "uint8" if bits == 4 else "int8"
    x, s = of_type(op, "data", tensor(op, "data", data), (kind,), f"of {kind}"), floats(op, "scale", scale)
    one_of(op, "order", order, ["halves", "pairs"])
    to = one_of(op, "out_dtype", out_dtype or s.dtype, FLOATS)
    group = integer(op, "group_size", group_size, 2)
    if x.ndim < 1 or x.ndim != s.ndim or group % 2 or not all(map(are_equal, x.shape[:-1], s.shape[:-1])):
        raise refuse(
            op, f"{describe_tensor('data', x)} and {describe_tensor('scale', s)}", "pass one scale for an even group"
        )
    count = simple(x.shape[-1] * (8 // bits))
    if not are_equal(s.shape[-1] * group, count) or exact_quotient([count], [group]) is None:
        problem = (
            f"{count} numbers in {describe_tensor('data', x)}, {describe_tensor('scale', s)} for groups of {group}"
        )
        raise refuse(op, problem, f"pass one scale for each {group} numbers")
    wide = wide_type(to)

    def element(*i: te.Expr) -> te.Expr:
        outer, r = i[:-1], i[-1]
        by = as_type(s(*outer, r // group), s.dtype, wide)
        if bits == 8:
            return as_type(x(*outer, r).astype("int32").astype(wide) * by, wide, to)
        value = (_read_nibble(x, i, group, order) - integer(op, "zero_point", zero_point)).astype(wide)
        return as_type(value * by, wide, to)

    return te.compute((*x.shape[:-1], count), element, name="T_dequantize")


def dense_groups(
    data: te.Tensor,
    weight: te.Tensor,
    scale: te.Tensor,
    offset: te.Tensor | None = None,
    group_size: int = 32,
    bits: int = 4,
) -> te.Tensor:
    """Rows of int8 by a matrix of few bits, in float32: a group's sum is of integers, and has one scale.

        y[.., i, j] = sum over groups g: scale[j, g] * (sum over k in g: x[.., i, k] * (q[j, k] - zero))

    data: int8 (.., m, k); weight: uint8 (n, k / 2), numbers q of 4 bits in the order "halves" of dequantize_group,
    zero = 8; or bits=8: (n, k), zero = 128; scale: floats (n, k / group). offset: floats (n, k / group), instead of a
    zero: a stored q means q * scale - offset. group_size: a multiple of 8. Sums of integers are exact, as int32 is.
    """
    x, w, s, group = _group_operands("dense_groups", data, weight, scale, group_size, bits)
    columns, groups, zero = w.shape[0], s.shape[1], 8 if bits == 4 else 128

    def unpacked_weight(*i: te.Expr) -> te.Expr:
        return w(*i) if bits == 8 else _read_nibble(w, i, group, "halves").astype("uint8")

    q = te.compute((columns, x.shape[-1]), unpacked_weight, name="T_unpack")
    t, u, g = (te.reduce_axis((0, end), name=name) for end, name in ((group, "t"), (group, "t"), (groups, "g")))

    def row_sum(*i: te.Expr) -> te.ReductionValue:
        value = x(*i[:-1], i[-1] * group + t).astype("int32")
        return te.sum(value * zero if offset is None else value, axis=t)

    def group_sum(*i: te.Expr) -> te.ReductionValue:
        *row, j, n = i
        return te.sum(x(*row, n * group + u).astype("int32") * q(j, n * group + u).astype("int32"), axis=u)

    rows = te.compute((*x.shape[:-1], groups), row_sum, name="T_rows")
    parts = te.compute((*x.shape[:-1], columns, groups), group_sum, name="T_groups")

    def element(*i: te.Expr) -> te.ReductionValue:
        *row, j = i
        by, part = as_type(s(j, g), s.dtype, "float32"), parts(*row, j, g)
        if offset is None:
            return te.sum((part - rows(*row, g)).astype("float32") * by, axis=g)
        less = as_type(offset(j, g), offset.dtype, "float32")
        return te.sum(part.astype("float32") * by - rows(*row, g).astype("float32") * less, axis=g)

    return te.compute((*x.shape[:-1], columns), element, name="T_dense")


def _group_operands(
    op: str, data: te.Tensor, weight: te.Tensor, scale: te.Tensor, group_size: int, bits: int
) -> tuple[te.Tensor, te.Tensor, te.Tensor, int]:
    """The operands of a product by group, and the size of a group. Refuses what does not fit."""
    if bits not in (4, 8):
        raise refuse(op, f"bits={bits!r}", "pass 4 or 8")
    x = of_type(op, "data", tensor(op, "data", data), ("int8",), "of int8")
    w, s = of_type(op, "weight", tensor(op, "weight", weight), ("uint8",), "of uint8"), floats(op, "scale", scale)
    group = integer(op, "group_size", group_size, 8)
    if x.ndim < 2 or w.ndim != 2 or group % 8 or not _has_group_shapes(x, w, s, group, bits):
        tensors = f"{describe_tensor('data', x)}, {describe_tensor('weight', w)} and {describe_tensor('scale', s)}"
        raise refuse(
            op, f"{tensors} for groups of {group}", "pass a scale for each group, whose size is a multiple of 8"
        )
    return x, w, s, group


def _has_group_shapes(x: te.Tensor, weight: te.Tensor, scale: te.Tensor, group: int, bits: int) -> bool:
    """Whether weights and scales are those of rows of whole groups."""
    count = simple(weight.shape[1] * (8 // bits))
    of_rows = (
        scale.ndim == 2 and are_equal(scale.shape[0], weight.shape[0]) and are_equal(scale.shape[1] * group, count)
    )
    return of_rows and are_equal(x.shape[-1], count)
