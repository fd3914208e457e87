"""Small programs that steps are refused on, and what the refusals' ways out make of some of them, as text."""

from __future__ import annotations

import re
import textwrap


def program(buffers: str, body: str) -> str:
    """`buffers`: the parameters, as `A(8, 16) X(8):int32`, float32 where nothing else is said."""
    found = re.findall(r"(\w+)\(([^)]*)\)(?::(\w+))?", buffers)
    params = ", ".join(f'{name}: T.Buffer(({shape},), "{dtype or "float32"}")' for name, shape, dtype in found)
    held = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"@T.prim_func\ndef main({params}):\n{held}\n"


def sized(body: str) -> str:
    """A program over A and C of n elements each."""
    held = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"""
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,))
    C = T.match_buffer(c, (n,))
{held}
"""


def nest(block: str, loops: str, iters: str, store: str, init: str = "", where: str = "") -> str:
    """One block in plain loops: `loops` as `i=8 k=16`, `iters` as `S:i R:k` (named vi, vk)."""
    names, extents = zip(*(part.split("=") for part in loops.split()), strict=True)
    kinds, bound = zip(*(part.split(":") for part in iters.split()), strict=True)
    head = f"for {names[0]} in range({extents[0]}):"
    if len(names) > 1:
        head = f"for {', '.join(names)} in T.grid({', '.join(extents)}):"
    left = ", ".join(f"v{name}" for name in bound)
    lines = [head, f'    with T.block("{block}"):']
    lines.append(f'        {left} = T.axis.remap("{"".join(kinds)}", [{", ".join(bound)}])')
    lines += [f"        T.where({where})"] if where else []
    if init:
        lines += ["        with T.init():", *(f"            {line}" for line in init.split("; "))]
    return "\n".join([*lines, *(f"        {line}" for line in store.split("; "))]) + "\n"


def chain(*parts: str, local: str = "") -> str:
    """Nests one after the other; `local`: allocated buffers, as `B(8, 16)`."""
    found = re.findall(r"(\w+)\(([^)]*)\)", local)
    return "".join([*(f"{name} = T.alloc_buffer(({shape},))\n" for name, shape in found), *parts])


COPY_TEXT = nest("C", "i=16 j=8", "S:i S:j", "C[vi, vj] = A[vi, vj] + 1.0")
COPY = program("A(16, 8) C(16, 8)", COPY_TEXT)
ORDERED = "vi = T.axis.opaque(16, i)\n        vj = T.axis.spatial(8, j)"
ROW_TEXT = nest("C", "i=16", "S:i", "C[vi] = A[vi] + 1.0")
ROW = program("A(16) C(16)", ROW_TEXT)
LINE = program("A(64) C(64)", nest("C", "i=64", "S:i", "C[vi] = A[vi]"))
PAIR_TEXT = chain(
    nest("B", "i=16", "S:i", "B[vi] = A[vi] * 2.0"), nest("C", "i=16", "S:i", "C[vi] = B[vi] + 1.0"), local="B(16)"
)
PAIR = program("A(16) C(16)", PAIR_TEXT)
PAIR_2D = program(
    "A(4, 6) C(4, 6)",
    chain(
        nest("B", "i=4 j=6", "S:i S:j", "B[vi, vj] = A[vi, vj] * 2.0"),
        nest("C", "i=4 j=6", "S:i S:j", "C[vi, vj] = B[vi, vj] + 1.0"),
        local="B(4, 6)",
    ),
)
KEPT_PAIR = program(
    "A(16) B(16) C(16)",
    chain(nest("B", "i=16", "S:i", "B[vi] = A[vi] * 2.0"), nest("C", "i=16", "S:i", "C[vi] = B[vi] + 1.0")),
)
SUM = nest("C", "i=8 k=16", "S:i R:k", "C[vi] = C[vi] + A[vi, vk]", "C[vi] = 0.0")
SUMS = program("A(8, 16) D(8)", chain(SUM, nest("D", "i=8", "S:i", "D[vi] = C[vi] + 1.0"), local="C(8)"))
ONE_SUM = program("A(8, 16) C(8)", SUM)
PRODUCED = program(
    "B(8, 16) C(8)", chain(nest("A", "i=8 k=16", "S:i S:k", "A[vi, vk] = B[vi, vk] * 2.0"), SUM, local="A(8, 16)")
)
PRODUCT = program(
    "A(16, 8) B(8, 16) C(16, 16)",
    nest("C", "i=16 j=16 k=8", "S:i S:j R:k", "C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]", "C[vi, vj] = 0.0"),
)
HALVES = program(
    "A(16) C(16)",
    chain(
        nest("B0", "i=8", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("B1", "i=8", "S:i", "B[vi + 8] = A[vi + 8] + 2.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + 1.0"),
        local="B(16)",
    ),
)
ONE_WRITER = program(
    "A(16) C(16)",
    chain(
        nest("B", "i=16", "S:i", "B[vi] = T.if_then_else(vi < 8, A[vi] * 2.0, A[vi] + 2.0)"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + 1.0"),
        local="B(16)",
    ),
)
EARLIER_READER = program(
    "A(16) C(16) D(16)",
    chain(
        nest("B", "i=16", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("D", "i=16", "S:i", "D[vi] = C[vi] + 1.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + 1.0"),
        local="B(16)",
    ),
)
TWO_READERS = program(
    "A(16) C(16) D(16)",
    chain(
        nest("B", "i=16", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + 1.0"),
        nest("D", "i=16", "S:i", "D[vi] = B[vi] + 2.0"),
        local="B(16)",
    ),
)
TWO_INPUTS = program(
    "A(16) C(16)",
    chain(
        nest("B", "i=16", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("D", "i=16", "S:i", "D[vi] = A[vi] * 3.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + D[vi]"),
        local="B(16) D(16)",
    ),
)
TWO_RESULTS = program(
    "A(16) C(16)",
    chain(
        nest("B", "i=16", "S:i", "B[vi] = A[vi]; D[vi] = A[vi] + 1.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + D[vi]"),
        local="B(16) D(16)",
    ),
)
DOUBLED = program(
    "A(16) C(16)",
    chain(
        nest("B", "i=8", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi // 2] + 1.0"),
        local="B(8)",
    ),
)
STENCIL = program(
    "A(18) C(16)",
    chain(
        nest("B", "i=18", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + B[vi + 2]"),
        local="B(18)",
    ),
)
GATHER = program(
    "A(16) X(16):int32 C(16)",
    chain(
        nest("B", "i=16", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[X[vi]] + 1.0"),
        local="B(16)",
    ),
)
VIEWED = program(
    "A(16) C(16)",
    chain(
        nest("B", "i=16", "S:i", "W = T.match_buffer(B[vi], (1,)); W[0] = A[vi] + 1.0"),
        nest("C", "i=16", "S:i", "C[vi] = B[vi] + 1.0"),
        local="B(16)",
    ),
)
VIEWS = program(
    "A(16, 8) C(16, 8)",
    """
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            V = T.match_buffer(A[vi, 0:8], (8,))
            W = T.match_buffer(C[vi, 0:8], (8,))
            for j in range(8):
                W[j] = V[j] + 1.0
    """,
)
ROWS_INSIDE = program(
    "A(16, 8) C(16, 8)",
    """
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            for j in range(8):
                C[vi, j] = A[vi, j] + 1.0
    """,
)
BLOCK_INSIDE = program(
    "A(16, 16) C(16, 16)",
    """
    for i in range(16):
        with T.block("O"):
            vo = T.axis.spatial(16, i)
            for j in range(16):
                with T.block("I"):
                    vj = T.axis.spatial(16, j)
                    C[vo, vj] = A[vj, vo] + 1.0
    """,
)
TRIANGLE = """
for i in range(8):
    for k in range(i + 1):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            vk = T.axis.reduce(8, k)
            with T.init():
                C[vi] = 0.0
            C[vi] = C[vi] + A[vi, vk]
"""
USE = nest("D", "i=8", "S:i", "D[vi] = C[vi] + 1.0")
TRIANGLES = program("A(8, 8) D(8)", chain(TRIANGLE, USE, local="C(8)"))
GUARDED_TRIANGLES = program(
    "A(8, 8) D(8)",
    chain(nest("C", "i=8 k=8", "S:i R:k", "C[vi] = C[vi] + A[vi, vk]", "C[vi] = 0.0", "k <= i"), USE, local="C(8)"),
)
WHOLE_TRIANGLES = program(
    "A(8, 8) D(8)",
    chain(
        nest("C", "i=8 k=8", "S:i R:k", "C[vi] = C[vi] + T.if_then_else(vk <= vi, A[vi, vk], 0.0)", "C[vi] = 0.0"),
        USE,
        local="C(8)",
    ),
)
SIZED_SUM = """
@T.prim_func
def main(a: T.handle, C: T.Buffer((8,), "float32")):
    m = T.int32()
    A = T.match_buffer(a, (8, m))
    {head}
    for i, k in T.grid(8, m):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0.0
            C[vi] = C[vi] + A[vi, vk]
"""
REPEATED = program("A(8, 16) C(8)", "for t in range(2):\n" + textwrap.indent(SUM, "    "))
UNDER_IF = """
for i in range(8):
    if i < 4:
        for k in range(16):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0.0
                C[vi] = C[vi] + A[vi, vk]
"""
BIASED = program(
    "A(8, 16) B(8) C(8)",
    chain(
        SUM.replace("C[", "D[").replace('"C"', '"D"'),
        nest("C", "i=8", "S:i", "C[vi] = B[vi] + D[vi]"),
        local="D(8)",
    ),
)
DIAGONALS = program(
    "A(4, 4) C(7)",
    """
    for i, j in T.grid(4, 4):
        with T.block("C"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.opaque(4, j)
            C[vi + vj] = A[vi, vj]
    """,
)
FALLING = program(
    "A(4, 2, 4) C(4)",
    chain(
        nest("B", "i=4 j=2 l=4", "S:i S:j S:l", "B[vi, vj, vl] = A[vi, vj, vl] * 2.0"),
        nest("C", "i=4 l=4 k=2", "S:i R:k R:l", "C[vi] = C[vi] * 0.5 + B[vi, vk, vl]", "C[vi] = 0.0"),
        local="B(4, 2, 4)",
    ),
)
STRIDED = """
@T.prim_func
def main(a: T.handle, C: T.Buffer((8, 8), "float32")):
    A = T.match_buffer(a, (8, 8), "float32", strides=[16, 1])
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + 1.0
"""
PART = program(
    "A(16) C(16)",
    chain(
        nest("B", "i=8", "S:i", "B[vi] = A[vi] * 2.0"),
        nest("C", "i=16", "S:i", "C[vi] = T.if_then_else(vi < 8, B[vi], 0.0)"),
        local="B(16)",
    ),
)
LONGER = program(
    "A(8) C(16)",
    chain(
        nest("B", "i=8", "S:i", "B[vi] = A[vi] * 2.0; D[vi] = A[vi] + 1.0"),
        nest("C", "i=16", "S:i", "C[vi] = T.if_then_else(vi < 8, B[vi] + D[vi], 0.0)"),
        local="B(8) D(8)",
    ),
)
WINDOW = program(
    "A(18) B(18) C(16)",
    chain(nest("B", "i=18", "S:i", "B[vi] = A[vi] * 2.0"), nest("C", "i=16", "S:i", "C[vi] = B[vi] + B[vi + 2]")),
)

TWO_SUMS = program(
    "A(8, 16) C(8) D(8, 2)",
    nest(
        "C",
        "i=8 k=16",
        "S:i R:k",
        "C[vi] = C[vi] + A[vi, vk]; D[vi, 0] = D[vi, 0] + A[vi, vk]",
        "C[vi] = 0.0; D[vi, 0] = 0.0",
    ),
)
HALO = program(
    "A(10) C(8)",
    """
    B = T.alloc_buffer((10,))
    for i in range(2):
        for j in range(6):
            with T.block("B"):
                vi = T.axis.spatial(10, i * 4 + j)
                B[vi] = A[vi] + 1.0
        for j in range(4):
            with T.block("C"):
                vi = T.axis.spatial(8, i * 4 + j)
                C[vi] = B[vi + 1]
    """,
)
LEAST = program(
    "B(6)",
    """
    for k in range(8):
        for i in range(T.min(k + 1, 6)):
            with T.block("B"):
                vi = T.axis.opaque(6, i)
                B[vi] = 0.0
    """,
)
MOST = program(
    "B(6)",
    """
    for k, i in T.grid(8, 6):
        with T.block("B"):
            vi = T.axis.opaque(6, i)
            T.where(i < k + 1)
            B[vi] = 0.0
    """,
)


def cube(inner: str, added: str) -> str:
    """A sum over two loops, `inner` what the inner one runs over."""
    body = f"""
    for i in range(8):
        for k in range(8):
            for l in {inner}:
                with T.block("C"):
                    vi = T.axis.spatial(8, i)
                    vk = T.axis.reduce(8, k)
                    vl = T.axis.reduce(8, l)
                    with T.init():
                        C[vi] = 0.0
                    C[vi] = C[vi] + {added}
    """
    return program("A(8, 8, 8) C(8)", body)
