"""Loops whose bounds or conditions are data: parsed, printed, interpreted, built, scheduled around, verified."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from harness import scripts
from programs.short import main, nest, sblock

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import ScheduleError, ScriptError
from tir_mlir.script import parse

ROWS, COLUMNS, STORED = 37, 50, 200
PARAMS = (
    f"P: T.Buffer(({ROWS + 1},), 'int32'), J: T.Buffer(({STORED},), 'int32'), V: T.Buffer(({STORED},)), "
    f"X: T.Buffer(({COLUMNS},)), Y: T.Buffer(({ROWS},))"
)
CSR = """
for i in range(37):
    with T.block("row"):
        vi = T.axis.spatial(37, i)
        Y[vi] = T.float32(0)
        for k in range(P[vi], P[vi + 1]):
            Y[vi] = Y[vi] + V[k] * X[J[k]]
"""
AROUND = """
for i in range(37):
    with T.block("zero"):
        vi = T.axis.spatial(37, i)
        Y[vi] = T.float32(0)
for i in range(37):
    for k in range(P[i], P[i + 1]):
        with T.block("row"):
            vi = T.axis.spatial(37, i)
            Y[vi] = Y[vi] + T.float32(1)
"""
WINDOW = """
for i in range(37):
    with T.block("row"):
        vi = T.axis.spatial(37, i)
        Y[vi] = T.float32(0)
        for k in range({low}, {high}):
            Y[vi] = Y[vi] + X[k]
"""
HALVES = """
for i in range(37):
    with T.block("row"):
        vi = T.axis.spatial(37, i)
        c = T.alloc_buffer((1,), "int32")
        c[0] = P[vi]
        Y[vi] = T.float32(0)
        while c[0] > 0 and Y[vi] < T.float32(5):
            c[0] = c[0] // 2
            Y[vi] = Y[vi] + T.float32(1)
"""


def program(body: str):
    return scripts.function(body, PARAMS)  # also checks that its text parses back to it


def matrix(seed: int = 0):
    """A random sparse matrix with empty rows, and a vector."""
    random = np.random.default_rng(seed)
    cuts = np.sort(random.integers(0, STORED + 1, ROWS - 1))
    starts = np.concatenate([[0], cuts, [STORED]]).astype(np.int32)
    columns = random.integers(0, COLUMNS, STORED).astype(np.int32)
    return starts, columns, random.random(STORED, np.float32), random.random(COLUMNS, np.float32)


def csr(starts, columns, values, x):
    return np.array([(values[a:b] * x[columns[a:b]]).sum() for a, b in itertools.pairwise(starts)])


def run(module, call=None):
    out = np.full(ROWS, np.nan, np.float32)
    args = matrix()
    (call or build(module))(*args, out)
    return out


def interpreted(module):
    return run(module, lambda *args: interpret(module, *args))


# ---- bounds from data


def test_csr_interpreted_and_built():
    module = program(CSR)
    wanted = csr(*matrix())
    np.testing.assert_allclose(interpreted(module), wanted, rtol=1e-5)
    np.testing.assert_allclose(run(module), wanted, rtol=1e-5)


def test_csr_is_scf_for_in_upstream_mlir():
    text = program(CSR).text()
    assert "scf.for" in text and 'tir.loop = "k"' in text


@pytest.mark.parametrize("factor", [8, 37, 64])
def test_rows_of_csr_split_and_run_in_parallel(factor):
    sch = Schedule(program(CSR))
    outer, _ = sch.split(sch.get_loops("row")[0], [None, factor])
    sch.parallel(outer)
    assert sch.verify()
    np.testing.assert_allclose(run(sch.mod), csr(*matrix()), rtol=1e-5)


def test_rows_that_share_an_element_are_not_parallel():
    sch = Schedule(program(CSR.replace("T.axis.spatial", "T.axis.opaque").replace("Y[vi]", "Y[0]")))
    before = sch.mod.script()
    with pytest.raises(ScheduleError):
        sch.parallel(sch.get_loops("row")[0])
    assert sch.mod.script() == before


def test_a_loop_over_data_may_not_be_parallel():
    with pytest.raises(ScriptError, match="loop k is parallel, but its bounds are computed from data"):
        program(CSR.replace("in range(P[vi], P[vi + 1])", "in T.parallel(P[vi], P[vi + 1])"))


def test_a_bound_that_is_no_integer():
    with pytest.raises(ScriptError, match="a loop bound must be an integer expression"):
        program(CSR.replace("range(P[vi], P[vi + 1])", "range(X[vi])"))


# ---- blocks inside


def counts():
    starts = matrix()[0]
    return (starts[1:] - starts[:-1]).astype(np.float32)


def test_blocks_in_a_loop_over_data():
    module = program(AROUND)
    np.testing.assert_array_equal(interpreted(module), counts())
    np.testing.assert_array_equal(run(module), counts())


@pytest.mark.parametrize("factor", [8, 37])
def test_the_loop_around_a_loop_over_data_is_split_and_parallel(factor):
    sch = Schedule(program(AROUND))
    outer, _ = sch.split(sch.get_loops("row")[0], [None, factor])
    sch.parallel(outer)
    assert sch.verify()
    np.testing.assert_array_equal(run(sch.mod), counts())


def test_moving_out_of_a_loop_over_data_is_not_provable():
    sch = Schedule(program(AROUND))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match='not provable: block "row" is in loop k, whose bounds are data') as caught:
        sch.reverse_compute_at("row", sch.get_loops("zero")[0])
    assert not caught.value.provable and "into the body of one block" in str(caught.value)
    assert sch.mod.script() == before


BESIDE = {
    "a producer moves to it": lambda sch: sch.compute_at("double", sch.get_loops("row")[0]),
    "a consumer moves to it": lambda sch: sch.reverse_compute_at(
        "last", sch.merge(sch.get_loops("zero")[0], sch.get_loops("row")[0])
    ),
    "a producer is inlined into it": lambda sch: sch.compute_inline("double"),
    "it reads a copy": lambda sch: sch.cache_read("row", 1, "global"),
    "it reads a copy, indexed by an iter": lambda sch: sch.reindex("row", ("read", 1)),
    "it reads a copy in another layout": lambda sch: sch.reindex_cache_read(
        "row", 1, "global", lambda i, k: (k // 4, k % 4)
    ),
    "the sum of an iteration is cached": lambda sch: sch.cache_inplace("row", 0, "global"),
    "what it reads changes its layout": lambda sch: sch.transform_layout(
        "double", ("write", 0), lambda i: (i // 8, i % 8)
    ),
    "its nest merges with another": lambda sch: sch.merge(sch.get_loops("zero")[0], sch.get_loops("row")[0]),
}
SUMS = """
W = T.alloc_buffer((200,))
S = T.alloc_buffer((37,))
for i in range(200):
    with T.block("double"):
        vi = T.axis.spatial(200, i)
        W[vi] = V[vi] * T.float32(2)
for i in range(37):
    with T.block("zero"):
        vi = T.axis.spatial(37, i)
        S[vi] = T.float32(0)
for i in range(37):
    for k in range(P[i], P[i + 1]):
        with T.block("row"):
            vi = T.axis.spatial(37, i)
            vk = T.axis.reduce(200, k)
            S[vi] = S[vi] + W[vk]
for i in range(37):
    with T.block("last"):
        vi = T.axis.spatial(37, i)
        Y[vi] = S[vi] + T.float32(1)
"""


@pytest.mark.parametrize("word", BESIDE)
def test_a_step_beside_a_loop_over_data(word):
    sch = Schedule(program(SUMS))
    BESIDE[word](sch)
    starts, _, values, _ = matrix()
    wanted = [2 * values[a:b].sum() + 1 for a, b in itertools.pairwise(starts)]
    np.testing.assert_allclose(interpreted(sch.mod), wanted, rtol=1e-5)
    assert sch.verify()
    assert parse(sch.mod.script()).script() == sch.mod.script()


def test_what_an_iteration_leaves_for_the_next_keeps_a_producer_in_place():
    sch = Schedule(scripts.function(STEPS, "N: T.Buffer((1,), 'int32'), A: T.Buffer((8,)), B: T.Buffer((8,))"))
    with pytest.raises(ScheduleError, match="not provable"):
        sch.compute_inline("twice")


STEPS = """
C = T.alloc_buffer((8,))
for i in range(8):
    with T.block("twice"):
        vi = T.axis.spatial(8, i)
        C[vi] = A[vi] * T.float32(2)
for t in range(N[0]):
    for i in range(8):
        with T.block("read"):
            vi = T.axis.spatial(8, i)
            B[vi] = C[vi]
    for i in range(8):
        with T.block("change"):
            vi = T.axis.spatial(8, i)
            A[vi] = A[vi] + T.float32(1)
"""


# ---- T.min, T.max


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("T.max(0, vi - 3)", "T.min(50, vi + 4)"),
        ("T.max(vi - 3, T.max(vi - 5, 0))", "vi + 4"),
        ("T.min(10, vi)", "T.max(12, vi)"),
        ("T.max(P[vi], vi - 3) // 8", "T.min(P[vi + 1], 50)"),
    ],
)
def test_bounds_that_are_extrema(low, high):
    module = program(WINDOW.format(low=low, high=high))
    starts, _, _, x = matrix()
    scope = {"P": starts, "T": type("T", (), {"min": min, "max": max})}
    wanted = [x[eval(low, {**scope, "vi": i}) : eval(high, {**scope, "vi": i})].sum() for i in range(ROWS)]
    np.testing.assert_allclose(run(module), wanted, rtol=1e-5)
    np.testing.assert_allclose(interpreted(module), wanted, rtol=1e-5)
    sch = Schedule(module)
    sch.parallel(sch.get_loops("row")[0])
    assert sch.verify()


def test_extrema_of_affine_expressions_stay_affine():
    text = program(WINDOW.format(low="T.max(0, vi - 3)", high="T.min(50, vi + 4)")).text()
    assert "scf.for" not in text


@pytest.mark.parametrize(
    "extent",
    [
        "T.min(31, 126 - i * 32) + 1",
        "127 - T.max(i * 32, 95)",
        "T.min(62, 252 - i * 64) // 2 + 1",
        "T.ceildiv(T.min(95, 380 - i * 96), 3)",
        "T.min(-2 * T.max(i * 32 - 127, -32) // 2, 99)",
    ],
)
def test_sums_and_multiples_of_extrema_are_loops(extent):
    """As bounds they make loops that primitives know: of 32, 32, 32 and 31 elements."""
    sch = Schedule(parse(RAGGED.format(extent=extent)))
    i, j = sch.get_loops("B")
    assert "scf.for" not in sch.mod.text()
    with pytest.raises(ScheduleError, match="loop j ends at the minimum of several bounds; split needs a single one"):
        sch.split(j, [None, 8])
    sch.parallel(i)
    sch.vectorize(j)
    sch.compute_at(sch.cache_read("B", 0, "local"), i)
    x, y = np.arange(127, dtype="float32"), np.zeros(127, "float32")
    run_function = build(sch.mod)
    run_function(x, y)
    np.testing.assert_array_equal(y, x + 1)


RAGGED = main("A:127 B:127", nest("i:4 j:{extent}", sblock("B", "vi:127=i * 32 + j", "B[vi] = A[vi] + T.float32(1)")))


@pytest.mark.parametrize("extent", ["T.min(32, 127 - i * 32) % 64", "T.max(T.min(32, 127 - i * 32), 1)"])
def test_what_is_no_minimum_of_affine_expressions_is_a_loop_over_data(extent):
    sch = Schedule(parse(RAGGED.format(extent=extent)))
    assert [loop.name for loop in map(sch.get, sch.get_loops("B"))] == ["i"]


def test_extrema_in_values():
    """Minima and maxima of affine expressions, shifted, scaled and divided, as Python has them."""
    texts = [
        "T.min(vi, 5) + 3",
        "2 - T.max(vi, 4)",
        "T.min(vi - 6, 3) * -2",
        "T.max(vi - 9, -7) // 2",
        "T.min(vi, 3) * 0 + 1",
    ]
    stores = "\n".join(f"            B[{n}, vi] = {text}" for n, text in enumerate(texts))
    module = parse(f"""
@T.prim_func
def main(B: T.Buffer(({len(texts)}, 16), "int32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
{stores}
""")
    found, scope = np.zeros((len(texts), 16), "int32"), {"T": type("T", (), {"min": min, "max": max})}
    build(module)(found)
    assert found.tolist() == [[eval(text, {**scope, "vi": i}) for i in range(16)] for text in texts]


# ---- while


def test_while():
    module = program(HALVES)
    wanted = np.minimum(np.ceil(np.log2(matrix()[0][:-1] + 1)), 5)
    np.testing.assert_array_equal(interpreted(module), wanted)
    np.testing.assert_array_equal(run(module), wanted)


def test_rows_with_a_while_run_in_parallel():
    sch = Schedule(program(HALVES))
    outer, _ = sch.split(sch.get_loops("row")[0], [None, 8])
    sch.parallel(outer)
    assert sch.verify()
    wanted = np.minimum(np.ceil(np.log2(matrix()[0][:-1] + 1)), 5)
    np.testing.assert_array_equal(run(sch.mod), wanted)


def test_verify_of_a_while_that_may_run_forever_ends():
    sch = Schedule(program(HALVES.replace("c[0] // 2", "c[0]").replace(" and Y[vi] < T.float32(5)", "")))
    sch.parallel(sch.get_loops("row")[0])
    assert sch.verify()


def test_a_while_with_a_constant_condition():
    with pytest.raises(ScriptError, match="the loop runs forever"):
        program(HALVES.replace("c[0] > 0 and Y[vi] < T.float32(5)", "True"))
