"""Tensor maps: the arrays that tensor copies (TMA) read and write tiles of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tir_mlir.errors import PtxError


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A kernel argument instead of a `CUtensorMap`: tiles of `box` elements (in the order of the array's
    dimensions) of a contiguous array. `swizzle`: 0, 32, 64 or 128 bytes. Elements outside of the array are zeros."""

    array: np.ndarray
    box: tuple[int, ...]
    swizzle: int = 0

    def __post_init__(self) -> None:
        if len(self.box) != self.array.ndim or not self.array.flags.c_contiguous:
            raise PtxError("a tensor map needs a contiguous array and a box of as many dimensions", "launch")
        if self.swizzle not in (0, 32, 64, 128):
            raise PtxError(f"a tensor map has a swizzle of 0, 32, 64 or 128 bytes, not {self.swizzle}", "launch")
        row = self.box[-1] * self.array.itemsize
        if max(self.box) > 256 or row % 16 or (self.swizzle and row > self.swizzle):
            raise PtxError(
                f"the box {self.box}: at most 256 elements a dimension, the last one a multiple of 16 bytes and "
                f"at most the swizzle of {self.swizzle} bytes", "launch",
            )  # fmt: skip

    @property
    def bytes(self) -> int:
        """The bytes of a tile."""
        return int(np.prod(self.box)) * self.array.itemsize

    def tile(self, coordinates: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates, the last dimension first -> the offset of each element of the tile in the array (in bytes),
        and which of them are inside of it."""
        start = list(coordinates)[::-1]
        offset = np.zeros(self.box, np.int64)
        in_bounds = np.ones(self.box, np.bool_)
        for d, extent in enumerate(self.box):
            index = (start[d] + np.arange(extent)).reshape([-1 if i == d else 1 for i in range(len(self.box))])
            in_bounds &= (index >= 0) & (index < self.array.shape[d])
            offset = offset + index * self.array.strides[d]
        return offset.ravel(), in_bounds.ravel()

    def element_addresses(self, address: int) -> np.ndarray:
        """The address in shared memory of each element of a tile that starts at `address`."""
        addresses = address + np.arange(int(np.prod(self.box)), dtype=np.int64) * self.array.itemsize
        return swizzle_address(addresses, self.swizzle)


def swizzle_address(address: np.ndarray, swizzle: int) -> np.ndarray:
    """Bits 4.. of an address, changed by bits 7..: three bits for 128 bytes, two for 64, one for 32."""
    if not swizzle:
        return address
    mask = {32: 1, 64: 3, 128: 7}[swizzle]
    return address ^ (((address >> 7) & mask) << 4)
