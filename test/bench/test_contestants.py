"""Every contestant agrees with NumPy, at small sizes."""

import dataclasses

import numpy as np
import pytest

import external
import peers
import run
from bandwidth import reads, triad
from contest import OURS, check
from peak import chains, code
from roofline import Point, Roofs
from tir_mlir import target
from works import (
    chapter,
    convolutions,
    halves,
    integer_convolutions,
    integers,
    operators,
    products,
    programs,
    quantized,
    rowwise,
)

SMALL = [
    products.product("nn", (17, 15, 9), 1, ()),
    products.product("nt", (16, 33, 8), 1, (), trans_b=True),
    products.product("one row", (1, 16, 40), 1, ()),
    products.product("double", (5, 16, 7), 1, (), dtype="float64", trans_b=True),
    integers.product((16, 24, 32), 1),
    quantized.product((1, 17, 64), 1),
    quantized.product((3, 17, 64), 1),
    quantized.integer_product((3, 32, 64), 1),
    convolutions.layer(3, 4, 9, 3, 2, 1),
    convolutions.layer(4, 8, 8, 1, 1, 0),
    rowwise.softmax(4, 17, 1),
    rowwise.layer_norm(4, 17, 1),
    integer_convolutions.layer(1, 5, 15, 5, 1, 2),
    integer_convolutions.layer(3, 8, 17, 7, 2, 3),
    integer_convolutions.layer(3, 16, 9, 3, 1, 1),
    integer_convolutions.layer(20, 33, 9, 3, 1, 1),
    integer_convolutions.layer(64, 16, 8, 3, 2, 1),
    rowwise.product_relu(16, 1),
    rowwise.chain(4, 17, 1),
    chapter.tensorized(32, "MLIR", ()),
    programs.work(programs.transpose(17)),
    programs.work(programs.rms_norm(3, 17)),
    programs.work(programs.feed_forward(2, 5, 17, 8)),
    programs.work(programs.depthwise(3, 9)),
    programs.work(programs.few_rows(1, 33, 17)),
    programs.work(programs.int8_gemv(5, 33)),
    programs.work(programs.int4_gemv(32, 64)),
    programs.work(programs.sparse(30, 100)),
    programs.work(programs.attention(1, 32, 64, 16)),
    programs.work(programs.histogram(100)),
    programs.work(programs.scatter_add(4096, 9, 5)),
    programs.work(programs.cumulative(3, 17)),
    programs.work(programs.heat(100, 17)),
    programs.work(programs.solve(9, 64)),
    programs.work(programs.blur(5, 33)),
    programs.work(programs.half(5, 33)),
    programs.work(programs.top_k(3, 100, 8)),
    *operators.small(1),
]


@pytest.mark.parametrize("work", SMALL, ids=lambda work: f"{work.work} {work.shape}")
@pytest.mark.few(4)
def test_all_agree_with_numpy(work):
    contest = work.make()
    assert OURS in contest.contestants, contest.missing
    for name, contestant in contest.contestants.items():
        check(name, contestant, contest.expected)
    gone = {name: why for name, why in contest.missing.items() if name in peers.ALL and name not in peers.missing()}
    assert not gone


def test_ours_on_two_threads_is_right():
    for work in (products.product("nt", (64, 48, 32), 2, (), trans_b=True), rowwise.softmax(8, 16, 2)):
        contest = work.make()
        check(OURS, contest.contestants[OURS], contest.expected)


def test_a_failing_or_wrong_contestant_is_reported(monkeypatch):
    def breaks(a, b, dtype):
        raise RuntimeError("no such thing\nat all")

    monkeypatch.setattr(peers.numpy_blas, "product", breaks)
    if peers.mkl.missing() is None:
        wrong = peers.mkl.product
        monkeypatch.setattr(peers.mkl, "product", lambda a, b: wrong(a, 2 * b))
    roofs = Roofs({("float32", 1): 1e11}, {1: [Point(1024, 1e10, 1e10)]})
    row = run.one(products.product("nn", (8, 8, 8), 1, ()), roofs, 0.0)
    assert row.ours is not None and "numpy" not in row.peers and "mkl" not in row.peers
    assert row.missing["numpy"] == "RuntimeError: no such thing"
    if peers.mkl.missing() is None:
        assert row.missing["mkl"].startswith("WrongResult: mkl differs")


def test_the_triad_and_the_reads_move_the_reported_bytes(monkeypatch):
    seen = []
    real = external.on_all_threads

    def remember(name, text, arrays, numbers):
        seen.append(arrays)
        return real(name, text, arrays, numbers)

    monkeypatch.setattr("bandwidth.on_all_threads", remember)
    monkeypatch.setattr("bandwidth.MOVED", 1)
    call, moved = triad(1 << 12, 2)
    a, b, c, result = seen[-1]
    c *= 3
    call()
    assert moved == 3 * a.nbytes and a.shape[0] == 2
    np.testing.assert_array_equal(a, b)  # the factor is the number of the turn: 0
    call, moved = reads(1 << 12, 1)
    call()
    a, result = seen[-1]
    assert moved == a.nbytes and result.any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_chains_of_multiply_adds_run(dtype):
    for chain in chains(dtype):
        start = np.ones((1, 16), np.float32)
        external.on_all_threads("chains", code(chain, 4), [start], [3])()
        assert start[0, 0] == 1  # the factor is still there for the next call


@pytest.mark.parametrize(("unit", "factor"), [("amx-int8", 1.5), ("avx512vnni", 1.0), ("avx2", 1.0)])
def test_the_goal_of_bytes_depends_on_the_unit(unit, factor, monkeypatch):
    machine = dataclasses.replace(target.AVX2, features=frozenset({unit}))
    monkeypatch.setattr(integers, "host", lambda: machine)
    assert integers.goal().factor == factor


def test_bfloat16_has_a_goal_on_a_matrix_unit(monkeypatch):
    assert not halves.goals("bfloat16") or target.host().has("amx-bf16")
    monkeypatch.setattr(halves, "host", lambda: target.SAPPHIRE_RAPIDS)
    assert [g.factor for g in halves.goals("bfloat16")] == [0.9] and not halves.goals("float16")
