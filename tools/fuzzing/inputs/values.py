"""Python values that are wrong for any parameter, and some that may be right."""

from __future__ import annotations

import functools
from random import Random
from typing import Any

import numpy as np

from tir_mlir import IndexMap
from tir_mlir.dialect.diagnostics import TirError


class Strange:
    """An object without any protocol."""


class Vast:
    """Claims a huge length, and raises on access."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, number: int) -> int:
        raise IndexError("nothing there")


LAMBDAS: tuple[Any, ...] = (
    lambda i: i,
    lambda i, j: (j, i),
    lambda i, j: (i, j),
    lambda i, j, k: (k, j, i),
    lambda *i: i,
    lambda *i: i[::-1],
    lambda: 0,
    lambda i, j: (i // 4, j // 4, i % 4, j % 4),
    lambda i, j: i * 16 + j,
    lambda i: (i // 4, i % 4),
    lambda i: (i // 0,),
    lambda i: (i % 0, i),
    lambda i: (i % -3, i),
    lambda i, j: i * j,
    lambda i, j: None,
    lambda i, j: "x",
    lambda i: [[i], [[i]]],
    lambda i, j: (i + 0.5, j),
    lambda i, j: (1 << 70, j),
    lambda i, j: (-i, j),
    lambda i, j: (i - 3, j),
    lambda i, j: (j,),
    lambda i, j: (),
    lambda i, j: (i, i),
    lambda i, j: i if i else j,
    lambda i, j: (i < j, j),
    lambda i, j: (i.nobody, j),
    lambda i, j: i[0],
    lambda i, j: (i, IndexMap),
    max,
    len,
    int,
    lambda i, j: (i**2, j),
    lambda i, j: (~i, j),
    lambda i, j: (i + "x", j),
    lambda i, j: {i: j},
    lambda i, j: (float("nan"), j),
    lambda i=3: i,
    lambda i, *, k: i,
    lambda i, j: 1 // 0,
    lambda i: functools.reduce(lambda a, _: a + i, range(400), i),
    lambda i, j: (i // (1 << 62), j * (1 << 62)),
    lambda i, j: (i + (1 << 63), j),
    print,
    functools.partial(max, 3),
    Strange,
)


def plain(random: Random) -> Any:
    """Return a value of a built-in type."""
    match random.randrange(10):
        case 0:
            return random.choice((0, 1, 2, 3, 4, 7, 8, 16, -1, -2, 1000))
        case 1:
            return random.choice((1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, -(1 << 63) - 1, 10**30, True, False))
        case 2:
            return random.choice((0.0, 1.0, 0.5, -1.5, float("nan"), float("inf"), 1e300, 2j))
        case 3:
            return random.choice((
                "", "x", "A", "main", "root", "C", "global", "shared", "local", "threadIdx.x", "blockIdx.y", "read",
                "write", "float16", "int8", "software_pipeline_stage", "é", "a\0b", "a b", "%d {}", "x" * 5000,
                "lambda i, j: (j, i)", "lambda i: i // 0", "lambda", "vthread.x", '"', "\n", "\ud800",
            ))  # fmt: skip
        case 4:
            return None
        case 5:
            return random.choice(LAMBDAS)
        case 6:
            return random.choice((
                Strange(), Strange, Vast(), object, b"x", bytearray(3), memoryview(b"ab"), range(3), ...,
                NotImplemented, {1, 2}, frozenset(), {"a": 1}, {1: 2}, {}, iter([1]), TirError("x"), int, np,
                random.random,
            ))  # fmt: skip
        case 7:
            return random.choice((
                np.int64(4), np.float32(2), np.bool_(True), np.arange(3), np.zeros((0,)), np.array(3), np.str_("i"),
                np.array([2, None], object),
            ))  # fmt: skip
        case _:
            return [plain(random) for _ in range(random.randrange(4))]


def value(random: Random) -> Any:
    """Return any value, nested lists included."""
    match random.randrange(12):
        case 0:
            return [[plain(random)], plain(random)]
        case 1:
            return tuple(plain(random) for _ in range(random.randrange(4)))
        case 2:
            deep: Any = []
            for _ in range(random.choice((3, 50, 3000))):
                deep = [deep]
            return deep
        case 3:
            itself: list[Any] = [1]
            itself.append(itself)
            return itself
        case _:
            return plain(random)
