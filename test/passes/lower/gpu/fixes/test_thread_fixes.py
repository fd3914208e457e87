"""Fixes for refusals of loops over threads and blocks, of barriers, sums by threads and limits: each is followed."""

from __future__ import annotations

import functools

import pytest
from harness.fix_rows import each_of
from harness.kernel_fixes import KernelRow
from programs.parsed import parse
from programs.short import each, main, nest, sblock, under

from tir_mlir import Schedule, build
from tir_mlir.dialect.ir import clone_module, enter_context, held_module
from tir_mlir.passes.lower.registry import LOWERINGS


def bound(text: str, *binds: tuple[str, int, str]) -> Schedule:
    """A program with loops bound: (block, number of its loop, axis)."""
    sch = Schedule(parse(text))
    for block, number, axis in binds:
        sch.bind(sch.get_loops(block)[number], axis)
    return sch


def copied(n: int | str, *axes: str, factors: tuple[int | None, ...] = ()) -> Schedule:
    """B = A + 1, its loop split by factors, and bound."""
    sch = Schedule(parse(main(f"A:{n} B:{n}", each(f"B i:{n}", "B[vi] = A[vi] + 1.0"))))
    (loop,) = sch.get_loops("B")
    for part, axis in zip(sch.split(loop, list(factors)) if factors else [loop], axes, strict=True):
        if axis:
            sch.bind(part, axis)
    return sch


def row_of(name: str, fix: str, text: str, *binds: tuple[str, int, str], ways: tuple = (), **options) -> KernelRow:
    return KernelRow(name, functools.partial(bound, text, *binds), fix, ways, **options)


SQUARE = main("A:8x8 B:8x8", each("B:8x8", "B[vi, vj] = A[vi, vj]"))
FILLED = each("B i:8", "B[vi] = A[vi]")


def inside(threads: int, bound_part: str) -> str:
    """16 threads, and in them 64 elements by a loop over threads of their own."""
    return main(
        "A:4x64 B:4x16",
        nest(
            "i:4:thread_binding",
            nest(
                "j:16",
                bound_part,
                sblock("B", "SS i j", "B[vi, vj] = 1.0"),
            ),
        )
        .replace("thread_binding(4)", "thread_binding(4, thread='blockIdx.x')")
        .replace("in range(16)", "in T.thread_binding(16, thread='threadIdx.x')"),
    )


SIXTY_FOUR = under("for u in T.thread_binding(64, thread='threadIdx.x'):", sblock("A", "SS i u", "A[vi, vu] = 1.0"))
FOUR_TIMES_16 = under(
    "for s in range(4):",
    under(
        "for u in T.thread_binding(16, thread='threadIdx.x'):",
        sblock("A", "vi:4=i vu:64=s * 16 + u", "A[vi, vu] = 1.0"),
    ),
)
SHARED_VALUE = main(
    "A:8 B:8",
    under("for b in T.thread_binding(1, thread='blockIdx.x'):", "{}",
          under("for i in T.thread_binding(8, thread='threadIdx.x'):", sblock("B", "S i", "B[vi] = {}"))),
)  # fmt: skip
TWO_SIZES = main(
    "A:8xn B:8xm", nest("k:8", nest("i:n", sblock("A", "vk:8=k vi:n=i", "A[vk, vi] = 1.0")),
                        nest("j:m", sblock("B", "vk:8=k vj:m=j", "B[vk, vj] = 1.0"))),
)  # fmt: skip
TRIANGLE = main("A:nxn", nest("i:n j:i+1", sblock("A", "vi:n=i vj:n=j", "A[vi, vj] = 1.0")))


def in_two_nests() -> Schedule:
    sch = bound(TWO_SIZES)
    sch.fission(sch.get_loops("A")[0], "A")
    for block in "AB":
        sch.bind(sch.get_loops(block)[1], "blockIdx.x")
    return sch


ROW_THEN_COPIES = main(
    "A:4 C:4 B:4x8",
    nest("k:4", sblock("C", "S k", "C[vk] = A[vk]"), nest("b:8", sblock("B", "SS k b", "B[vk, vb] = C[vk]"))),
)


def a_kernel_for_each() -> Schedule:
    sch = bound(ROW_THEN_COPIES)
    sch.fission(sch.get_loops("C")[0], "C")
    sch.bind(sch.get_loops("C")[0], "threadIdx.x")
    sch.bind(sch.get_loops("B")[1], "blockIdx.x")
    return sch


PREFIX = """@T.prim_func
def f(A: T.Buffer((4, 32), "float32"), B: T.Buffer((4, 32), "float32")):
    s = T.alloc_buffer((4,))
    for b in B_LOOP:
        with T.block("start"):
            vb = T.axis.spatial(4, b)
            s[vb] = 0.0
        for k in K_LOOP:
            with T.block("S"):
                vb, vk = T.axis.remap("SO", [b, k])
                s[vb] = s[vb] + A[vb, vk]
                B[vb, vk] = s[vb]
"""


def prefix(b: str, k: str) -> Schedule:
    return bound(PREFIX.replace("B_LOOP", b).replace("K_LOOP", k))


CALL = """
@I.ir_module
class M:
    @T.prim_func
    def g(B: T.Buffer((8,), "float32")):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("G"):
                vi = T.axis.spatial(8, i)
                B[vi] = 1.0
    @T.prim_func
    def f(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in T.thread_binding(8, thread="threadIdx.x"):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = 1.0
        M.g(B)
"""
WRITTEN = main("A:8 B:8", each("A", "A[vi] = 1.0"), each("B", "B[vi] = 1.0"))
WRITTEN_IN_TURN = main(
    "A:8 B:8",
    under("for b in T.thread_binding(1, thread='blockIdx.x'):",
          *(under("for i in T.thread_binding(8, thread='threadIdx.x'):", sblock(name, "S i", f"{name}[vi] = 1.0"))
            for name in "AB")),
)  # fmt: skip
ALONE = main("A:8 B:1", each("A", "A[vi] = 1.0"), "with T.block('B'):\n    B[0] = 2.0")


def in_a_loop() -> Schedule:
    sch = bound(ALONE, ("A", 0, "threadIdx.x"))
    sch.bind(sch.add_unit_loop("B"), "threadIdx.x")
    return sch


NESTS = [
    row_of("axes: more threads in a loop over fewer",
           "split it by the extent of the outer one, and bind only the inner",
           inside(16, SIXTY_FOUR), ways=(lambda: bound(inside(16, FOUR_TIMES_16)),)),
    row_of("axes: a call whose result threads use", "write what it computes in the program, in these loops",
           SHARED_VALUE.format("v: T.float32 = T.call_extern('float32', 'next', A[0])", "v"),
           ways=(lambda: bound(SHARED_VALUE.format("T.evaluate(0)", "A[0] + 1.0")),)),
    KernelRow("axes: a symbolic number of threads", lambda: copied("n", "threadIdx.x"),
              "split it by a constant factor and bind the inner loop",
              (lambda: copied("n", "blockIdx.x", "threadIdx.x", factors=(None, 32)),)),
    row_of("axes: two sizes along one axis", "bind one of them to another axis, or move one to a nest of its own",
           TWO_SIZES, ("A", 1, "blockIdx.x"), ("B", 1, "blockIdx.x"),
           ways=(lambda: bound(TWO_SIZES, ("A", 1, "blockIdx.x"), ("B", 1, "blockIdx.y")), in_two_nests)),
    row_of("axes: an extent that depends on a serial loop over a size", "bind a loop with other bounds",
           TRIANGLE, ("A", 1, "blockIdx.x"), ways=(lambda: bound(TRIANGLE, ("A", 0, "blockIdx.x")),)),
    row_of("repeated axes", "bind j to another axis, or do not bind it",
           SQUARE, ("B", 0, "threadIdx.x"), ("B", 1, "threadIdx.x"),
           ways=(lambda: bound(SQUARE, ("B", 0, "threadIdx.x"), ("B", 1, "threadIdx.y")),
                 lambda: bound(SQUARE, ("B", 0, "threadIdx.x")))),
    row_of("blocks that exchange values",
           "bind another loop, or give both nests of their own, which are kernels one after the other",
           ROW_THEN_COPIES, ("B", 1, "blockIdx.x"),
           ways=(lambda: bound(ROW_THEN_COPIES, ("B", 0, "blockIdx.x")), a_kernel_for_each)),
    KernelRow("threads in the order of a loop",
              lambda: prefix("range(4)", 'T.thread_binding(32, thread="threadIdx.x")'),
              "fix: bind another loop", (lambda: prefix('T.thread_binding(4, thread="threadIdx.x")', "range(32)"),)),
    row_of("nothing to bind", 'sch.bind(loop, "blockIdx.x") and sch.bind(loop, "threadIdx.x")',
           main("A:8", "T.evaluate(0)"),
           ways=(lambda: copied(64, "blockIdx.x", "threadIdx.x", factors=(None, 8)),)),
    row_of("a loop that is not bound", 'fix: bind it, for example sch.bind(loop, "blockIdx.x")', WRITTEN,
           ("A", 0, "threadIdx.x"), ways=(lambda: bound(WRITTEN, ("A", 0, "threadIdx.x"), ("B", 0, "blockIdx.x")),)),
    row_of("a statement in no loop", "put it into a loop, for example by add_unit_loop, and bind that", ALONE,
           ("A", 0, "threadIdx.x"), ways=(in_a_loop,)),
    row_of("a call of a program", "write what it computes in the program, in a loop that is bound", CALL,
           ways=(lambda: bound(WRITTEN, ("A", 0, "threadIdx.x"), ("B", 0, "threadIdx.x")),)),
    row_of("a call in a kernel", "has no code for a GPU; fix: write what it computes in the program",
           main("A:8 B:8", each("B", "B[vi] = T.call_extern('float32', 'increment', A[vi])")), ("B", 0, "threadIdx.x"),
           ways=(lambda: copied(8, "threadIdx.x"),)),
]  # fmt: skip


def barriers_after(*passes: str):
    """Insert barriers in a program after some other passes."""

    def run(program: Schedule, target: str = "") -> None:
        with enter_context():
            module = clone_module(held_module(program))
            for name in (*passes, "tir-lower-gpu-barriers"):
                LOWERINGS[name].run(module)

    return run


PASSES = [
    row_of("axes that are no perfect nest", "fix: run tir-lower-gpu-axes before", WRITTEN_IN_TURN,
           ways=(lambda: bound(WRITTEN_IN_TURN),), build=barriers_after(),
           accepts=barriers_after("tir-lower-gpu-axes")),
]  # fmt: skip

# --- barriers and sums ------------------------------------------------------------------------------------------------

ROWS_TURNED = """@T.prim_func
def f(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    S = T.alloc_buffer((4, 16), "float32", scope="shared")
    for k in T.KIND(4):
        for x in T.thread_binding(16, thread="threadIdx.x"):
            with T.block("S"):
                vk, vx = T.axis.remap("SS", [k, x])
                S[vk, vx] = A[vk, vx]
        for x in T.thread_binding(16, thread="threadIdx.x"):
            with T.block("B"):
                vk, vx = T.axis.remap("SS", [k, x])
                B[vk, vx] = S[vk, 15 - vx]
"""
X = "for x in T.thread_binding(16, thread='threadIdx.x'):"


def turned(*parts: str) -> Schedule:
    """Rows turned by way of shared memory, in one or two ways."""
    row = under("with T.block('row'):", "vy = T.axis.spatial(4, y)", "T.reads(A[vy, 0:16])",
                "T.writes(S[vy, 0:16], B[vy, 0:16])", *parts)  # fmt: skip
    body = under("for y in T.thread_binding(4, thread='threadIdx.y'):", row)
    return bound(main("A:4x16 B:4x16", 'S = T.alloc_buffer((4, 16), "float32", scope="shared")', body))


def halves(number: int, value: str) -> str:
    """A row to shared memory, and back in the other order."""
    there = under(X, sblock(f"S{number}", "S x", f"S[vy, vx] = {value}"))
    return there + "\n" + under(X, sblock(f"B{number}", "S x", "B[vy, vx] = S[vy, 15 - vx]"))


BUSY = """@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 16), "float32")
    B = T.match_buffer(b, (n, 16), "float32")
    S = T.alloc_buffer((4, 16), "float32", scope="shared")
    for y in T.thread_binding(4, thread="threadIdx.y"):
        for k in LOOP:
            for x in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("S"):
                    vy, vk, vx = T.axis.spatial(4, y), T.axis.opaque((n + 3) // 4, k), T.axis.spatial(16, x)
                    WHERE
                    S[vy, vx] = A[vk * 4 + vy, vx]
            for x in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("B"):
                    vy, vk, vx = T.axis.spatial(4, y), T.axis.opaque((n + 3) // 4, k), T.axis.spatial(16, x)
                    WHERE
                    B[vk * 4 + vy, vx] = S[vy, 15 - vx]
"""


def busy(loop: str, where: str) -> Schedule:
    """Rows turned, four at a time, in a loop of as many iterations as a thread has rows, or as all have."""
    text = BUSY.replace("LOOP", loop)
    return bound(text.replace("WHERE", where) if where else text.replace("                    WHERE\n", ""))


SUMS = """@T.prim_func
def f(A: T.Buffer((4, 32), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((2,), "float32")):
    for b in T.thread_binding(1, thread="blockIdx.x"):
        for y in T.thread_binding(ROWS, thread="threadIdx.y"):
            for r in range(4 // ROWS):
                with T.block("W"):
                    vy = T.axis.spatial(4, r * ROWS + y)
                    B[vy] = 0.0
SPLIT        for y in T.thread_binding(2, thread="threadIdx.y"):
            for k in T.thread_binding(32, thread="threadIdx.x"):
                with T.block("C"):
                    vy, vk = T.axis.spatial(2, y), T.axis.reduce(32, k)
                    with T.init():
                        C[vy] = 0.0
                    C[vy] = C[vy] + A[vy, vk]
"""


def sums(rows: int, split: str = "") -> Schedule:
    return bound(SUMS.replace("ROWS", str(rows)).replace("SPLIT", split))


ALIKE = "let all threads run it, with its condition around the single statements in it"
TOGETHER = [
    row_of("a barrier in a vectorized loop", "leave loop k serial", ROWS_TURNED.replace("T.KIND", "T.vectorized"),
           ways=(lambda: bound(ROWS_TURNED.replace("T.KIND", "range")),)),
    KernelRow("a barrier in an else",
              lambda: turned(under("if vy < 2:", halves(0, "A[vy, vx]")), under("else:", halves(1, "A[vy, vx] + 1.0"))),
              ALIKE, (lambda: turned(halves(0, "T.if_then_else(vy < 2, A[vy, vx], A[vy, vx] + 1.0)")),)),
    KernelRow("a barrier in a loop that ends by the thread", lambda: busy("range((n - y + 3) // 4)", ""),
              ALIKE, (lambda: busy("range((n + 3) // 4)", "T.where(k * 4 + y < n)"),)),
    KernelRow("a sum by only some threads", lambda: sums(4), "give all loops over one axis one extent",
              (lambda: sums(2),)),
    KernelRow("a sum by only some threads, moved", lambda: sums(4), "move the reduction out of it",
              (lambda: sums(4, '    for b in T.thread_binding(1, thread="blockIdx.x"):\n'),)),
]  # fmt: skip

# --- limits -----------------------------------------------------------------------------------------------------------

LONG = main("A:2x65536:int8", each("A i:2 j:65536", "A[vi, vj] = T.int8(1)"))


def split_blocks() -> Schedule:
    sch = bound(LONG, ("A", 0, "threadIdx.x"))
    outer, inner = sch.split(sch.get_loops("A")[1], [None, 256])
    sch.bind(outer, "blockIdx.z")
    sch.bind(inner, "blockIdx.y")
    return sch


def is_built(sch: Schedule) -> None:
    assert build(sch, target="sm_80").assembly


LIMITS = [
    KernelRow("too many threads", lambda: copied(2048, "threadIdx.x"),
              "split the loops, and bind the outer parts to blockIdx or leave them serial",
              (lambda: copied(2048, "blockIdx.x", "threadIdx.x", factors=(None, 256)),
               lambda: copied(2048, "", "threadIdx.x", factors=(None, 256)))),
    KernelRow("too many threads along z", lambda: copied(65, "threadIdx.z"),
              "split the loops, and bind the outer parts to blockIdx or leave them serial",
              (lambda: copied(65, "blockIdx.x", "threadIdx.z", factors=(None, 5)),)),
    row_of("too many blocks along y", "bind the longest loop to blockIdx.x, or split it and bind its parts to two axes",
           LONG, ("A", 1, "blockIdx.y"), ("A", 0, "threadIdx.x"), accepts=is_built,
           ways=(lambda: bound(LONG, ("A", 1, "blockIdx.x"), ("A", 0, "threadIdx.x")), split_blocks)),
]  # fmt: skip


@pytest.mark.few(5)
@each_of(NESTS + PASSES + TOGETHER + LIMITS)
def test_the_way_out(row):
    row.follow()
