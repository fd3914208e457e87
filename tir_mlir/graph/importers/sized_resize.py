"""Tables of the elements that each element of a resized axis is made of, of sizes known when the model runs."""

from __future__ import annotations

from collections.abc import Callable

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError


class SizedTable:
    """The tables of an axis of `old` elements that gets `new`, te expressions; scale: None for new / old.

    Positions are computed in float32, as by ONNX Runtime.
    """

    def __init__(self, old: te.Expr | int, new: te.Expr | int, scale: float | None):
        self.old, self.new = old, new
        self.scale = _float(new) / _float(old) if scale is None else _float(scale)

    def nearest(self, positions: str, rounds: str) -> list[te.Tensor]:
        """The nearest positions, (new, 1)."""
        rules: dict[str, Callable[[te.Expr], te.Expr]] = {
            "round_prefer_floor": lambda x: te.ceil(x - 0.5),
            "round_prefer_ceil": lambda x: te.floor(x + 0.5),
            "floor": te.floor,
            "ceil": te.ceil,
        }
        if rounds not in rules:
            raise GraphError(f"nearest_mode={rounds}\n  fix: one of {', '.join(rules)}")
        position = lambda i, _: self._clamp_index(te.cast(rules[rounds](self._source_position(i, positions)), "int32"))  # noqa: E731
        return [te.compute((self.new, 1), position, name="positions")]

    def weighted_taps(self, positions: str, mode: str, a: float) -> list[te.Tensor]:
        """The neighbours, 2 for "linear" and 4 for "cubic" with its coefficient a, and their weights."""
        taps, first = (2, 0) if mode == "linear" else (4, -1)

        def weight(i: te.Var, t: te.Var) -> te.Expr:
            at = self._source_position(i, positions)
            d = te.abs(at - te.floor(at) - te.cast(t + first, "float32"))
            if mode == "linear":
                return te.max(1.0 - d, 0.0)
            near, far = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0, ((d - 5.0) * d + 8.0) * d * a - 4.0 * a
            return te.Select(d <= 1.0, near, te.Select(d < 2.0, far, _float(0.0)))

        position = lambda i, t: self._clamp_index(  # noqa: E731
            te.cast(te.floor(self._source_position(i, positions)), "int32") + t + first
        )
        shape = (self.new, taps)
        return [te.compute(shape, position, name="positions"), te.compute(shape, weight, name="weights")]

    def _source_position(self, i: te.Var, mode: str) -> te.Expr:
        """Where an element of the result lies among the old ones."""
        x = _float(i)
        halves, old = (x + 0.5) / self.scale - 0.5, _float(self.old)
        if mode == "half_pixel":
            return halves
        if mode == "pytorch_half_pixel":
            return te.Select(_float(self.new) > 1.0, halves, _float(0.0))
        if mode == "half_pixel_symmetric":
            return old * 0.5 * (1.0 - _float(self.new) / (self.scale * old)) + (x + 0.5) / self.scale - 0.5
        if mode == "align_corners":
            return x * (old - 1.0) / te.max(_float(self.new) - 1.0, 1.0)
        if mode == "asymmetric":
            return x / self.scale
        if mode == "tf_half_pixel_for_nn":
            return (x + 0.5) / self.scale
        raise GraphError(f"coordinate_transformation_mode={mode}\n  fix: one that ONNX defines")

    def _clamp_index(self, position: te.Expr) -> te.Expr:
        return te.max(te.min(position, self.old - 1), 0)


def _float(size: te.Expr | float) -> te.Expr:
    """A size, or a number, in float32."""
    return te.cast(float(size) if isinstance(size, int) else size, "float32")
