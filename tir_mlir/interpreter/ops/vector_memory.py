"""Run-time loads and stores of vectors; a vector is the row-major list of its lanes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tir_mlir.interpreter.memory import View, raise_out_of_bounds
from tir_mlir.interpreter.poison import POISON

if TYPE_CHECKING:
    from tir_mlir.interpreter.diagnose import Watch
    from tir_mlir.interpreter.poison import Number


Index = tuple[int, ...]


class VectorMemory:
    """Loads and stores of vectors. `watch` is None if the program has no concurrent loops."""

    def __init__(self, watch: Watch, unwritten: Callable[[View, Index], Number]):
        self.watch = watch
        self.unwritten = unwritten

    def load(self, view: View, corner: Index, shape: Index, watched: bool, number: int) -> list[Number]:
        """The lanes of a box of `shape` in the last dimensions, starting at `corner`. Errors: OutOfBoundsError."""
        offsets = self._box(view, corner, shape)
        if watched:
            self._touch(view, offsets, False, number)
        data = view.data
        lanes = [data[p] for p in offsets]
        if POISON in _kinds(lanes):
            for n, p in enumerate(offsets):
                if data[p] is POISON:
                    lanes[n] = self.unwritten(view, _lane(corner, shape, n))
        return lanes

    def store(
        self, view: View, corner: Index, shape: Index, values: Sequence[Number], watched: bool, number: int
    ) -> None:
        offsets = self._box(view, corner, shape)
        if watched:
            self._touch(view, offsets, True, number)
        data = view.data
        for p, value in zip(offsets, values, strict=True):
            data[p] = value

    def masked_load(
        self, view: View, base: Index, mask: Sequence[Number], pass_thru: Sequence[Number], watched: bool
    ) -> list[Number]:
        """The elements of active lanes; `pass_thru` elsewhere."""
        return [
            self.load_element(view, (*base[:-1], base[-1] + n), watched) if m else pass_thru[n]
            for n, m in enumerate(mask)
        ]

    def masked_store(
        self, view: View, base: Index, mask: Sequence[Number], values: Sequence[Number], watched: bool
    ) -> None:
        for n, m in enumerate(mask):
            if m:
                self.store_element(view, (*base[:-1], base[-1] + n), values[n], watched)

    def gather(
        self,
        view: View,
        base: Index,
        steps: Sequence[int],
        mask: Sequence[Number],
        pass_thru: Sequence[Number],
        watched: bool,
    ) -> list[Number]:
        last = base[-1]
        return [
            self.load_element(view, (*base[:-1], last + s), watched) if m else o
            for s, m, o in zip(steps, mask, pass_thru, strict=True)
        ]

    def scatter(
        self,
        view: View,
        base: Index,
        steps: Sequence[int],
        mask: Sequence[Number],
        values: Sequence[Number],
        watched: bool,
    ) -> None:
        for s, m, v in zip(steps, mask, values, strict=True):
            if m:
                self.store_element(view, (*base[:-1], base[-1] + s), v, watched)

    def load_element(self, view: View, index: Index, watched: bool) -> Number:
        offset = view.offset_of(index)
        if watched:
            self.watch.touch(view.memory, offset, False, 0)
        value = view.data[offset]
        return self.unwritten(view, index) if value is POISON else value

    def store_element(self, view: View, index: Index, value: Number, watched: bool) -> None:
        offset = view.offset_of(index)
        if watched:
            self.watch.touch(view.memory, offset, True, 0)
        view.data[offset] = value

    # -- transfers: map dimensions of the memref to those of the vector; out-of-bounds lanes read the padding --------

    def transfer_read(
        self,
        view: View,
        corner: Index,
        shape: Index,
        dims: Sequence[int],
        in_bounds: Sequence[bool],
        padding: Number,
        mask: Sequence[Number] | None,
        watched: bool,
    ) -> list[Number]:
        """`dims[n]`: the memref dimension of vector dimension n; -1: broadcast."""
        lanes = []
        for number, index in enumerate(_elements(corner, shape, dims)):
            if (mask is not None and not mask[number]) or _is_out(view, index, dims, in_bounds):
                lanes.append(padding)
            else:
                lanes.append(self.load_element(view, index, watched))
        return lanes

    def transfer_write(
        self,
        view: View,
        corner: Index,
        shape: Index,
        dims: Sequence[int],
        in_bounds: Sequence[bool],
        values: Sequence[Number],
        mask: Sequence[Number] | None,
        watched: bool,
    ) -> None:
        for number, index in enumerate(_elements(corner, shape, dims)):
            if (mask is None or mask[number]) and not _is_out(view, index, dims, in_bounds):
                self.store_element(view, index, values[number], watched)

    # -- offsets ---------------------------------------------------------------------------------------------------

    def _box(self, view: View, corner: Index, shape: Index) -> Sequence[int]:
        first = len(corner) - len(shape)
        extents = (*(1 for _ in range(first)), *shape)
        if not all(0 <= i and i + e <= n for i, e, n in zip(corner, extents, view.shape, strict=True)):
            raise_out_of_bounds(view, corner, f" with {'x'.join(map(str, shape))} lanes")
        start = view.offset + sum(i * s for i, s in zip(corner, view.strides, strict=True))
        if len(shape) == 1:
            step = view.strides[-1]
            return range(start, start + shape[0] * step, step) if step else [start] * shape[0]
        steps = view.strides[first:]
        return [
            start + sum(i * s for i, s in zip(p, steps, strict=True)) for p in itertools.product(*map(range, shape))
        ]

    def _touch(self, view: View, offsets: Sequence[int], write: bool, number: int) -> None:
        for offset in offsets:
            self.watch.touch(view.memory, offset, write, number)


def _kinds(values: Sequence[Number]) -> set[Number]:
    return {POISON} if any(v is POISON for v in values) else set()


def _lane(corner: Index, shape: Index, number: int) -> Index:
    index = list(corner)
    for d in reversed(range(len(shape))):
        number, coordinate = divmod(number, shape[d])
        index[len(corner) - len(shape) + d] += coordinate
    return tuple(index)


def _elements(corner: Index, shape: Index, dims: Sequence[int]) -> list[Index]:
    indices = []
    for point in itertools.product(*map(range, shape)):
        index = list(corner)
        for step, dim in zip(point, dims, strict=True):
            if dim >= 0:
                index[dim] += step
        indices.append(tuple(index))
    return indices


def _is_out(view: View, index: Index, dims: Sequence[int], in_bounds: Sequence[bool]) -> bool:
    """Whether an element is out of bounds in a dimension that is not in_bounds."""
    return any(d >= 0 and not ok and not 0 <= index[d] < view.shape[d] for d, ok in zip(dims, in_bounds, strict=True))


# --- masks and permutations of lanes ----------------------------------------------------------------------------------


def create_mask(bounds: Index, shape: Index) -> list[bool]:
    """True where every index is less than its bound."""
    return [all(i < b for i, b in zip(p, bounds, strict=True)) for p in itertools.product(*map(range, shape))]


def transpose_lanes(values: Sequence[Number], shape: Index, order: Sequence[int]) -> list[Number]:
    strides = [0] * len(shape)
    step = 1
    for d in reversed(range(len(shape))):
        strides[d], step = step, step * shape[d]
    points = itertools.product(*[range(shape[d]) for d in order])
    return [values[sum(i * strides[d] for i, d in zip(p, order, strict=True))] for p in points]


def spread(values: Sequence[Number], shape: Index, to: Index) -> list[Number]:
    """vector.broadcast: unit dimensions repeat, new dimensions are leading."""
    padded_shape = (*(1 for _ in range(len(to) - len(shape))), *shape)
    lanes = []
    for point in itertools.product(*map(range, to)):
        lane = 0
        for i, n in zip(point, padded_shape, strict=True):
            lane = lane * n + (i if n > 1 else 0)
        lanes.append(values[lane])
    return lanes


def box_lanes(shape: Index, offsets: Index, sizes: Index, steps: Index) -> list[int]:
    """The lane numbers of a strided box in a vector."""
    lanes = []
    for point in itertools.product(*map(range, sizes)):
        lane = 0
        for i, o, s, n in zip(point, offsets, steps, shape, strict=True):
            lane = lane * n + o + i * s
        lanes.append(lane)
    return lanes
