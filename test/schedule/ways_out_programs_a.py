"""Programs in few words for the tests of `fix:` lines, and some of them."""

from __future__ import annotations

import re
from typing import Any

from tir_mlir import Schedule


def main(buffers: str, *nests: str) -> str:
    """A function of some buffers ("A:8x4 B:8 C:n"), those with lower-case names are allocated, over the nests."""
    shapes = [one.split(":") for one in buffers.split()]
    lists = {name: [n if n.isdigit() or name.islower() else f'"{n}"' for n in size.split("x")] for name, size in shapes}
    params = ", ".join(f'{n}: T.Buffer(({", ".join(s)},), "float32")' for n, s in lists.items() if n.isupper())
    allocs = [f"    {n} = T.alloc_buffer(({', '.join(s)},))" for n, s in lists.items() if n.islower()]
    return "\n".join(["@T.prim_func", f"def main({params}):", *allocs, *nests])


def nest(loops: str, *body: str) -> str:
    """Loops ("i:8 j:4", "i:2-8" from 2 to 8) around blocks or statements."""
    lines, depth = [], 1
    for one in loops.split():
        name, size = one.split(":")
        lines.append("    " * depth + f"for {name} in range({size.replace('-', ', ').replace('_', ' ')}):")
        depth += 1
    inner = "\n".join(body)
    return "\n".join([*lines, *("    " * (depth - 1) + line for line in inner.splitlines())])


def block(name: str, iters: str, body: str, init: str = "", where: str = "") -> str:
    """A block "name" with iters ("vi:8=i vk:4R=k"), a body and perhaps an init."""
    lines = [f'    with T.block("{name}"):']
    kinds = {"S": "spatial", "R": "reduce", "O": "opaque"}
    for one in re.split(r" (?=\w+:)", iters):
        var, rest = one.split(":", 1)
        size, binding = rest.split("=", 1)
        kind = size[-1] if size[-1] in kinds else "S"
        lines.append(f"        {var} = T.axis.{kinds[kind]}({size.rstrip('SRO')}, {binding})")
    lines += [f"        T.where({where})"] if where else []
    lines += ["        with T.init():", f"            {init}"] if init else []
    lines += [f"        {line}" for line in body.split("; ")]
    return "\n".join(lines)


def at(sch: Schedule, name: str, number: int = 0) -> Any:
    return sch.get_loops(name)[number]


def each(name: str, body: str, extent: int | str = 8) -> str:
    """A block over vi, in a loop of its own."""
    return nest(f"i:{extent}", block(name, f"vi:{extent}=i", body))


def indented(text: str, depth: int = 1) -> str:
    return "\n".join("    " * depth + line for line in text.splitlines())


SUM = nest("i:8 k:4", block("C", "vi:8=i vk:4R=k", "c[vi] = c[vi] + A[vi, vk]", "c[vi] = 0.0"))
SUMMED = "A:8x4 B:8 D:8 c:8"


def followed(body: str) -> str:
    """A sum, and a block on its result."""
    return main(SUMMED, SUM, each("D", body))


def shorter(domain: int) -> str:
    """A loop over 5 of the points of an iter."""
    read = "D[vi] = T.if_then_else(vi < 5, c[vi], A[vi])"
    return main("A:9 D:9 c:9", nest("i:5", block("C", f"vi:{domain}=i", "c[vi] = A[vi]")), each("D", read, 9))


def cut(name: str, end: str, where: str = "") -> str:
    """A loop j over rows of 6."""
    return nest(f"j:{end}", block(name, "vi:8=i vj:6=j", f"{name}[vi, vj] = A[vi, vj]", where=where))


OVERWRITTEN = main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), each("reset", "A[vi] = 1.0"), each("C", "C[vi] = b[vi]"))
BRANCHES = main(
    "A:8 B:8 C:8",
    nest(
        "i:8",
        "    if A[0] > 0.0:",
        indented(block("B", "vi:8=i", "B[vi] = A[vi]")),
        "    else:",
        indented(block("C", "vi:8=i", "C[vi] = B[vi]")),
    ),
)
WRITTEN = nest("j:1", block("w", "vi:8=i vj:1=j", "B[vi, vj] = A[vi, vj]"))
PARTS = nest("j:2", block("b", "vi:8=i vj:2=j", "b[vi, vj] = {}"))
BOTH = nest("j:1", block("C", "vi:8=i", "C[vi] = b[vi, 0] + b[vi, 1]"))
SHARED = main(
    "A:4x4 C:4x4 b:4x4",
    nest(
        "i:4",
        nest("j:4", block("B", "vi:4=i vj:4=j", "b[vi, vj] = A[vi, vj]")),
        nest("k:4", block("C", "vi:4=i vj:4=k", "C[vi, vj] = b[vi, vj]")),
    ),
)
LANES = main(
    "A:10 D:8 p:10 c:8",
    "    for i in T.vectorized(8):",
    indented(nest("j:3", block("P", "vi:10=i + j", "p[vi] = A[vi]"))),
    indented(block("C", "vi:8=i", "c[vi] = p[vi] + p[vi + 2]")),
    each("D", "D[vi] = c[vi]"),
)
PADDED = "b[vi] = T.if_then_else(vi < 8, A[vi], T.float32(0))"
CUT_BY_SIZE = "C[vi] = T.if_then_else(vi < m, A[vi], T.float32(0))"
PAIR = main("A:8 C:8 b:8", each("B", "b[vi] = A[vi] + 1.0"), each("C", "C[vi] = b[vi] * 2.0"))
INNER = "for j in range(2):; " + "; ".join(block("C", "vj:2=j", "C[vo * 2 + vj] = b[vo * 2 + vj]").splitlines())
