"""The generic rules and the default space: every point computes the program."""

from __future__ import annotations

import numpy as np
import pytest
from harness.spaces import check_points
from programs.matmul import matmul_add
from programs.products import product
from programs.rowwise import reduced, softmax
from programs.short import nest, program, sblock
from programs.stencil import blur
from programs.tensorized import buffers, func

from tir_mlir import Schedule, schedules
from tir_mlir.dialect.computation import intrinsics
from tir_mlir.script import tir as T
from tir_mlir.target import Target
from tir_mlir.tune.spaces.deciders import Defaults, Fixed, Recording
from tir_mlir.tune.spaces.library import generic, library

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def no_other_intrinsics(monkeypatch):
    monkeypatch.setattr(intrinsics, "_known", {})


def numbers(*shape: int) -> np.ndarray:
    return RNG.integers(-4, 5, shape).astype("float32")


def rules(sch):
    generic(sch, "C", SMALL, 2)


def text(program, space, **decisions) -> str:
    sch = Schedule(program, decider=Fixed(decisions))
    space(sch)
    return sch.mod.script()


@pytest.mark.few(2)
@pytest.mark.parametrize(("m", "n", "k"), [(15, 17, 127), (127, 15, 1), (32, 48, 64)])
def test_points_of_a_product(m, n, k):
    a, b = numbers(m, k), numbers(k, n)
    names = check_points(product(m, n, k), rules, [a, b], a @ b)
    assert names >= {f"C.{x}" for x in "tile_vi vector_vj cache_A cache_B cache_write threads".split()}


@pytest.mark.parametrize("shape", [(17, 127), (3, 555)])
@pytest.mark.nightly
def test_points_of_a_reduction_with_few_results(shape):
    x = numbers(*shape)
    names = check_points(reduced(shape, (1,)), rules, [x], x.sum(1), 5)
    assert names >= {"C.partial_results", "C.inline_before"}


def test_partial_results_are_lanes():
    names = {"C.partial_results": 16, "C.inline_before": 1}
    assert "rf" in text(reduced((3, 555), (1,)), rules, **names)
    assert "rf" not in text(reduced((3, 555), (1,)), rules, **(names | {"C.partial_results": 1}))


def test_points_of_a_stencil():
    x = numbers(17)
    assert "C.inline_P" in check_points(blur(15), rules, [x], 2 * (x[:-2] + x[1:-1] + x[2:]))


def test_a_rule_leaves_its_mark():
    words = {"C.cache_B": "B_global", "C.cache_write": "C_local"}
    for name, word in words.items():
        on, off = (text(product(32, 48, 64), rules, **{name: value}) for value in (1, 0))
        assert word in on and word not in off


def test_what_is_scheduled_stays():
    sch = Schedule(matmul_add(16))
    sch.parallel(sch.get_loops("C")[0])
    before = sch.mod.script()
    rules(sch)
    assert sch.mod.script() == before


# --- intrinsics -------------------------------------------------------------------------------------------------------


def outer_product(intrinsic) -> str:
    shapes = buffers(A='(4, 8), "float32"', B='(8, 4), "float32"', C='(4, 4), "float32"')
    desc = "for i, j, k in T.grid(4, 4, 8):\n    C[i, j] = C[i, j] + A[i, k] * B[k, j]"
    impl = "for k, i, j in T.grid(8, 4, 4):\n    C[i, j] = C[i, j] + A[i, k] * B[k, j]"
    return intrinsic("tile_product", func(shapes, desc)["main"], func(shapes, impl)["main"])


@pytest.mark.nightly
def test_an_intrinsic_that_fits_is_a_decision(intrinsic):
    outer_product(intrinsic)
    a, b = numbers(16, 24), numbers(24, 12)
    assert "C.tensorize" in check_points(product(16, 12, 24), rules, [a, b], a @ b)
    decider = Recording(Defaults())
    rules(Schedule(product(16, 12, 24), decider=decider))
    assert decider.decisions["C.tensorize"] > 0


def test_an_intrinsic_that_does_not_fit_is_none(intrinsic):
    outer_product(intrinsic)
    decider = Recording(Defaults())
    rules(Schedule(product(15, 12, 24), decider=decider))
    assert "C.tensorize" not in decider.decisions


# --- the default space ------------------------------------------------------------------------------------------------


fused = program(
    "A:15x17 C:15x17", nest("f:255", sblock("C", "vi:15=f // 17 vj:17=f % 17", "C[vi, vj] = A[vi, vj] * 2.0"))
)


@T.prim_func
def scan(A: T.Buffer((17, 33), "float32"), C: T.Buffer((17, 33), "float32")):
    for j, i in T.grid(33, 17):
        with T.block("C"):
            vj = T.axis.scan(33, j)
            vi = T.axis.spatial(17, i)
            C[vi, vj] = T.if_then_else(vj == 0, T.float32(0.0), C[vi, T.max(vj - 1, 0)]) + A[vi, vj]


@pytest.mark.parametrize(
    ("program", "expected"), [(fused, lambda a: a * 2), (scan, lambda a: a.cumsum(1))], ids=["fused loops", "a scan"]
)
def test_what_no_library_schedule_takes(program, expected):
    assert None in schedules.auto(Schedule(program), SMALL, 2).values() if program is fused else True
    a = numbers(15, 17) if program is fused else numbers(17, 33)
    assert check_points(program, lambda sch: library(sch, SMALL, 2), [a], expected(a))


def test_the_defaults_are_the_schedule_of_the_library():
    sch, plain = Schedule(matmul_add(127, 70, 40), decider=Defaults()), Schedule(matmul_add(127, 70, 40))
    library(sch, SMALL, 2)
    schedules.auto(plain, SMALL, 2)
    assert sch.mod.script() == plain.mod.script()


def default_space(sch):
    library(sch, SMALL, 1)


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", [(1, 127), (15, 17), (127, 15), (17, 1)])
@pytest.mark.nightly
def test_points_where_rules_may_take_the_blocks_of_a_softmax(shape):
    x = RNG.standard_normal(shape, np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    names = check_points(softmax(shape), default_space, [x], e / e.sum(1, keepdims=True), rtol=1e-5)
    assert {"out.generic", "total.generic"} <= names


def test_rules_take_a_block_that_a_decision_gives_them():
    decider = Recording(Fixed({"C.generic": 1}))
    default_space(Schedule(reduced((15, 127), (1,)), decider=decider))
    assert "C.partial_results" in decider.decisions and "C.step" not in decider.decisions
    decider = Recording(Defaults())
    default_space(Schedule(reduced((15, 127), (1,)), decider=decider))
    assert decider.decisions["C.generic"] == 0 and "C.step" in decider.decisions


def test_products_are_not_given_to_rules():
    decider = Recording(Defaults())
    default_space(Schedule(matmul_add(127, 70, 40), decider=decider))
    assert {n for n in decider.decisions if n.endswith(".generic")} == {"D.generic"}


def test_a_block_that_is_left_has_no_warning(recwarn):
    assert schedules.auto(Schedule(reduced((15, 127), (1,))), SMALL, 1, leave=lambda block: True)["C"] is None
    assert not recwarn.list
