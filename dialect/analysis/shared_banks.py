"""How many passes over the banks of shared memory the accesses of warps take."""

from __future__ import annotations

import numpy as np

BANKS, BANK_BYTES, WARP = 32, 4, 32


def bank_passes(lanes: np.ndarray, address: np.ndarray, size: int) -> tuple[int, int, int]:
    """(requests, passes, fewest possible) of accesses of `size` bytes: lanes that read one word share a pass;
    accesses of 8 and 16 bytes go by half and quarter warps.

    lanes: the numbers of the threads, sorted; those of one number divided by 32 are a warp. address: in bytes.
    """
    words = max(1, size // BANK_BYTES)
    group, item = distinct_pairs(lanes * words // WARP, address // max(BANK_BYTES, size))
    banks = (item * words % BANKS)[:, None] + np.arange(words)
    flat = (group[:, None] * BANKS + banks).ravel()
    banks_used = np.bincount(flat, minlength=BANKS * (int(group[-1]) + 1)).reshape(-1, BANKS)
    least = -(-banks_used.sum(1) // BANKS)
    return _count_groups(lanes // WARP), int(banks_used.max(1).sum()), int(least.sum())


def distinct_pairs(group: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct pairs, with groups numbered from 0 without gaps."""
    item = item - item.min()
    width = int(item.max()) + 1
    pairs = np.unique(group * width + item)
    group = pairs // width
    number = np.cumsum(np.concatenate([[0], group[1:] != group[:-1]]))
    return number, pairs % width


def _count_groups(groups: np.ndarray) -> int:
    """How many different numbers a sorted array has."""
    return int((groups[1:] != groups[:-1]).sum()) + 1
