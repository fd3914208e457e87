"""Fixes for refusals of buffers that have one copy a block or a thread: each is followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from harness.fix_rows import each_of
from harness.kernel_fixes import KernelRow
from programs.parsed import parse

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import LoweringError

Step = Callable[[Schedule], object]


def program(body: str, params: str, scope: str = "shared", threads: str = "range(32)") -> Schedule:
    head = f"@T.prim_func\ndef f({params}):\n"
    lines = body.replace("SCOPE", scope).replace("THREADS", threads).strip("\n").splitlines()
    return Schedule(parse(head + "\n".join(f"    {line}" for line in lines)))


BOUND = 'T.thread_binding(32, thread="threadIdx.x")'


@dataclass(frozen=True)
class Row:
    """A kernel of `body`, scheduled by `before`, is refused with each of `fixes`; `ways` follow them. `again`: they
    start from the program without its loop over threads."""

    body: str
    params: str
    before: Step
    fixes: tuple[str, ...]
    ways: tuple[Step, ...]
    scope: str = "shared"
    again: bool = False


def bind(**axes: tuple[str, int]) -> Step:
    def step(sch: Schedule) -> None:
        for axis, (block, number) in axes.items():
            sch.bind(sch.get_loops(block)[number], axis.replace("_", "."))

    return step


def both(*steps: Step) -> Step:
    def step(sch: Schedule) -> None:
        for one in steps:
            one(sch)

    return step


def scope(name: str, block: str = "S") -> Step:
    return lambda sch: sch.set_scope(block, 0, name)


TURNED = """
for t in range(32):
    S = T.alloc_buffer((32,), scope="SCOPE")
    for k in range(32):
        with T.block("S"):
            vt, vk = T.axis.remap("OO", [t, k])
            S[(vt + vk) % 32] = A[vt, vk]
    for k in range(32):
        with T.block("B"):
            vt, vk = T.axis.remap("SS", [t, k])
            B[vt, vk] = S[(vt + vk) % 32]
"""
REVERSED = """
S = T.alloc_buffer((4, 32), scope="SCOPE")
for b in range(4):
    for t in range(32):
        with T.block("S"):
            vb, vt = T.axis.remap("SS", [b, t])
            S[vb, vt] = A[vb, vt]
    for t in range(32):
        with T.block("B"):
            vb, vt = T.axis.remap("SS", [b, t])
            B[vb, vt] = S[vb, 31 - vt]
"""
PREFIX = """
s = T.alloc_buffer((4,), scope="SCOPE")
for b in range(4):
    with T.block("start"):
        vb = T.axis.spatial(4, b)
        s[vb] = 0.0
    for k in THREADS:
        with T.block("S"):
            vb, vk = T.axis.remap("SO", [b, k])
            s[vb] = s[vb] + A[vb, vk]
            B[vb, vk] = s[vb]
"""
SQUARE = "A: T.Buffer((32, 32), 'float32'), B: T.Buffer((32, 32), 'float32')"
ROWS = "A: T.Buffer((4, 32), 'float32'), B: T.Buffer((4, 32), 'float32')"
PRODUCT = """
for i, j, k in T.grid(32, 32, 32):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = 0.0
        C[vi, vj] += A[vi, vk] * B[vk, vj]
"""


def tiled(sch: Schedule) -> None:
    """A tile of A in shared memory, which each thread fills alone."""
    i, j, k = sch.get_loops("C")
    (i0, i1), (j0, j1), (k0, k1) = (sch.split(loop, [None, 16]) for loop in (i, j, k))
    sch.reorder(i0, j0, i1, j1, k0, k1)
    axes = {i0: "blockIdx.y", j0: "blockIdx.x", i1: "threadIdx.y", j1: "threadIdx.x"}
    for loop, axis in axes.items():
        sch.bind(loop, axis)
    sch.compute_at(sch.cache_read("C", 0, "shared"), k0)


def filled_together(sch: Schedule) -> None:
    ax0, ax1 = sch.get_loops("A_shared")[-2:]
    sch.bind(ax0, "threadIdx.y")
    sch.bind(ax1, "threadIdx.x")


ROWS_OF_FIXES = {
    "a shared buffer that each thread fills": Row(
        TURNED, SQUARE, bind(threadIdx_x=("S", 0)), ('use scope "local", where each thread has a copy of its own',),
        (scope("local"),)),
    "a local buffer that others read": Row(
        REVERSED, ROWS, both(bind(blockIdx_x=("S", 0), threadIdx_x=("S", 1)), bind(threadIdx_x=("B", 1))),
        ('use scope "shared", where threads share it',), (scope("shared"),), "local"),
    "a tile that no thread loop fills": Row(
        PRODUCT, SQUARE + ", C: T.Buffer((32, 32), 'float32')", tiled,
        ("bind ax0, ax1 to threadIdx.y, threadIdx.x: the threads then fill A_shared together",
         'use scope "local", where each thread has a copy of its own'),
        (filled_together, scope("local", "A_shared"))),
    "a running sum, one copy a block": Row(
        PREFIX, ROWS, lambda sch: None, ("keep loop k serial", "bind another loop"),
        (bind(threadIdx_x=("S", 0)), bind(blockIdx_x=("S", 0))), "shared", True),
    "a running sum, one copy a thread": Row(
        PREFIX, ROWS, lambda sch: None, ("keep loop k serial", "bind another loop"),
        (bind(threadIdx_x=("S", 0)), bind(blockIdx_x=("S", 0))), "local", True),
    "nothing is bound": Row(
        PRODUCT, SQUARE + ", C: T.Buffer((32, 32), 'float32')", lambda sch: None,
        ('bind it, for example sch.bind(loop, "blockIdx.x")',),
        (bind(blockIdx_x=("C", 0), threadIdx_x=("C", 1)),)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS_OF_FIXES)
def test_a_fix_of_a_kernel_works(name):
    row = ROWS_OF_FIXES[name]
    sch = program(row.body, row.params, row.scope, BOUND)
    row.before(sch)
    with pytest.raises(LoweringError) as caught:
        build(sch, target="sm_80")
    fix = str(caught.value).partition("fix: ")[2]
    for text in row.fixes:
        assert text in fix
    for way in row.ways:
        mended = program(row.body, row.params, row.scope)
        if not row.again:
            row.before(mended)
        way(mended)
        assert mended.verify(target="sm_80"), way


# --- several sums in one loop over threads ----------------------------------------------------------------------------

SUMS = """
{allocs}
for i, k in T.grid(8, 256):
    with T.block("S"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
{inits}
{updates}
for i, j in T.grid(8, 256):
    with T.block("B"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, vj] + {uses}
"""
TERMS = {
    "sum and sum of squares": [("0.0", "{0}[vi] + A[vi, vk]"), ("0.0", "{0}[vi] + A[vi, vk] * A[vi, vk]")],
    "sum, maximum, minimum": [
        ("0.0", "{0}[vi] + A[vi, vk]"), ("T.float32(-1e30)", "T.max({0}[vi], A[vi, vk])"),
        ("T.float32(1e30)", "T.min({0}[vi], A[vi, vk])")],
}  # fmt: skip


def sums(terms: list[tuple[str, str]], scope: str) -> Schedule:
    names = [f"s{n}" for n in range(len(terms))]
    text = SUMS.format(
        allocs="\n".join(f'{n} = T.alloc_buffer((8,), scope="SCOPE")' for n in names),
        inits="\n".join(f"            {n}[vi] = {start}" for n, (start, _) in zip(names, terms, strict=False)),
        updates="\n".join(f"        {n}[vi] = {value.format(n)}" for n, (_, value) in zip(names, terms, strict=False)),
        uses=" + ".join(f"{n}[vi]" for n in names),
    )
    sch = program(text, "A: T.Buffer((8, 256), 'float32'), B: T.Buffer((8, 256), 'float32')", scope)
    i, j = sch.get_loops("B")
    sch.bind(i, "blockIdx.x")
    sch.bind(sch.split(j, [None, 64])[1], "threadIdx.x")
    sch.compute_at("S", i)
    sch.bind(sch.split(sch.get_loops("S")[-1], [None, 64])[1], "threadIdx.x")
    return sch


@pytest.mark.parametrize("scope", ["shared", "local"])
@pytest.mark.parametrize("name", TERMS)
def test_several_sums_over_threads_in_one_block(name, scope):
    sch = sums(TERMS[name], scope)
    assert "shfl" in build(sch, target="sm_80").assembly
    assert sch.verify(target="sm_80")


# --- a buffer between two kernels -------------------------------------------------------------------------------------

TWO = """
S = T.alloc_buffer((64,), scope="SCOPE")
for i in range(64):
    with T.block("S"):
        vi = T.axis.spatial(64, i)
        S[vi] = A[vi] + 1.0
for i in range(64):
    with T.block("B"):
        vi = T.axis.spatial(64, i)
        B[vi] = S[63 - vi]
"""


def two(scope: str, together: bool = False) -> Schedule:
    sch = program(TWO, "A: T.Buffer((64,), 'float32'), B: T.Buffer((64,), 'float32')", scope)
    if together:
        block = sch.add_unit_loop(sch.get_loops("B")[0])
        sch.bind(block, "blockIdx.x")
        sch.compute_at("S", block)
    for name in ("S", "B"):
        sch.bind(sch.get_loops(name)[-1], "threadIdx.x")
    return sch


BETWEEN = [
    KernelRow("a buffer between two kernels", lambda: two("shared"),
              "use scope global, or compute it in the same nest (compute_at)",
              (lambda: two("global"), lambda: two("shared", together=True))),
]  # fmt: skip


@each_of(BETWEEN)
def test_a_buffer_between_two_kernels(row):
    row.follow()
