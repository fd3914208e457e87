"""Kernels of kinds that other compilers made wrong code of, by reports of their users.

Dropped barriers, pipelines whose stages overtake each other, buffers used twice, halos, tails, in-place updates, values
exchanged in a warp without a barrier, sums over threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Kernel(NamedTuple):
    """A program with `t` over 64 threads and `b` over blocks; loops are written as `for t in threads(64):`."""

    name: str
    buffers: str
    body: str
    reference: Callable[..., np.ndarray] | str
    barriers: int | None = None


TAGS = {"threads": "threadIdx.x", "rows": "threadIdx.y", "blocks": "blockIdx.x", "virtual": "vthread.x"}


def block(name: str, axes: str, statement: str, where: str = "") -> list[str]:
    """`k:O:8 t:S:64` -> the lines of a block with these axes, bound to the loops of the same names."""
    lines = [f"with T.block({name!r}):"]
    for axis in axes.split():
        loop, kind, extent = axis.split(":")
        word = {"S": "spatial", "R": "reduce", "O": "opaque"}[kind]
        lines.append(f"    v{loop} = T.axis.{word}({extent}, {loop})")
    lines += [f"    T.where({where})"] if where else []
    return [*lines, *(f"    {line}" for line in statement.split("\\n"))]


def text_of(kernel: Kernel) -> str:
    """The program: `@ name | axes | statement | where` is a block, `threads(n)`, `blocks(n)` are bound loops."""
    parameters = []
    for part in kernel.buffers.split():
        name, shape = part.split(":")
        dtype = "int32" if name.startswith("I") else "float32"
        parameters.append(f'{name}: T.Buffer(({shape},), "{dtype}")')
    lines = []
    for line in kernel.body.strip("\n").splitlines():
        indent, content = len(line) - len(line.lstrip()), line.strip()
        if content.startswith("@"):
            parts = [part.strip() for part in content[1:].split("|")]
            lines += [" " * (indent + 4) + inner for inner in block(*parts)]
        else:
            for word, tag in TAGS.items():
                if f"in {word}(" in content:
                    head, _, count = content.partition(f"in {word}(")
                    content = f'{head}in T.thread_binding({count.rstrip("):")}, thread="{tag}"):'
            lines.append(" " * (indent + 4) + content)
    head = "from tvm.script import tir as T\n@T.prim_func\n"
    return head + f"def f({', '.join(parameters)}):\n" + "\n".join(lines) + "\n"


SHARED = 'S = T.alloc_buffer((64,), "float32", scope="shared")'
LOCAL = 'L = T.alloc_buffer((64,), "float32", scope="local")'


def neighbors(a: np.ndarray) -> np.ndarray:
    """Three turns, in each of which every inner element becomes the sum of those beside it."""
    for _ in range(3):
        a[1:-1] = a[:-2] + a[2:]
    return a


KERNELS = [
    Kernel("neighbors in memory of the device, which LLVM may keep in registers over barriers", "A:66", """
S = T.alloc_buffer((64,), "float32")
for k in range(3):
    for t in threads(64):
        @ S | k:O:3 t:S:64 | S[vt] = A[vt] + A[vt + 2]
    for t in threads(64):
        @ A | k:O:3 t:S:64 | A[vt + 1] = S[vt]
""", neighbors, 6),
    Kernel("the value of another thread, without a barrier", "A:64 B:64", f"""
{SHARED}
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt] = A[vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = S[63 - vt]
""", lambda a, b: a[::-1], 1),
    Kernel("the next turn overwrites what is still read", "A:8,64 B:8,64", f"""
{SHARED}
for k in range(8):
    for t in threads(64):
        @ S | k:O:8 t:S:64 | S[vt] = A[vk, vt]
    for t in threads(64):
        @ B | k:S:8 t:S:64 | B[vk, vt] = S[63 - vt]
""", lambda a, b: a[:, ::-1], 16),
    Kernel("two rows one after the other, of which the compiler keeps one", "A:8,64 B:8,64", """
S = T.alloc_buffer((2, 64), "float32", scope="shared")
for k in range(8):
    for t in threads(64):
        @ S | k:O:8 t:S:64 | S[vk % 2, vt] = A[vk, vt]
    for t in threads(64):
        @ B | k:S:8 t:S:64 | B[vk, vt] = S[vk % 2, 63 - vt]
""", lambda a, b: a[:, ::-1], 16),
    Kernel("a pipeline that fetches the next tile before it reads this one", "A:9,64 B:8,64", """
S = T.alloc_buffer((2, 64), "float32", scope="shared")
for t in threads(64):
    @ first | t:S:64 | S[0, vt] = A[0, vt]
for k in range(8):
    for t in threads(64):
        @ S | k:O:8 t:S:64 | S[(vk + 1) % 2, vt] = A[vk + 1, vt]
    for t in threads(64):
        @ B | k:S:8 t:S:64 | B[vk, vt] = S[vk % 2, 63 - vt]
""", "lasts as long as one kernel"),
    Kernel("the same in one kernel", "A:9,64 B:8,64", """
S = T.alloc_buffer((2, 64), "float32", scope="shared")
for u in blocks(1):
    for t in threads(64):
        @ first | t:S:64 | S[0, vt] = A[0, vt]
    for k in range(8):
        for t in threads(64):
            @ S | k:O:8 t:S:64 | S[(vk + 1) % 2, vt] = A[vk + 1, vt]
        for t in threads(64):
            @ B | k:S:8 t:S:64 | B[vk, vt] = S[vk % 2, 63 - vt]
""", lambda a, b: a[:8, ::-1], 8),
    Kernel("three stages, filled two turns ahead", "A:10,64 B:8,64", """
S = T.alloc_buffer((3, 64), "float32", scope="shared")
for u in blocks(1):
    for n in range(2):
        for t in threads(64):
            @ first | n:S:2 t:S:64 | S[vn, vt] = A[vn, vt]
    for k in range(8):
        for t in threads(64):
            @ S | k:O:8 t:S:64 | S[(vk + 2) % 3, vt] = A[vk + 2, vt]
        for t in threads(64):
            @ B | k:S:8 t:S:64 | B[vk, vt] = S[vk % 3, 63 - vt]
""", lambda a, b: a[:8, ::-1]),
    Kernel("one buffer for two tiles", "A:64 C:64 B:64", f"""
{SHARED}
{LOCAL}
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt] = A[vt]
    for t in threads(64):
        @ L | t:S:64 | L[vt] = S[63 - vt]
    for t in threads(64):
        @ again | t:S:64 | S[vt] = C[vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = L[vt] + S[63 - vt]
""", lambda a, c, b: a[::-1] + c[::-1], 3),
    Kernel("an update in place that reads the other half", "B:64", f"""
{LOCAL}
for u in blocks(1):
    for t in threads(64):
        @ L | t:S:64 | L[vt] = B[63 - vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = L[vt]
""", lambda b: b[::-1], 1),
    Kernel("a halo that two threads fetch", "A:66 B:64", """
S = T.alloc_buffer((66,), "float32", scope="shared")
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt] = A[vt]
    for t in threads(2):
        @ halo | t:S:2 | S[64 + vt] = A[64 + vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = S[vt] + S[vt + 1] + S[vt + 2]
""", lambda a, b: a[:-2] + a[1:-1] + a[2:], 1),
    Kernel("a halo read before it is written again", "A:4,66 B:4,64", """
S = T.alloc_buffer((66,), "float32", scope="shared")
for k in range(4):
    for t in threads(66):
        @ S | k:O:4 t:S:66 | S[vt] = A[vk, vt]
    for t in threads(64):
        @ B | k:S:4 t:S:64 | B[vk, vt] = S[vt] + S[vt + 2]
""", lambda a, b: a[:, :-2] + a[:, 2:], 8),
    Kernel("fewer elements than threads", "A:50 B:50", """
S = T.alloc_buffer((50,), "float32", scope="shared")
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:50 | S[vt] = A[vt] | t < 50
    for t in threads(64):
        @ B | t:S:50 | B[vt] = S[49 - vt] | t < 50
""", lambda a, b: a[::-1], 1),
    Kernel("a barrier that only some blocks need", "A:2,64 B:2,64", f"""
{SHARED}
for b in blocks(2):
    for k in range(b + 1):
        for t in threads(64):
            @ S | b:O:2 k:O:2 t:S:64 | S[vt] = A[vk, vt]
        for t in threads(64):
            @ B | b:S:2 k:O:2 t:S:64 | B[vb, vt] = S[63 - vt]
""", lambda a, b: a[:, ::-1]),
    Kernel("a tree of sums in one buffer", "A:64 B:64", f"""
{SHARED}
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt] = A[vt]
    for t in threads(32):
        @ a | t:S:32 | S[vt] = S[vt] + S[vt + 32]
    for t in threads(16):
        @ c | t:S:16 | S[vt] = S[vt] + S[vt + 16]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = S[vt % 16]
""", lambda a, b: np.tile(a.reshape(4, 16).sum(0), 4), 3),
    Kernel("a running sum in place", "A:64 B:64", f"""
{SHARED}
{LOCAL}
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt] = A[vt]
    for k in range(6):
        for t in threads(64):
            @ L | k:O:6 t:S:64 | L[vt] = T.if_then_else(vt >= 1, S[T.max(vt - 1, 0)], 0.0)
        for t in threads(64):
            @ again | k:O:6 t:S:64 | S[vt] = S[vt] + L[vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = S[vt]
""", lambda a, b: _running(a)),
    Kernel("rows of two warps, transposed", "A:8,8 B:8,8", """
S = T.alloc_buffer((8, 8), "float32", scope="shared")
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt // 8, vt % 8] = A[vt // 8, vt % 8]
    for t in threads(64):
        @ B | t:S:64 | B[vt // 8, vt % 8] = S[vt % 8, vt // 8]
""", lambda a, b: a.T, 1),
    Kernel("values exchanged in one warp", "A:32 B:32", f"""
{SHARED}
for u in blocks(1):
    for t in threads(32):
        @ S | t:S:32 | S[vt] = A[vt]
    for t in threads(32):
        @ B | t:S:32 | B[vt] = S[(vt + 1) % 32]
""", lambda a, b: np.roll(a, -1), 1),
    Kernel("a register of another thread", "A:64 B:64", f"""
{LOCAL}
for u in blocks(1):
    for t in threads(64):
        @ L | t:S:64 | L[vt] = A[vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = L[63 - vt]
""", "one copy a thread of L will not do"),
    Kernel("what another block of the kernel wrote", "A:64 C:64 B:64", """
for u in threads(1):
    for b in blocks(64):
        @ C | b:S:64 | C[vb] = A[vb]
    for b in blocks(64):
        @ B | b:S:64 | B[vb] = C[63 - vb]
""", "two blocks touch C[0]"),
    Kernel("what another block of the kernel before wrote", "A:64 C:64 B:64", """
for b in blocks(64):
    @ C | b:S:64 | C[vb] = A[vb]
for b in blocks(64):
    @ B | b:S:64 | B[vb] = C[63 - vb]
""", lambda a, c, b: a[::-1], 0),
    Kernel("a table of shared memory by loaded indices", "A:64 I:64 B:64", f"""
{SHARED}
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt] = A[vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = S[I[vt]]
""", lambda a, i, b: a[i], 1),
    Kernel("writes of two threads at loaded indices", "A:64 I:64 B:64", f"""
{SHARED}
for u in blocks(1):
    for t in threads(64):
        @ zero | t:S:64 | S[vt] = 0.0
    for t in threads(64):
        @ S | t:O:64 | S[I[vt]] = A[vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = S[vt]
""", "S"),
    Kernel("two statements write one element, from two threads", "A:64 C:64 B:64", f"""
{SHARED}
for u in blocks(1):
    for t in threads(64):
        @ S | t:S:64 | S[vt] = A[vt]
    for t in threads(32):
        @ more | t:S:32 | S[63 - vt] = C[vt]
    for t in threads(64):
        @ B | t:S:64 | B[vt] = S[vt]
""", lambda a, c, b: np.concatenate([a[:32], c[:32][::-1]]), 2),
    Kernel("virtual threads that share a tile", "A:2,64 B:2,64", f"""
{SHARED}
for v in virtual(2):
    for t in threads(64):
        @ S | v:O:2 t:S:64 | S[vt] = A[vv, vt]
    for t in threads(64):
        @ B | v:S:2 t:S:64 | B[vv, vt] = S[63 - vt]
""", lambda a, b: a[:, ::-1], 4),
    Kernel("a maximum that all threads read, in each turn", "A:4,64 B:4,64", """
M = T.alloc_buffer((1,), "float32", scope="shared")
for k in range(4):
    for t in threads(64):
        @ M | k:O:4 t:R:64 | with T.init():\\n    M[0] = T.float32(-1e9)\\nM[0] = T.max(M[0], A[vk, vt])
    for t in threads(64):
        @ B | k:S:4 t:S:64 | B[vk, vt] = A[vk, vt] - M[0]
""", lambda a, b: a - a.max(1, keepdims=True)),
    *(Kernel(f"a sum over {n} threads", f"A:3,{n} B:3", f"""
for i in blocks(3):
    for t in threads({n}):
        @ B | i:S:3 t:R:{n} | with T.init():\\n    B[vi] = 1.0\\nB[vi] = B[vi] + A[vi, vt]
""", lambda a, b: a.sum(1) + 1) for n in (1, 20, 32, 48, 64, 96, 256)),
    Kernel("a sum over threads of which some have no element", "A:3,50 B:3", """
for i in blocks(3):
    for t in threads(64):
        @ B | i:S:3 t:R:50 | with T.init():\\n    B[vi] = 0.0\\nB[vi] = B[vi] + A[vi, vt] | t < 50
""", lambda a, b: a.sum(1)),
    Kernel("one thread counts in cells of its own, by conditions on data", "A:8 B:3", """
H = T.alloc_buffer((8,), "float32", scope="shared")
for u in blocks(1):
    for p in range(3):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            @ H | p:O:3 t:S:8 | H[vt] = A[vt] + T.Cast("float32", vp)
        with T.block("pick"):
            vp = T.axis.spatial(3, p)
            c = T.alloc_buffer((2,), "float32", scope="local")
            c[0] = 0.0
            c[1] = 0.0
            for d in range(8):
                if c[1] < 1.0:
                    if c[0] + H[7 - d] > 9.0:
                        c[1] = 1.0
                    else:
                        c[0] = c[0] + H[7 - d]
            B[vp] = c[0]
""", lambda a, b: np.array([_picked(a + p) for p in range(3)])),
    Kernel("one thread counts in cells that all may see, by conditions on data", "A:8 B:3", """
H = T.alloc_buffer((8,), "float32", scope="shared")
for u in blocks(1):
    for p in range(3):
        for t in T.thread_binding(8, thread="threadIdx.x"):
            @ H | p:O:3 t:S:8 | H[vt] = A[vt] + T.Cast("float32", vp)
        with T.block("pick"):
            vp = T.axis.spatial(3, p)
            c = T.alloc_buffer((2,), "float32", scope="shared")
            c[0] = 0.0
            c[1] = 0.0
            for d in range(8):
                if c[1] < 1.0:
                    if c[0] + H[7 - d] > 9.0:
                        c[1] = 1.0
                    else:
                        c[0] = c[0] + H[7 - d]
            B[vp] = c[0]
""", lambda a, b: np.array([_picked(a + p) for p in range(3)])),
    Kernel("a sum over two axes of threads", "A:3,6,32 B:3", """
for i in blocks(3):
    for y in rows(6):
        for t in threads(32):
            @ B | i:S:3 y:R:6 t:R:32 | with T.init():\\n    B[vi] = 0.0\\nB[vi] = B[vi] + A[vi, vy, vt]
""", lambda a, b: a.sum((1, 2))),
    Kernel("sums over the rows of a block", "A:6,32 B:32", """
for u in blocks(1):
    for y in rows(6):
        for t in threads(32):
            @ B | t:S:32 y:R:6 | with T.init():\\n    B[vt] = 0.0\\nB[vt] = B[vt] + A[vy, vt]
""", lambda a, b: a.sum(0)),
]  # fmt: skip


def _picked(row: np.ndarray) -> float:
    """The sum of the last elements up to the first that makes it larger than 9."""
    sums, total = np.cumsum(row[::-1]), 0.0
    for value in sums:
        if value > 9:
            break
        total = float(value)
    return total


def _running(a: np.ndarray) -> np.ndarray:
    s = a.copy()
    for _ in range(6):
        s = s + np.concatenate([[0], s[:-1]])
    return s.astype(np.float32)


def arrays_of(kernel: Kernel) -> list[np.ndarray]:
    """Arguments of a kernel, the same every time."""
    rng = np.random.default_rng(0)
    arrays = []
    for part in kernel.buffers.split():
        name, shape = part.split(":")
        sizes = tuple(map(int, shape.split(",")))
        values = rng.permutation(64) if name == "I" else rng.integers(-9, 10, sizes)
        arrays.append(values.astype(np.int32 if name == "I" else np.float32))
    return arrays
