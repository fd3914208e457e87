"""Arguments of compiled functions: arrays of every shape, stride, dtype and alignment, and objects that are not
arrays."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import numpy as np

from fuzzing.inputs import values
from fuzzing.inputs.judging import Fault, described, seen, tried
from tir_mlir import build
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.script.parser import parse

PLAIN = """@T.prim_func
def main(A: T.Buffer((4, 6), "float32"), B: T.Buffer((4, 6), "float32")):
    T.func_attr({"tir.noalias": True})
    for i, j in T.grid(4, 6):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi, vj]
"""
SIZED = """@T.prim_func
def main(a: T.handle, b: T.handle, n: T.int32):
    m = T.int32()
    s = T.int32()
    A = T.match_buffer(a, (n, m * 2), "int8", strides=[s, 1])
    B = T.match_buffer(b, (n, m * 2), "int32")
    for i, j in T.grid(n, m * 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Cast("int32", A[vi, vj]) * 2
"""
HALF = """@T.prim_func
def main(A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "float16")):
    for i in range(8):
        with T.block("B"):
            v = T.axis.spatial(8, i)
            B[v] = A[v] + A[v]
"""
DTYPES = (
    "float32",
    "float32",
    "float64",
    "float16",
    "int8",
    "int32",
    "uint8",
    "bool",
    "complex64",
    ">f4",
    "S4",
    "O",
    "M8[s]",
    "f4,i4",
)


class Child(np.ndarray):
    """A subclass of an array."""


class FakeArray:
    """An object that claims to be an array."""

    def __init__(self, inner: Any, **facts: Any):
        self.inner = inner
        self.__dict__ |= facts

    def __dlpack__(self, **_: Any) -> Any:
        return self.inner.__dlpack__() if isinstance(self.inner, np.ndarray) else self.inner

    def __dlpack_device__(self) -> Any:
        return (1, 0)


class Numpy:
    def __init__(self, inner: Any):
        self.inner = inner

    def numpy(self) -> Any:
        return self.inner


@cache
def _functions() -> list[tuple[Any, list[tuple[int, ...]], list[str], bool]]:
    """Return functions with matching shapes and dtypes, and whether the last argument is a size."""
    made = []
    for text, shape, dtypes, sized in (
        (PLAIN, (4, 6), ["float32", "float32"], False), (SIZED, (3, 4), ["int8", "int32"], True),
        (HALF, (8,), ["float16", "float16"], False),
    ):  # fmt: skip
        made.append((build(parse(text))["main"], [shape, shape], dtypes, sized))
    return made


def case(random: Random) -> str:
    """Call one function a few times with arguments that nearly match."""
    function, shapes, dtypes, sized = random.choice(_functions())
    word = "refused"
    for _ in range(random.randint(1, 6)):
        args: list[Any] = [_right(random, s, d) for s, d in zip(shapes, dtypes, strict=True)]
        if sized:
            args.append(shapes[0][0])
        for _ in range(random.choice((0, 1, 1, 1, 2))):
            _wrong(random, args)
        if _called(function, args) == "accepted":
            word = "accepted"
    return word


def _called(function: Any, args: list[Any]) -> str:
    shown = f"{function}({', '.join(_shown(a) for a in args)})"
    source = _array(args[0]) if args else None
    want = None if source is None else np.array(source, copy=True)
    other = None if len(args) < 2 or _array(args[1]) is None else np.array(_array(args[1]), copy=True)
    word, error = tried(shown, lambda: function(*args))
    if word == "refused":
        if not isinstance(error, (ArgumentError, TypeError)):
            raise Fault(f"a call is refused with {described(error)}\n{shown}")
        result = _array(args[1]) if len(args) > 1 else None
        if other is not None and result is not None and other.tobytes() != result.tobytes():
            raise Fault(f"a refused call wrote to its output: {error}\n{shown}")
        return word
    result = _array(args[1])
    if want is None or result is None:
        raise Fault(f"a call accepted an argument that is not an array\n{shown}")
    with np.errstate(all="ignore"):
        if not np.array_equal(
            result, (want.astype(result.dtype) * 2).astype(result.dtype), equal_nan=result.dtype.kind == "f"
        ):
            raise Fault(f"a call returned {result.tolist()}, expected {want.tolist()}\n{shown}")
    return word


def _array(value: Any) -> np.ndarray | None:
    while isinstance(value, (FakeArray, Numpy)):
        value = value.inner
    return np.asarray(value) if isinstance(value, np.ndarray) else None


def _right(random: Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    count = int(np.prod(shape))
    return np.array([random.randint(-9, 9) for _ in range(count)]).astype(dtype).reshape(shape)


def _wrong(random: Random, args: list[Any]) -> None:
    """Change, drop or duplicate one argument."""
    if not args or random.random() < 0.08:
        args.append(values.plain(random))
        return
    at = random.randrange(len(args))
    if random.random() < 0.05:
        del args[at]
        return
    args[at] = _array_wrong(random, args[at]) if isinstance(args[at], np.ndarray) else values.plain(random)
    if random.random() < 0.08:
        args[at] = args[random.randrange(len(args))]


def _array_wrong(random: Random, a: np.ndarray) -> Any:  # noqa: C901  one case a property
    """Return an array that differs in one property."""
    if not a.ndim or a.dtype.hasobject:
        return a[None]
    match random.randrange(20):
        case 0:
            return a[::-1]
        case 1:
            return np.asfortranarray(a)
        case 2:
            return a.T
        case 3:
            return np.repeat(a, 2, axis=-1)[..., ::2]
        case 4:
            wide = np.concatenate([a, a], axis=-1)
            return wide[..., : a.shape[-1]]
        case 5:
            try:
                return a.astype(random.choice(DTYPES))
            except (TypeError, ValueError):
                return a
        case 6:
            return a.astype(a.dtype.newbyteorder(">"))
        case 7:
            a.flags.writeable = False
            return a
        case 8:
            return a[None] if random.random() < 0.5 or not (a.ndim and len(a)) else a[0]
        case 9:
            return a[:0]
        case 10:
            shape = list(a.shape)
            shape[random.randrange(len(shape))] = random.choice((0, 1, 2, 5, 7))
            return np.zeros(shape, a.dtype)
        case 11:
            return (
                np.frombuffer(b"\0" + a.tobytes() + bytes(8), np.uint8)[1 : 1 + a.nbytes].view(a.dtype).reshape(a.shape)
            )
        case 12:
            loose = bytearray(a.nbytes + 8)
            return np.ndarray(a.shape, a.dtype, loose, offset=random.choice((0, 1, 2, 4)))
        case 13:
            return np.broadcast_to(a[:1], a.shape)
        case 14:
            return a.view(Child) if random.random() < 0.5 else np.ma.masked_array(a, mask=True)
        case 15:
            return FakeArray(a, shape=a.shape) if random.random() < 0.7 else FakeArray(values.plain(random))
        case 16:
            return Numpy(random.choice((a, a if a.dtype.fields else a.astype("float64"), None, 3, "x")))
        case 17:
            return a.tolist()
        case 18:
            return np.float32(3)
        case _:
            return values.plain(random)


def _shown(value: Any) -> str:
    if isinstance(value, (FakeArray, Numpy)):
        return f"{type(value).__name__}({_shown(value.inner)})"
    if isinstance(value, np.ndarray):
        return f"<{type(value).__name__} {value.dtype} {value.shape} strides {value.strides} {value.flags.writeable}>"
    return seen(value)
