"""The loops and iters that primitives create are of int64 where the program's are, and the result reads back."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from harness.schedules import reads_back
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.dialect.ir import Block, Loop, funcs, is_block, is_loop, walk
from tir_mlir.passes.schedule.legality import every_step

CHAIN = """
@T.prim_func
def main(A: T.Buffer((T.int64(12), T.int64(8)), "float32"), W: T.Buffer((T.int64(8), T.int64(16)), "float32"),
         D: T.Buffer((T.int64(12), T.int64(16)), "float32")):
    B = T.alloc_buffer((T.int64(12), T.int64(8)))
    C = T.alloc_buffer((T.int64(12), T.int64(16)))
    for i, k in T.grid(T.int64(12), T.int64(8)):
        with T.block("B"):
            vi, vk = T.axis.remap("SS", [i, k])
            B[vi, vk] = A[vi, vk] * T.float32(2)
    for i, j, k in T.grid(T.int64(12), T.int64(16), T.int64(8)):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + B[vi, vk] * W[vk, vj]
    for i, j in T.grid(T.int64(12), T.int64(16)):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj] + T.float32(1)
"""

PADDED = """
@T.prim_func
def main(A: T.Buffer((T.int64(14),), "float32"), C: T.Buffer((T.int64(16),), "float32")):
    P = T.alloc_buffer((T.int64(16),))
    for i in range(T.int64(16)):
        with T.block("P"):
            vi = T.axis.spatial(T.int64(16), i)
            P[vi] = T.if_then_else(T.int64(1) <= vi and vi < T.int64(15), A[vi - T.int64(1)], T.float32(0))
    for i in range(T.int64(16)):
        with T.block("C"):
            vi = T.axis.spatial(T.int64(16), i)
            C[vi] = P[vi] + T.float32(1)
"""

ROWS = """
@T.prim_func
def main(A: T.Buffer((T.int64(12), T.int64(12)), "float32"), C: T.Buffer((T.int64(10), T.int64(10)), "float32")):
    B = T.alloc_buffer((T.int64(12), T.int64(12)))
    for i, j in T.grid(T.int64(10), T.int64(10)):
        for a, b in T.grid(T.int64(3), T.int64(3)):
            with T.block("B"):
                vi = T.axis.opaque(T.int64(12), i + a)
                vj = T.axis.opaque(T.int64(12), j + b)
                B[vi, vj] = A[vi, vj] + T.float32(1)
        for a, b in T.grid(T.int64(3), T.int64(3)):
            with T.block("C"):
                vi, vj, va, vb = T.axis.remap("SSRR", [i, j, a, b])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = T.max(C[vi, vj], B[vi + va, vj + vb])
"""

TILED = """
@T.prim_func
def main(A: T.Buffer((T.int64(16),), "float32"), C: T.Buffer((T.int64(64),), "float32")):
    for i in range(T.int64(64)):
        with T.block("C"):
            vi = T.axis.spatial(T.int64(64), i)
            C[vi] = A[vi // T.int64(4)]
"""

INPLACE = """
@T.prim_func
def main(C: T.Buffer((T.int64(16), T.int64(8)), "float32")):
    for i, j in T.grid(T.int64(16), T.int64(8)):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = C[vi, vj] + T.float32(1)
"""

SIZED = """
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, T.int64(32)), "float32")
    C = T.match_buffer(c, (n, T.int64(32)), "float32")
    B = T.alloc_buffer((n, T.int64(32)))
    for i, j in T.grid(n, T.int64(32)):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(n, T.int64(32)):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + T.float32(1)
"""


def _split(sch: Schedule, block: str, number: int = 0, size: int = 4):
    return sch.split(sch.get_loops(block)[number], [None, size])


def _tile(sch: Schedule, block: str, sizes: tuple[int, ...]):
    pairs = [sch.split(loop, [None, size]) for loop, size in zip(sch.get_loops(block), sizes, strict=True)]
    outer, inner = [p[0] for p in pairs], [p[1] for p in pairs]
    sch.reorder(*outer, *inner)
    return outer, inner


def _fission(sch: Schedule) -> None:
    loop = _split(sch, "C")[0]
    sch.compute_at("B", loop)
    sch.fission(loop, sch.get_block("B"))


STEPS: dict[str, tuple[str, Callable[[Schedule], object]]] = {
    "cache_read": (CHAIN, lambda s: s.cache_read("C", 1, "shared")),
    "cache_read of a part": (TILED, lambda s: s.cache_read("C", 0, "shared")),
    "cache_write": (CHAIN, lambda s: s.cache_write("C", 0, "local")),
    "cache_inplace": (INPLACE, lambda s: s.cache_inplace("C", 0, "local")),
    "cache_index": (TILED, lambda s: s.cache_index("C", "global", 0)),
    "cache_value": (CHAIN, lambda s: s.cache_value("D", [0], "local")),
    "write_in_place": (CHAIN, lambda s: s.write_in_place(s.cache_value("D", [], "global"), "C")),
    "read_at": (CHAIN, lambda s: s.read_at(_split(s, "C")[0], "C", 0, "shared")),
    "write_at": (CHAIN, lambda s: s.write_at(_split(s, "C")[0], "C", 0, "shared")),
    "reindex": (CHAIN, lambda s: s.reindex("C", ("read", 1))),
    "reindex of a write": (CHAIN, lambda s: s.reindex("C", ("write", 0))),
    "reindex_cache_read": (CHAIN, lambda s: s.reindex_cache_read("C", 1, "shared", lambda i, j, k: (j, k))),
    "reindex_cache_write": (CHAIN, lambda s: s.reindex_cache_write("C", 0, "shared", lambda i, j, k: (j, i))),
    "transform_block_layout": (CHAIN, lambda s: s.transform_block_layout("D", lambda i, j: (i * 16 + j,))),
    "transform_layout": (CHAIN, lambda s: s.transform_layout("C", ("write", 0), lambda i, j: (j // 4, i, j % 4))),
    "transform_layout, padded": (
        CHAIN, lambda s: s.transform_layout("B", ("write", 0), lambda i, k: (i // 8, k, i % 8), pad_value=0.0)
    ),
    "blockize": (CHAIN, lambda s: s.blockize(_tile(s, "D", (4, 4))[1][0])),
    "blockize with an init": (CHAIN, lambda s: s.blockize(_tile(s, "C", (4, 4, 4))[1][0])),
    "split": (CHAIN, lambda s: _split(s, "C", 2)),
    "split with a guard": (CHAIN, lambda s: _split(s, "C", 0, 5)),
    "fuse": (CHAIN, lambda s: s.fuse(*s.get_loops("D"))),
    "merge": (PADDED, lambda s: s.merge(s.get_loops("P")[0], s.get_loops("C")[0])),
    "loop_partition": (PADDED, lambda s: s.loop_partition(s.get_loops("P")[0], [1, 14])),
    "version_loop": (SIZED, lambda s: s.version_loop(s.get_loops("C")[0], [4, 8])),
    "fission": (CHAIN, _fission),
    "compute_at": (CHAIN, lambda s: s.compute_at("B", _split(s, "C")[0])),
    "compute_at of a size": (SIZED, lambda s: s.compute_at("B", _split(s, "C", 1)[0])),
    "reverse_compute_at": (CHAIN, lambda s: s.reverse_compute_at("D", _split(s, "C")[0])),
    "rolling_buffer": (ROWS, lambda s: s.rolling_buffer("B", 0)),
    "decompose_padding": (PADDED, lambda s: s.decompose_padding("P", s.get_loops("P")[0])),
    "decompose_reduction": (CHAIN, lambda s: s.decompose_reduction("C", s.get_loops("C")[1])),
    "fuse_reduction_epilogue": (CHAIN, lambda s: s.fuse_reduction_epilogue("C", "D")),
    "pad_einsum": (CHAIN, lambda s: s.pad_einsum("C", [8, 8, 5])),
    "rfactor": (CHAIN, lambda s: s.rfactor(_split(s, "C", 2)[1], 0)),
    "cache_read of a size": (SIZED, lambda s: s.cache_read("C", 0, "shared")),
}  # fmt: skip


def types(sch: Schedule) -> list[tuple[str, bool]]:
    """The names of the loops and iters, in order, and whether each is of int64."""
    found: list[tuple[str, bool]] = []
    for func in funcs(sch.mod.mlir):
        for op in walk.ops(func.op):
            if is_loop(op):
                found.append((Loop(op).name, Loop(op).is_wide))
            elif is_block(op):
                found += [(it.name, it.is_wide) for it in Block(op).iters]
    return found


NARROW = re.compile(r"(T\.grid|range|T\.serial|T\.axis\.\w+)\((.*, )?\d|alloc_buffer\(\(\d")


@pytest.mark.few(11)
@pytest.mark.parametrize("name", STEPS)
def test_created_loops_and_iters_are_of_int64(name: str):
    program, step = STEPS[name]
    sch = Schedule(parse(program))
    step(sch)
    text = sch.mod.script()
    assert [n for n, wide in types(sch) if not wide] == [], text
    assert not [line for line in text.splitlines() if NARROW.search(line)], text
    reads_back(sch)
    assert types(Schedule(parse(text))) == types(sch)
    assert sch.verify()


def test_each_value_is_looked_at_once_a_step(monkeypatch):
    looked = []
    sch = Schedule(parse(CHAIN))
    monkeypatch.setattr(
        every_step.attrs, "is_wide", lambda value, ask=every_step.attrs.is_wide: looked.append(value) or ask(value)
    )
    every_step.index_types([top for f in funcs(sch.mod.mlir) for top in f.body_ops()], 10**6)
    assert looked and len(looked) == len(set(looked))
