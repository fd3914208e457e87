"""Random programs for GPUs: their text, arrays that are exact in f32, and the results that NumPy computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

HEAD = "from tvm.script import tir as T\n@T.prim_func\n"
SIZES = (1, 3, 5, 8, 16, 17, 24, 31, 32, 33, 40, 64)


@dataclass(frozen=True)
class Source:
    """A program. `arrays`: fresh arguments. `expected`: the arguments after a call, computed from those before it."""

    text: str
    shapes: tuple[tuple[int, ...], ...]
    reference: Callable[..., None]

    def arrays(self, seed: int) -> list[np.ndarray]:
        rng = np.random.default_rng(seed)
        arrays = [rng.integers(-4, 5, shape).astype(np.float32) for shape in self.shapes]
        return [np.where((a == 0) & (rng.random(a.shape) < 0.5), np.float32(-0.0), a) for a in arrays]


def source(random: Random) -> Source:
    """A random program of a random family."""
    return random.choice(FAMILIES)(random)


def _buffers(shapes: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f'{name}: T.Buffer({shape}, "float32")' for name, shape in shapes.items())


def _nest(block: str, loops: dict[str, tuple[int, str]], body: str, init: str = "") -> str:
    """A block over loops: name -> (extent, kind)."""
    names, extents = list(loops), [n for n, _ in loops.values()]
    kinds = "".join(kind for _, kind in loops.values())
    axes = f"{', '.join('v' + n for n in names)} = T.axis.remap({kinds!r}, [{', '.join(names)}])"
    lines = [f"for {', '.join(names)} in T.grid({', '.join(map(str, extents))}):", f"    with T.block({block!r}):"]
    lines.append(f"        {axes}")
    if init:
        lines += ["        with T.init():", f"            {init}"]
    lines.append(f"        {body}")
    return "".join(f"    {line}\n" for line in lines)


def _alloc(name: str, shape: tuple[int, ...]) -> str:
    return f'    {name} = T.alloc_buffer({shape}, "float32")\n'


def _pick(random: Random, most: int = 64) -> int:
    return random.choice([n for n in SIZES if n <= most])


# --- families ---------------------------------------------------------------------------------------------------------


def chain(random: Random) -> Source:
    """Stages over one or two dimensions that read each other at an offset, mirrored or transposed."""
    n, m = _pick(random), _pick(random, 33)
    kinds = random.choices(("same", "back", "near", "turn"), k=random.randint(1, 3))
    text, shape = "", (n, m)
    steps: list[tuple[str, tuple[int, int]]] = []
    previous = "A"
    size: tuple[int, int] = shape
    for number, kind in enumerate(kinds):
        last = number == len(kinds) - 1
        name = "B" if last else f"T{number}"
        out = (size[1], size[0]) if kind == "turn" else size
        if kind == "near" and (size[0] < 3 or size[1] < 2):
            kind = "same"
        if kind == "near":
            out = (size[0] - 2, size[1] - 1)
        value = {
            "same": f"{previous}[vi, vj] * 2.0 + 1.0",
            "back": f"{previous}[{size[0] - 1} - vi, vj] - 3.0",
            "near": f"{previous}[vi, vj] + {previous}[vi + 2, vj + 1] * 2.0",
            "turn": f"{previous}[vj, vi] + 1.0",
        }[kind]
        text += "" if last else _alloc(name, out)
        steps.append((kind, out))
        previous_nest = _nest(name, {"i": (out[0], "S"), "j": (out[1], "S")}, f"{name}[vi, vj] = {value}")
        text += previous_nest
        previous, size = name, out

    def reference(a: np.ndarray, b: np.ndarray) -> None:
        value = a
        for kind, _ in steps:
            value = {
                "same": lambda x: x * 2 + 1,
                "back": lambda x: x[::-1] - 3,
                "near": lambda x: x[:-2, :-1] + x[2:, 1:] * 2,
                "turn": lambda x: x.T + 1,
            }[kind](value)
        b[...] = value

    allocs = "".join(line + "\n" for line in text.splitlines() if "alloc_buffer" in line)
    body = "".join(line + "\n" for line in text.splitlines() if "alloc_buffer" not in line)
    head = f"def f({_buffers({'A': shape, 'B': size})}):\n"
    return Source(HEAD + head + allocs + body, (shape, size), reference)


def product(random: Random) -> Source:
    """C = A @ B, with a stage after it in some programs."""
    n, m, k = (_pick(random, 33) for _ in range(3))
    after = random.random() < 0.4
    target = "P" if after else "C"
    loops = {"i": (n, "S"), "j": (m, "S"), "k": (k, "R")}
    body = _nest(target, loops, f"{target}[vi, vj] += A[vi, vk] * B[vk, vj]", f"{target}[vi, vj] = 0.0")
    if after:
        body = _alloc("P", (n, m)) + body
        body += _nest("C", {"i": (n, "S"), "j": (m, "S")}, "C[vi, vj] = T.max(P[vi, vj], 0.0)")

    def reference(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        c[...] = np.maximum(a @ b, 0) if after else a @ b

    shapes = {"A": (n, k), "B": (k, m), "C": (n, m)}
    return Source(HEAD + f"def f({_buffers(shapes)}):\n" + body, tuple(shapes.values()), reference)


def rows(random: Random) -> Source:
    """A sum, or a maximum, over each row, or over each column."""
    n, k = _pick(random), _pick(random)
    largest, columns = random.random() < 0.3, random.random() < 0.3
    element = "A[vk, vi]" if columns else "A[vi, vk]"
    update = f"B[vi] = T.max(B[vi], {element})" if largest else f"B[vi] = B[vi] + {element}"
    start = "B[vi] = T.float32(-1e9)" if largest else f"B[vi] = {random.choice(('0.0', '2.0'))}"
    loops = {"i": (n, "S"), "k": (k, "R")}
    body = _nest("B", loops, update, start)
    bias = 2.0 if "= 2.0" in start else 0.0

    def reference(a: np.ndarray, b: np.ndarray) -> None:
        b[...] = a.max(int(not columns)) if largest else a.sum(int(not columns)) + bias

    shapes = {"A": (k, n) if columns else (n, k), "B": (n,)}
    return Source(HEAD + f"def f({_buffers(shapes)}):\n" + body, tuple(shapes.values()), reference)


def normalized(random: Random) -> Source:
    """The steps of a softmax, without the exponential: max, difference, sum, product."""
    n, k = _pick(random, 33), _pick(random)
    rows_, both = {"i": (n, "S"), "k": (k, "R")}, {"i": (n, "S"), "k": (k, "S")}
    body = _alloc("M", (n,)) + _alloc("E", (n, k)) + _alloc("Z", (n,))
    body += _nest("M", rows_, "M[vi] = T.max(M[vi], A[vi, vk])", "M[vi] = T.float32(-1e9)")
    body += _nest("E", both, "E[vi, vk] = A[vi, vk] - M[vi]")
    body += _nest("Z", rows_, "Z[vi] = Z[vi] + E[vi, vk]", "Z[vi] = 0.0")
    body += _nest("B", both, "B[vi, vk] = E[vi, vk] * 2.0 - Z[vi]")

    def reference(a: np.ndarray, b: np.ndarray) -> None:
        e = a - a.max(1, keepdims=True)
        b[...] = e * 2 - e.sum(1, keepdims=True)

    shapes = {"A": (n, k), "B": (n, k)}
    return Source(HEAD + f"def f({_buffers(shapes)}):\n" + body, tuple(shapes.values()), reference)


def relaxation(random: Random) -> Source:
    """A stencil that goes back and forth between two buffers, for a number of steps, in place."""
    n, steps = max(_pick(random), 3), random.randint(1, 3)
    inner = f"for i in range({n - 2}):"
    body = f"""    S = T.alloc_buffer(({n},), "float32")
    for t in range({steps}):
        {inner}
            with T.block("S"):
                vt, vi = T.axis.remap("OS", [t, i])
                S[vi + 1] = A[vi] + A[vi + 2]
        {inner}
            with T.block("A"):
                vt, vi = T.axis.remap("OS", [t, i])
                A[vi + 1] = S[vi + 1]
"""
    body = body.replace('T.axis.remap("OS", [t, i])', f"T.axis.opaque({steps}, t), T.axis.spatial({n - 2}, i)")

    def reference(a: np.ndarray) -> None:
        for _ in range(steps):
            a[1:-1] = a[:-2] + a[2:]

    return Source(HEAD + f"def f({_buffers({'A': (n,)})}):\n" + body, ((n,),), reference)


def private(random: Random) -> Source:
    """A buffer for each iteration of a loop, filled and read in another order."""
    n, k = _pick(random, 33), _pick(random, 33)
    scope = random.choice(("shared", "local", "global"))
    read, write = (random.choice(("vk", f"(vi + vk) % {k}", f"{k - 1} - vk")) for _ in range(2))
    body = f"""    for i in range({n}):
        with T.block("row"):
            vi = T.axis.spatial({n}, i)
            S = T.alloc_buffer(({k},), "float32", scope={scope!r})
            for k in range({k}):
                with T.block("S"):
                    vk = T.axis.spatial({k}, k)
                    S[{write}] = A[vi, vk] * 2.0
            for k in range({k}):
                with T.block("B"):
                    vk = T.axis.spatial({k}, k)
                    B[vi, vk] = S[{read}] + 1.0
"""

    def reference(a: np.ndarray, b: np.ndarray) -> None:
        s = np.zeros_like(a)
        for vi in range(n):
            for vk in range(k):
                s[vi, eval(write, {"vi": vi, "vk": vk})] = a[vi, vk] * 2
            for vk in range(k):
                b[vi, vk] = s[vi, eval(read, {"vi": vi, "vk": vk})] + 1

    shapes = {"A": (n, k), "B": (n, k)}
    return Source(HEAD + f"def f({_buffers(shapes)}):\n" + body, tuple(shapes.values()), reference)


def guarded(random: Random) -> Source:
    """B at the elements where a condition holds that reads B, and A in some programs."""
    n, m = _pick(random, 33), _pick(random, 33)
    also, own = random.random() < 0.5, random.random() < 0.5
    holds = "B[i, j] < 1.0" + " and A[i, j] > 0.0" * also
    value = "B[vi, vj] + A[vi, vj]" if own else "A[vi, vj]"
    body = _nest("B", {"i": (n, "S"), "j": (m, "S")}, f"T.where({holds})\n            B[vi, vj] = {value}")

    def reference(a: np.ndarray, b: np.ndarray) -> None:
        chosen = (b < 1) & ((a > 0) | (not also))
        b[...] = np.where(chosen, b + a if own else a, b)

    shapes = {"A": (n, m), "B": (n, m)}
    return Source(HEAD + f"def f({_buffers(shapes)}):\n" + body, tuple(shapes.values()), reference)


FAMILIES = (guarded, chain, chain, product, product, rows, rows, normalized, relaxation, private)
