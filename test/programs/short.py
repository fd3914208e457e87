"""A compact notation for programs, and the programs shared by several tables of fix rows.

main("A:8x4 D:8 c:8",                           @T.prim_func
     nest("i:8 k:4",                            def main(A: T.Buffer((8, 4), "float32"), D: ...):
          sblock("C", "vi:8=i vk:4R=k",              c = T.alloc_buffer((8,), "float32")
                "c[vi] = c[vi] + A[vi, vk]",        for i in range(8):
                init="c[vi] = 0.0")),      ->           for k in range(4):
     each("D", "D[vi] = c[vi] + 1.0"))                      with T.block("C"):
                                                                vi = T.axis.spatial(8, i)
                                                                vk = T.axis.reduce(4, k)
                                                                with T.init():
                                                                    c[vi] = 0.0
                                                                c[vi] = c[vi] + A[vi, vk]
                                                    for i in range(8): ...
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from programs.parsed import parse

if TYPE_CHECKING:
    from tir_mlir.script.module import IRModule

KINDS = {"S": "spatial", "R": "reduce", "O": "opaque"}


def main(buffers: str, *body: str, name: str = "main") -> str:
    """A function of buffers ("A:8x4 X:8:int32 c:8 C:n", float32 by default); lower-case names, and all names after
    a ";", are allocated."""
    lines: dict[bool, list[str]] = {False: [], True: []}
    after = False
    for one in buffers.replace(";", " ; ").split():
        after = after or one == ";"
        if one == ";":
            continue
        buffer, size, dtype = (*one.split(":"), "float32")[:3]
        allocated = after or (";" not in buffers and buffer.islower())
        shape = "".join(f"{n}, " if n[0] in "0123456789{" or allocated else f'"{n}", ' for n in size.split("x"))
        lines[allocated].append(f'{buffer}{" = T.alloc_buffer" if allocated else ": T.Buffer"}(({shape}), "{dtype}")')
    return "@T.prim_func\n" + under(f"def {name}({', '.join(lines[False])}):", *lines[True], *body)


def program(buffers: str, *body: str, name: str = "main") -> IRModule:
    """The module of such a function."""
    return parse(main(buffers, *body, name=name))


def under(head: str, *body: str) -> str:
    """Statements under an `if`, or under a loop of some kind."""
    return "\n".join([head, *(textwrap.indent(one, "    ") for one in body)])


def nest(loops: str, *body: str) -> str:
    """Loops ("i:8 j:4", "i:2..8" from 2 on, "i:8 j:i+1", "i:8:parallel") around blocks or statements."""
    first, *rest = loops.split()
    name, ends, kind = (*first.split(":"), "")[:3]
    inner = [nest(" ".join(rest), *body)] if rest else body
    return under(f"for {name} in {f'T.{kind}' if kind else 'range'}({ends.replace('..', ', ')}):", *inner)


def sblock(name: str, iters: str, *body: str, init: str = "", where: str = "") -> str:
    """A block with iters ("vi:8=i vk:4R=k", "vi:(1,8)=i + 1", "SR i k" for all of the loops i and k) around
    statements, optionally with a guard and an init."""
    kinds, *loops = iters.split() or [""]
    if loops and ":" not in iters:
        lines = [f'{"".join(f"v{n}, " for n in loops)} = T.axis.remap("{kinds}", [{", ".join(loops)}])']
    else:
        lines = [_axis(one) for one in re.split(r" (?=\w+:)", iters) if one]
    guard = [f"T.where({where})"] if where else []
    start = [under("with T.init():", *init.split("; "))] if init else []
    return under(f'with T.block("{name}"):', *lines, *guard, *start, *body)


def _axis(one: str) -> str:
    """An iter: "vk:4R=k" -> `vk = T.axis.reduce(4, k)`."""
    var, domain, binding = re.fullmatch(r"(\w+):([^=]+)=(.*)", one).groups()
    return f"{var} = T.axis.{KINDS.get(domain[-1], 'spatial')}({domain.rstrip('SRO')}, {binding})"


def each(points: str, *body: str, init: str = "", where: str = "") -> str:
    """A block over all points, with its own loops: "C" of 8, "C:4x6" with iters vi, vj, vk, "C i:4 k:8R" of vi, vk."""
    name, *loops = points.split()
    if not loops:
        name, _, size = points.partition(":")
        loops = [f"{i}:{n}" for i, n in zip("ijk", (size or "8").split("x"), strict=False)]
    pairs = [re.fullmatch(r"(\w+):(.+?)([SRO]?)", one).groups() for one in loops]
    iters = " ".join(f"v{i}:{n}{kind}={i}" for i, n, kind in pairs)
    return nest(" ".join(f"{i}:{n}" for i, n, _ in pairs), sblock(name, iters, *body, init=init, where=where))


def total(added: str = "A[vi, vk]", name: str = "C", to: str = "C", init: str = "0.0", where: str = "") -> str:
    """Eight sums over 4 elements each."""
    update = f"{to}[vi] = {to}[vi] + {added}"
    return nest("i:8 k:4", sblock(name, "vi:8=i vk:4R=k", update, init=f"{to}[vi] = {init}", where=where))


def followed(body: str, *before: str) -> str:
    """A sum, and a block "D" that reads its result."""
    return main("A:8x4 B:8 D:8 c:8", total(to="c"), *before, each("D", body))


ONE = main("A:16 C:16", each("C:16", "C[vi] = A[vi] + 1.0"))
ONE_2D = main("A:8x4 C:8x4", each("C:8x4", "C[vi, vj] = A[vi, vj] + 1.0"))
PAIR = main("A:8 C:8 b:8", each("B", "b[vi] = A[vi] + 1.0"), each("C", "C[vi] = b[vi] * 2.0"))
PAIR_2D = main("A:4x6 C:4x6 b:4x6", each("B:4x6", "b[vi, vj] = A[vi, vj]"), each("C:4x6", "C[vi, vj] = b[vi, vj]"))
KEPT_PAIR = main("A:8 B:8 C:8", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]"))
SUMS = followed("D[vi] = c[vi] + 1.0")
BIASED = followed("D[vi] = c[vi] + B[vi]")
PRODUCED = main(
    "B:8x4 C:8 a:8x4", nest("i:8 k:4", sblock("A", "vi:8=i vk:4=k", "a[vi, vk] = B[vi, vk] * 2.0")), total("a[vi, vk]")
)
TWO_RESULTS = main(
    "A:8 C:8 b:8 d:8", each("B", "b[vi] = A[vi]", "d[vi] = A[vi] + 1.0"), each("C", "C[vi] = b[vi] + d[vi]")
)
HALVES = main(
    "A:8 C:8 b:8", each("L:4", "b[vi] = A[vi]"), each("H:4", "b[vi + 4] = A[vi]"), each("C", "C[vi] = b[vi] + 1.0")
)
EARLIER_READER = main(
    "A:8 C:8 D:8 b:8", each("B", "b[vi] = A[vi]"), each("D", "D[vi] = C[vi] + 1.0"), each("C", "C[vi] = b[vi]")
)
STENCIL = main("A:10 C:8 b:10", each("B:10", "b[vi] = A[vi] * 2.0"), each("C", "C[vi] = b[vi] + b[vi + 2]"))
GATHER = main("A:8 X:8:int32 C:8 b:8", each("B", "b[vi] = A[vi]"), each("C", "C[vi] = b[X[vi]] + 1.0"))
VIEWED = main(
    "A:8 C:8 b:8", each("B", "W = T.match_buffer(b[vi], (1,))", "W[0] = A[vi] + 1.0"), each("C", "C[vi] = b[vi] + 1.0")
)
VIEWS = main(
    "A:8x4 C:8x4",
    each(
        "C",
        "V = T.match_buffer(A[vi, 0:4], (4,))",
        "W = T.match_buffer(C[vi, 0:4], (4,))",
        nest("j:4", "W[j] = V[j] + 1.0"),
    ),
)
FROM_ONE = main("A:8 C:8", nest("i:1..8", sblock("C", "vi:(1,8)=i", "C[vi] = A[vi]")))
FROM_ZERO = main("A:8 C:8", nest("i:7", sblock("C", "vi:(1,8)=i + 1", "C[vi] = A[vi]")))
TRIANGLE = main("A:4x4 C:4x4", nest("i:4 j:i+1", sblock("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]")))
CUT_SQUARE = main("A:4x4 C:4x4", nest("i:4 j:4", sblock("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]", where="j <= i")))


def row_sums(loops: str, added: str = "A[vi, vk]", where: str = "") -> str:
    """Sums of rows of 8, and a block that reads them."""
    summed = sblock("C", "vi:8=i vk:8R=k", f"c[vi] = c[vi] + {added}", init="c[vi] = 0.0", where=where)
    return main("A:8x8 D:8 c:8", nest(loops, summed), each("D", "D[vi] = c[vi] + 1.0"))


SUMS_OF_A_TRIANGLE = row_sums("i:8 k:i+1")
SUMS_OF_WHOLE_ROWS = row_sums("i:8 k:8", "T.if_then_else(vk <= vi, A[vi, vk], 0.0)")


def shorter(domain: int) -> str:
    """A loop over the first 5 points of an iter."""
    read = each("D:9", "D[vi] = T.if_then_else(vi < 5, c[vi], A[vi])")
    return main("A:9 D:9 c:9", nest("i:5", sblock("C", f"vi:{domain}=i", "c[vi] = A[vi]")), read)
