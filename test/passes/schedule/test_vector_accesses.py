"""Steps on programs with vector accesses treat them by the elements of their lanes, or refuse them by that name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScheduleError, ScriptError
from tir_mlir.intrin.outer_products import outer_product
from tir_mlir.script.structural_equal import difference

HEAD = '@T.prim_func\ndef main(A: T.Buffer((18, 16), "float32"), C: T.Buffer((18, 16), "float32")):\n'
CHAIN = (
    HEAD
    + """
    B = T.alloc_buffer((18, 16))
    for i, j in T.grid(18, 4):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj * 4:vj * 4 + 4] = A[vi, vj * 4:vj * 4 + 4] * 2.0
    for i, j in T.grid(18, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj:vj + 16:2] = B[vi, T.ramp(vj, 2, 8)] + A[vi, vj]
"""
)
SUM = (
    HEAD
    + """
    B = T.alloc_buffer((18, 16))
    for i, k in T.grid(18, 18):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi, 0:16] = T.broadcast(0.0, 16)
            B[vi, 0:16] = B[vi, 0:16] + A[vi, vk % 16] * A[vk, 0:16]
    for i, j in T.grid(9, 1):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C.vstore([vi * 2, 0], B.vload([vi * 2, 0], "float32x32") + A[vi, 0])
"""
)


def chain(a: np.ndarray) -> np.ndarray:
    return 2 * a + np.tile(a[:, :2], (1, 8))


def total(a: np.ndarray) -> np.ndarray:
    return (a[:, np.arange(18) % 16] @ a) + np.repeat(a[:9, :1], 2, 0)


Step = Callable[[Schedule], object]
STEPS: dict[str, tuple[str, Step]] = {
    "ragged split": (CHAIN, lambda s: s.split(s.get_loops("B")[0], factors=[None, 4])),
    "fuse": (CHAIN, lambda s: s.fuse(*s.get_loops("C"))),
    "reorder": (CHAIN, lambda s: s.reorder(*s.get_loops("B")[::-1])),
    "parallel": (CHAIN, lambda s: s.parallel(s.get_loops("C")[1])),
    "vectorize": (CHAIN, lambda s: s.vectorize(s.get_loops("B")[1])),
    "compute_at": (CHAIN, lambda s: s.compute_at("B", s.get_loops("C")[0])),
    "compute_at of a part": (CHAIN, lambda s: s.compute_at("B", s.get_loops("C")[1])),
    "reverse_compute_at": (CHAIN, lambda s: s.reverse_compute_at("C", s.get_loops("B")[0])),
    "cache_read": (CHAIN, lambda s: s.cache_read("B", 0, "local")),
    "cache_write": (CHAIN, lambda s: s.cache_write("C", 0, "local")),
    "cache_read of rows": (SUM, lambda s: s.cache_read("C", 0, "local")),
    "storage_align": (SUM, lambda s: s.storage_align("B", 0, 0, 16, 3)),
    "set_scope": (SUM, lambda s: s.set_scope("B", 0, "local")),
    "decompose_reduction": (SUM, lambda s: s.decompose_reduction("B", s.get_loops("B")[1])),
    "blockize": (SUM, lambda s: s.blockize(s.get_loops("B")[1])),
    "loop_partition": (SUM, lambda s: s.loop_partition(s.get_loops("B")[0], [5, None])),
    "unroll": (SUM, lambda s: s.unroll(s.get_loops("C")[0])),
    "merge": (CHAIN, lambda s: s.merge(s.get_loops("B")[0], s.get_loops("C")[0])),
}


@pytest.mark.few(6)
@pytest.mark.parametrize("name", STEPS)
def test_a_legal_step_keeps_the_result(name: str) -> None:
    text, step = STEPS[name]
    sch = Schedule(parse(text))
    step(sch)
    assert sch.verify()
    assert difference(sch.mod.mlir, parse(sch.mod.script()).mlir) is None
    a = np.random.default_rng(0).uniform(-1, 1, (18, 16)).astype("float32")
    c = np.full_like(a, np.nan)
    build(sch)["main"](a, c)
    np.testing.assert_allclose(c, (chain if text == CHAIN else total)(a), rtol=1e-4, atol=1e-5)


REFUSED: dict[str, tuple[str, Step, str]] = {
    "compute_inline": (CHAIN, lambda s: s.compute_inline("B"), 'block "B" accesses several elements at once'),
    "reverse_compute_inline": (
        CHAIN,
        lambda s: s.reverse_compute_inline("C"),
        "is not a single store at an affine index|accesses several elements at once",
    ),
    "transform_layout": (
        CHAIN,
        lambda s: s.transform_layout("B", ("write", 0), lambda i, j: (j, i)),
        "B is not only loaded and stored: a vector access \\(several elements\\) depends on its layout",
    ),
    "reindex": (
        CHAIN,
        lambda s: s.reindex("B", ("read", 0)),
        "A is accessed by a vector access \\(several elements\\)",
    ),
    "unsafe_set_dtype": (
        CHAIN,
        lambda s: s.unsafe_set_dtype("B", 0, "float64"),
        "B is also used by a vector access \\(several elements\\), which cannot be converted",
    ),
    "tensorize": (CHAIN, lambda s: s.tensorize("B", outer_product(16, 16, 16)), "several elements at once"),
    "rfactor": (SUM, lambda s: s.rfactor(s.get_loops("B")[1], 0), 'block "B"'),
    "parallel of the sum": (SUM, lambda s: s.parallel(s.get_loops("B")[1]), "reduce iter vk"),
    "pad_einsum": (SUM, lambda s: s.pad_einsum("B", [1, 4]), "not an einsum|at an index other than iters"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_illegal_step_is_refused_and_changes_nothing(name: str) -> None:
    text, step, message = REFUSED[name]
    sch = Schedule(parse(text))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match=message):
        step(sch)
    assert sch.mod.script() == before


def test_a_rolling_buffer_is_refused() -> None:
    sch = Schedule(parse(CHAIN))
    sch.compute_at("B", sch.get_loops("C")[0])
    with pytest.raises(ScheduleError, match=r"B is also used by a vector access \(several elements\)"):
        sch.rolling_buffer("B", 0)


def test_lanes_that_several_iterations_write_are_found() -> None:
    with pytest.raises(ScriptError, match="touch the same element of C, one of them writing"):
        parse(CHAIN.replace("C[vi, vj:vj + 16:2]", "C[vi, vj * 4:vj * 4 + 8]"))
