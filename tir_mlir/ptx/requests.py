"""How many passes over the banks, or sectors, the requests of warps take."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tir_mlir.ptx.report import AccessCount


def counter(row: AccessCount, size: int) -> Callable[[Any, np.ndarray], None]:
    """A function (lanes, addresses) that adds to `row`. A pattern of the call before, moved by whole banks or
    sectors, is not counted again."""
    count, unit = (_passes, max(4, size)) if row.space == "shared" else (_sectors, 32)
    last_lanes: Any = None
    pattern: np.ndarray | None = None
    result = (0, 0, 0)

    def add(lanes: Any, address: np.ndarray) -> None:
        nonlocal last_lanes, pattern, result
        relative = address - (int(address[0]) & -unit)
        slices = isinstance(lanes, slice) and isinstance(last_lanes, slice)
        same_lanes = lanes is last_lanes or (slices and lanes == last_lanes)
        if not (same_lanes and pattern is not None and np.array_equal(relative, pattern)):
            warps = _warps(lanes, len(address))
            result = count(warps, relative, size)
            last_lanes, pattern = lanes, relative
        row.requests += result[0]
        row.units += result[1]
        row.least += result[2]

    return add


def _warps(lanes: Any, count: int) -> np.ndarray:
    """The lanes of addresses."""
    if isinstance(lanes, slice):
        start = lanes.start or 0
        return np.arange(start, start + count)
    return np.asarray(lanes)


def _pairs(group: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct pairs, with groups numbered from 0 without gaps."""
    item = item - item.min()
    width = int(item.max()) + 1
    pairs = np.unique(group * width + item)
    group = pairs // width
    number = np.cumsum(np.concatenate([[0], group[1:] != group[:-1]]))
    return number, pairs % width


def _passes(lanes: np.ndarray, address: np.ndarray, size: int) -> tuple[int, int, int]:
    """(requests, passes, fewest possible) over 32 banks of 4 bytes: lanes that read one word share a pass; accesses
    of 8 and 16 bytes go by half and quarter warps."""
    words = max(1, size // 4)
    group, item = _pairs(lanes * words // 32, address // max(4, size))
    banks = (item * words % 32)[:, None] + np.arange(words)
    banks_used = np.bincount((group[:, None] * 32 + banks).ravel(), minlength=32 * (int(group[-1]) + 1)).reshape(-1, 32)
    return _count(lanes // 32), int(banks_used.max(1).sum()), int(-(-banks_used.sum(1) // 32).sum())


def _sectors(lanes: np.ndarray, address: np.ndarray, size: int) -> tuple[int, int, int]:
    """(requests, sectors of 32 bytes, fewest possible for as many bytes)."""
    warps = lanes // 32
    sectors, _ = _pairs(warps, address >> 5)
    units, _ = _pairs(warps, address // size)
    bytes_ = np.bincount(units) * size
    return len(bytes_), len(sectors), int(-(-bytes_ // 32).sum())


def _count(groups: np.ndarray) -> int:
    """How many different numbers a sorted array has."""
    return int((groups[1:] != groups[:-1]).sum()) + 1
