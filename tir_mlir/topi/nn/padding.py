"""Padding of tensors, and the numbers that convolutions and pools take for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.topi.operands import Ints, constant, describe_tensor, integer, integers, one_of, refuse, tensor
from tir_mlir.topi.sizes import number, simple

__all__ = ["pad"]


def window_padding(op: str, padding: Ints, count: int) -> list[tuple[int, int]]:
    """Padding before and after each of `count` axes: one number, one for each, or all before, then all after."""
    amounts = padding if isinstance(padding, (tuple, list)) else (padding,)
    if len(amounts) not in (1, count, 2 * count):
        problem = f"padding={short_repr(padding)} has {len(amounts)} numbers"
        raise refuse(op, problem, f"pass one, {count} (both sides alike), or {2 * count} (before.., after..)")
    values = [integer(op, "padding", p, 0) for p in amounts]
    values = values * count if len(values) == 1 else values
    return list(zip(values[:count], values[-count:], strict=True))


def pad_axes(
    x: te.Tensor, sides: Mapping[int, tuple[int, int]], value: te.Expr | float, name: str = "pad_temp"
) -> te.Tensor:
    """The tensor with `value` before and after some axes; itself if there is nothing to pad."""
    wide = {a: s for a, s in sides.items() if s != (0, 0)}
    if not wide:
        return x
    shape = tuple(simple(n + sum(wide.get(a, (0, 0)))) for a, n in enumerate(x.shape))

    def element(*i: te.Expr) -> te.Expr:
        tests = [t for a, (p, _) in wide.items() for t in (i[a] >= p, i[a] < x.shape[a] + p)]
        source = x(*(v - wide[a][0] if a in wide else v for a, v in enumerate(i)))
        return te.if_then_else(te.all(*tests), source, constant(value, x.dtype))

    return te.compute(shape, element, name=name)


def pad(
    data: te.Tensor,
    pad_before: te.Shape,
    pad_after: te.Shape | None = None,
    pad_value: float = 0.0,
    pad_mode: str = "constant",
    name: str = "PadInput",
) -> te.Tensor:
    """Elements before and after each axis: a number, or ("reflect") the elements mirrored at the edge, or ("edge") the
    edge repeated, or ("wrap", "circular") those of the other end.

    pad_before, pad_after: a number for each axis; pad_after: default pad_before. Negative ones cut off (only
    "constant"). name: of its block.
    """
    x = tensor("nn.pad", "data", data)
    one_of("nn.pad", "pad_mode", pad_mode, ["constant", "reflect", "edge", "replicate", "wrap", "circular"])
    lows = integers("nn.pad", "pad_before", pad_before, x.ndim)
    highs = lows if pad_after is None else integers("nn.pad", "pad_after", pad_after, x.ndim)
    if pad_mode == "constant":
        cut = _cut(x, lows, highs)
        sides = {a: (max(b, 0), max(e, 0)) for a, (b, e) in enumerate(zip(lows, highs, strict=True))}
        result = pad_axes(cut, sides, pad_value, name)
        return result if result is not x else te.compute(x.shape, lambda *i: x(*i), name=name)
    if pad_mode in ("wrap", "circular"):
        return _wrap_axes(x, lows, highs, name)
    return _mirror_axes(x, lows, highs, pad_mode == "reflect", name)


def _cut(x: te.Tensor, lows: Sequence[int], highs: Sequence[int]) -> te.Tensor:
    starts, ends = ([max(-v, 0) for v in side] for side in (lows, highs))
    if not any(starts) and not any(ends):
        return x
    shape = tuple(simple(n - s - e) for n, s, e in zip(x.shape, starts, ends, strict=True))
    if any((number(n) or 0) < 0 for n in shape):
        raise refuse("nn.pad", f"{describe_tensor('data', x)} is shorter than what is cut off", "cut off less")
    return te.compute(shape, lambda *i: x(*(v + s for v, s in zip(i, starts, strict=True))), name="T_cut")


def _wrap_axes(x: te.Tensor, lows: Sequence[int], highs: Sequence[int], name: str) -> te.Tensor:
    for a, n in enumerate(x.shape):
        least, size = min(lows[a], highs[a]), number(n)
        if least < 0 or (size == 0 and max(lows[a], highs[a])):
            problem = f"padding {lows[a]}, {highs[a]} of axis {a} of {describe_tensor('data', x)}"
            raise refuse("nn.pad", problem, "pad an axis with elements, and do not cut off")
    shape = tuple(simple(n + b + e) for n, b, e in zip(x.shape, lows, highs, strict=True))

    def source(a: int, v: te.Expr) -> te.Expr:
        return v if lows[a] == highs[a] == 0 else (v - lows[a]) % x.shape[a]

    def positions(v: te.Expr, low: int, size: int) -> tuple[te.Size, te.Size]:
        return v + (size - low), v - (low + size)

    return te.compute(shape, lambda *i: _element(x, i, source, positions, lows, highs), name=name)


def _element(
    x: te.Tensor,
    index: Sequence[te.Expr],
    source: Callable[[int, te.Expr], te.Expr],
    positions: Callable[[te.Expr, int, int], tuple[te.Size, te.Size]],
    lows: Sequence[int],
    highs: Sequence[int],
) -> te.Expr:
    """An element of the input, at the positions that `source` gives for axes; along the last one of a known size by
    its place: before the input, in it or behind it, as adjacent elements of a row are adjacent there.

    positions: the positions in the input of those before and behind it.
    """
    *outer, v = index
    start, low, size = [source(a, i) for a, i in enumerate(outer)], lows[-1], number(x.shape[-1])
    if size is None or not low + highs[-1] or max(low, highs[-1]) > size:
        return x(*start, source(len(outer), v))
    before, behind = positions(v, low, size)
    value = x(*start, v - low)
    if highs[-1]:
        value = te.if_then_else(v < low + size, value, x(*start, behind))
    return te.if_then_else(v < low, x(*start, before), value) if low else value


def _mirror_axes(x: te.Tensor, lows: Sequence[int], highs: Sequence[int], reflect: bool, name: str) -> te.Tensor:
    for a, n in enumerate(x.shape):
        most = max(lows[a], highs[a])
        if min(lows[a], highs[a]) < 0 or (reflect and (size := number(n)) is not None and most >= max(size, 1)):
            problem = f"padding {lows[a]}, {highs[a]} of axis {a} of {describe_tensor('data', x)}"
            raise refuse("nn.pad", problem, "reflect less than the axis has, and do not cut off")
    shape = tuple(simple(n + b + e) for n, b, e in zip(x.shape, lows, highs, strict=True))

    def source(a: int, v: te.Expr) -> te.Expr:
        if lows[a] == highs[a] == 0:
            return v
        mirrored, last = v - lows[a], x.shape[a] - 1
        if reflect:
            mirrored = te.Select(mirrored < 0, 0 - mirrored, mirrored)
            mirrored = te.Select(mirrored > last, last * 2 - mirrored, mirrored)
        return te.max(te.min(mirrored, last), 0)

    def positions(v: te.Expr, low: int, size: int) -> tuple[te.Size, te.Size]:
        return (low - v, 2 * (size - 1) + low - v) if reflect else (0, size - 1)

    return te.compute(shape, lambda *i: _element(x, i, source, positions, lows, highs), name=name)
