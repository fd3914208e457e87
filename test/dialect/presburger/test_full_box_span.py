"""Mixed-radix digits: which values sums of loops take, and whether loops visit a box exactly once."""

from __future__ import annotations

import itertools
import random

import pytest

from tir_mlir.dialect.ir import Func, all_blocks, enter_context, funcs, ops
from tir_mlir.dialect.presburger import NotABox, box_of, is_full_box, is_injective, span
from tir_mlir.script import tir as T


@pytest.mark.parametrize(
    ("digits", "start", "width", "answer"),
    [
        ([], 5, 1, (5, 5, True, True)),
        ([(16, 0, 7), (1, 0, 15)], 0, 1, (0, 127, True, True)),  # i * 16 + j
        ([(16, 0, 7), (1, 0, 11)], 0, 1, (0, 123, False, True)),  # gaps of 4
        ([(8, 0, 7), (1, 0, 11)], 0, 1, (0, 67, True, False)),  # steps overlap
        ([(-1, 0, 15)], 15, 1, (0, 15, True, True)),  # 15 - i
        ([(4, 0, 3)], 0, 4, (0, 15, True, True)),  # rows of four elements
        ([(4, 0, 3)], 0, 3, (0, 14, False, True)),
        ([(100, 3, 3), (1, 0, 1)], 0, 1, (300, 301, True, True)),  # a loop of one iteration
        ([(1, 0, None)], 2, 1, (2, None, True, True)),
        ([(1, 0, None), (1, 0, 1)], 0, 1, (0, None, True, False)),
        ([(1, 0, -1)], 0, 1, (0, -1, True, True)),  # an empty loop
    ],
)
def test_span(digits, start, width, answer):
    assert tuple(span(digits, start, width)) == answer


@pytest.mark.parametrize("seed", range(200))
def test_span_by_enumeration(seed):
    draw = random.Random(seed)
    factors = [f for f in range(-9, 10) if f]
    parts = [(draw.choice(factors), draw.randint(-2, 2), draw.randint(0, 4)) for _ in range(draw.randint(0, 3))]
    digits = [(factor, least, least + more) for factor, least, more in parts]
    taken = [
        sum(f * v for (f, _, _), v in zip(digits, point, strict=True))
        for point in itertools.product(*[range(least, most + 1) for _, least, most in digits])
    ]
    found = span(digits)
    assert (found.low, found.high) == (min(taken), max(taken))
    if found.distinct:
        assert len(set(taken)) == len(taken)
    if found.dense:
        assert set(taken) == set(range(min(taken), max(taken) + 1))


@pytest.mark.parametrize(
    ("rows", "counts", "answer"),
    [
        ([[16, 1]], [8, 16], True),
        ([[16, 1]], [8, 17], False),  # (0, 16) and (1, 0)
        ([[1, 1], [0, 1]], [8, 8], True),  # the second row gives j, then the first gives i
        ([[1, 0, 0]], [8, 1, 8], False),  # the last digit is in no row
        ([[16, 1]], [None, 16], True),
        ([[16, 1]], [8, None], False),
        ([[1, 2], [2, 1]], [8, 8], True),  # no row alone tells the digits apart: isl
        ([[1, 2, -3], [-3, 1, 2], [2, -3, 1]], [8, 8, 8], False),  # (0, 0, 0) and (1, 1, 1)
    ],
)
def test_injective(rows, counts, answer):
    assert is_injective(rows, counts) is answer


@T.prim_func
def tiled(A: T.Buffer((64, 8), "float32")):
    for i, j, k in T.grid(4, 16, 8):
        with T.block("A"):
            vi = T.axis.spatial(64, i * 16 + j)
            vk = T.axis.spatial(8, k)
            A[vi, vk] = 0.0


@T.prim_func
def cut(A: T.Buffer((50,), "float32")):
    for i, j in T.grid(4, 16):
        with T.block("A"):
            vi = T.axis.spatial(50, i * 16 + j)
            T.where(i * 16 + j < 50)
            A[vi] = 0.0


@T.prim_func
def skewed(A: T.Buffer((4, 7), "float32")):
    B = T.alloc_buffer((4, 7), "float32")  # nobody reads it, so it need not be covered
    for i, j in T.grid(4, 4):
        with T.block("A"):
            vi = T.axis.opaque(4, i)
            vj = T.axis.opaque(7, i + j)
            B[vi, vj] = 0.0


@pytest.mark.parametrize(("program", "answer"), [(tiled, True), (cut, True), (skewed, False)])
def test_blocks(program, answer):
    with enter_context():
        module = program.isolated_module.mlir
        block = all_blocks(funcs(module)[0].op)[-1]
        assert is_full_box(block) is answer


def _box(program) -> tuple[list[int | None], list[int | None]]:
    module = program.isolated_module.mlir
    func: Func = funcs(module)[0]
    block = all_blocks(func.op)[-1]
    store = next(op for op in ops(block.op) if op.name == "affine.store")
    mins, extents = box_of([i.var for i in block.iters], store, func.op, [i.name for i in block.iters])
    return [m.as_constant() for m in mins], [e.as_constant() for e in extents]


def test_box_of_a_nest():
    with enter_context():
        assert _box(tiled) == ([0, 0], [64, 8])


def test_a_parallelogram_is_not_a_box():
    with enter_context(), pytest.raises(NotABox):
        _box(skewed)
