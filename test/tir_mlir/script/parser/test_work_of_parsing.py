"""The work of parsing a block does not grow with the number of blocks."""

from __future__ import annotations

import cProfile
import pstats

from tir_mlir.script.parser import parse


def chain(count: int) -> str:
    """B = A + count, one nest for each addition."""
    buffers = ["A", *(f"X{n}" for n in range(count - 1)), "B"]
    lines = ["@T.prim_func", 'def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):']
    lines += [f'    {name} = T.alloc_buffer((64,), "float32")' for name in buffers[1:-1]]
    for number in range(count):
        lines += [
            "    for i in range(64):",
            f'        with T.block("b{number}"):',
            "            vi = T.axis.spatial(64, i)",
            f"            {buffers[number + 1]}[vi] = {buffers[number]}[vi] + 1.0",
        ]
    return "\n".join(lines)


def work(count: int) -> int:
    """The number of calls of functions that parsing some blocks makes."""
    profile = cProfile.Profile()
    text = chain(count)
    profile.enable()
    parse(text)
    profile.disable()
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


def test_each_block_takes_the_same_work():
    work(2)  # fills the caches
    small, medium, large = work(10), work(40), work(100)
    assert (large - medium) / 60 < 1.01 * (medium - small) / 30
