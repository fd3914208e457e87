"""schedules.attention: plain and causal, any sizes, NumPy's result, scores of one tile of queries at a time."""

import warnings

import numpy as np
import pytest
from programs.attention import attention, of_rows, reference
from programs.rowwise import softmax

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.target import AVX2, SAPPHIRE_RAPIDS, SAPPHIRE_RAPIDS_NO_AMX, ZEN4

RNG = np.random.default_rng(7)


def check(run, heads, queries, keys, width, causal=False):
    q = RNG.standard_normal((heads, queries, width), np.float32)
    k, v = RNG.standard_normal((2, heads, keys, width), np.float32)
    o = np.full_like(q, np.nan)
    run(q, k, v, o)
    np.testing.assert_allclose(o, reference(q, k, v, causal), rtol=1e-4, atol=1e-5)


def scheduled(program, **options):
    sch = Schedule(program)
    schedules.attention(sch, "O", **{"threads": 1} | options)
    return sch


@pytest.mark.parametrize("sizes", [(1, 5, 33, 24), (2, 40, 70, 16), (1, 1, 100, 32)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.nightly
def test_any_sizes(sizes, causal, weights):
    check(build(scheduled(attention(*sizes, causal, weights)))["main"], *sizes, causal)


@pytest.mark.nightly
@pytest.mark.parametrize("weights", [True, False])
def test_heads_side_by_side(weights):
    """The result is stored in its own order, if it is that of the second product; else it is not a single attention."""
    sch = Schedule(of_rows(2, 12, 8, weights))
    found = schedules.auto(sch, threads=1)
    names = {sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))}
    assert (found["P"] == found["Y"] == "attention") is weights and ("Y" in names) is not weights
    q, k, v, y = (*RNG.standard_normal((3, 12, 16), np.float32), np.empty((12, 16), "float32"))
    build(sch)(q, k, v, y)
    q, k, v = (x.reshape(12, 2, 8).transpose(1, 0, 2) for x in (q, k, v))
    np.testing.assert_allclose(y, reference(q, k, v).transpose(1, 0, 2).reshape(12, 16), rtol=1e-4, atol=1e-5)


@pytest.mark.nightly
def test_a_cache_of_keys_that_grows():
    run = build(scheduled(attention(2, te.var("q"), te.var("k"), 20)))["main"]
    for queries, keys in ((1, 1), (1, 33), (40, 100)):
        check(run, 2, queries, keys, 20)


def test_it_is_equivalent():
    assert scheduled(attention(1, 9, 21, 12, True)).verify()


def test_keys_of_few_queries_are_not_transposed():
    sch = scheduled(attention(1, 4, 21, 12))
    assert "K_global" not in sch.mod.script() and sch.verify()
    check(build(sch)["main"], 1, 4, 21, 12)


@pytest.mark.parametrize("queries", [9, 40])
def test_short_floats_are_widened_before_the_loops_of_products(queries):
    """Queries for each tile; values for all of them, or, of one tile, where they are read."""
    q, k, v = (te.placeholder((1, n, 1, 8), "float16", name=x) for x, n in (("q", queries), ("k", 21), ("v", 21)))
    sch = Schedule(te.create_prim_func([q, k, v, topi.nn.attention(q, k, v)]))
    schedules.auto(sch, threads=1)
    copies = {sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))}
    assert "q_global" in copies and ("v_global" in copies) == (queries > 32)
    given = [RNG.standard_normal((n, 8)).astype("float16") for n in (queries, 21, 21)]
    o = np.empty_like(given[0])
    build(sch)(*(x[None, :, None] for x in (*given, o)))
    wanted = reference(*(x[None].astype("float32") for x in given))[0]
    np.testing.assert_allclose(o, wanted, rtol=2e-3, atol=2e-3)


@pytest.mark.nightly
@pytest.mark.parametrize("queries", [4, 7, 40])
def test_keys_and_values_in_8_bits_are_computed_where_they_are_read(queries):
    """In the panels of keys; values in the product of one tile of queries, in a copy for several."""
    q = te.placeholder((1, queries, 1, 16), "float32", name="q")
    k, v = (te.placeholder((1, 48, 1, 16), "int8", name=name) for name in "kv")
    wide = [te.compute(x.shape, lambda *i, x=x: x(*i).astype("float32") * 0.5, name=f"{x.name}_wide") for x in (k, v)]
    sch = Schedule(te.create_prim_func([q, k, v, topi.nn.attention(q, *wide)]))
    found = schedules.auto(sch, threads=1)
    assert found["k_wide"] == found["v_wide"] == "attention"
    assert "k_wide = " not in sch.mod.script() and "v_wide = " not in sch.mod.script()
    given = RNG.standard_normal((1, queries, 1, 16), np.float32), *RNG.integers(-8, 8, (2, 1, 48, 1, 16), "int8")
    o = np.empty_like(given[0])
    build(sch)(*given, o)
    wanted = reference(*(x[0].transpose(1, 0, 2) * np.float32(by) for x, by in zip(given, (1, 0.5, 0.5), strict=True)))
    np.testing.assert_allclose(o[0].transpose(1, 0, 2), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.nightly
def test_narrow_registers():
    check(build(scheduled(attention(1, 20, 33, 24), target=AVX2))["main"], 1, 20, 33, 24)


def test_all_stages_are_under_the_tile_of_queries():
    text = scheduled(attention(2, 64, 64, 16)).mod.script()
    assert text.count("for i_0 in range(2):") == 1
    stages = text[text.index("for i_0 in range(2)") :]
    assert all(f'T.block("{name}' in stages for name in ("S", "M", "E", "Z", "P", "O"))
    assert 'T.block("X")' not in text  # a scale is cheap: both readers compute it


@pytest.mark.parametrize(("queries", "keys"), [(96, 96), (127, 127), (64, 300)])
def test_keys_that_no_query_of_a_tile_sees_are_left_out(queries, keys):
    q, k, v = (te.placeholder((1, 2, n, 16), name=x) for n, x in ((queries, "Q"), (keys, "K"), (keys, "V")))
    o = topi.nn.attention(q, k, v, causal_mask="BottomRight", layout="BHSD")
    sch = Schedule(te.create_prim_func([q, k, v, o]))
    schedules.attention(sch, sch.get_output_blocks("root")[0], threads=1)
    assert sch.mod.script().count(f"_0 * 32 + {keys - queries + 31}") >= 6  # in all stages
    arrays = [RNG.standard_normal((1, 2, n, 16), np.float32) for n in (queries, keys, keys)]
    result = np.full_like(arrays[0], np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # all is in vectors, where tiles are ragged, too
        build(sch)(*arrays, result)
    s = np.einsum("bhqd,bhkd->bhqk", *arrays[:2]) / 4 + np.triu(np.full((queries, keys), -np.inf), keys - queries + 1)
    e = np.exp(s - s.max(-1, keepdims=True))
    np.testing.assert_allclose(result, (e / e.sum(-1, keepdims=True)) @ arrays[2], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("heads", "loop"), [(8, "for h in T.parallel(8)"), (1, "for i_0 in T.parallel(8)")])
def test_threads_share_heads_or_tiles(heads, loop):
    sch = scheduled(attention(heads, 256, 32, 16), threads=2)
    assert loop in sch.mod.script()


@pytest.mark.nightly
def test_a_batch_of_heads():
    b, h, n, w = 2, 3, 10, 8
    q, k, v = (te.placeholder((b, h, n, w), name=x) for x in "QKV")
    d, r, s, t = (te.reduce_axis((0, e), name=x) for e, x in ((w, "d"), (n, "r"), (n, "s"), (n, "t")))
    scores = te.compute((b, h, n, n), lambda *i: te.sum(q[(*i[:3], d)] * k[(*i[:2], i[3], d)], axis=d), name="S")
    m = te.compute((b, h, n), lambda *i: te.max(scores[(*i, r)], axis=r), name="M")
    e = te.compute((b, h, n, n), lambda *i: te.exp(scores[i] - m[i[:3]]), name="E")
    z = te.compute((b, h, n), lambda *i: te.sum(e[(*i, s)], axis=s), name="Z")
    p = te.compute((b, h, n, w), lambda *i: te.sum(e[(*i[:3], t)] * v[(*i[:2], t, i[3])], axis=t), name="P")
    o = te.compute((b, h, n, w), lambda *i: p[i] / z[i[:3]], name="O")
    run = build(scheduled(te.create_prim_func([q, k, v, o])))["main"]
    x, y, u = RNG.standard_normal((3, b, h, n, w), np.float32)
    result = np.empty_like(x)
    run(x, y, u, result)
    flat = [a.reshape(b * h, n, w) for a in (x * np.sqrt(np.float32(w)), y, u)]  # the program does not scale
    np.testing.assert_allclose(result.reshape(b * h, n, w), reference(*flat), rtol=1e-4, atol=1e-5)


def test_auto_finds_it():
    for weights in (False, True):
        found = schedules.auto(sch := Schedule(attention(2, 12, 20, 8, True, weights)), threads=1)
        assert set(found.values()) == {"attention"}
        assert sch.verify()


def test_another_program_is_refused():
    with pytest.raises(ScheduleError, match='block "out" ends no attention: it must depend on two products'):
        schedules.attention(Schedule(softmax((8, 8))), "out")


def test_scores_of_bfloat16_are_products_of_tiles():
    """Also where a tile of queries sees some of the keys only: whole tiles of keys are left out."""
    q, k, v = (te.placeholder((1, 1, 64, 32), "bfloat16", name=x) for x in "qkv")
    sch = Schedule(te.create_prim_func([q, k, v, topi.nn.attention(q, k, v, causal_mask="TopLeft", layout="BHSD")]))
    schedules.attention(sch, "T_attention_norm", target=SAPPHIRE_RAPIDS, threads=1)
    text = sch.mod.script()
    assert "amx_tdpbf16ps" in text and "i2_0 + 1" in text
    assert sch.verify()


def short_attention(queries, keys, target, mask=None):
    q, k, v = (te.placeholder((1, 1, n, 32), "bfloat16", name=x) for n, x in ((queries, "q"), (keys, "k"), (keys, "v")))
    o = topi.nn.attention(q, k, v, causal_mask=mask, layout="BHSD", weights_dtype="bfloat16")
    sch = Schedule(te.create_prim_func([q, k, v, o]))
    schedules.attention(sch, "T_attention_norm", target=target, threads=1)
    return sch


def test_both_products_of_bfloat16_are_dot_products():
    text = short_attention(17, 48, ZEN4).mod.script()
    assert text.count('"dot_bfloat16_16x2_x86_avx512bf16_dpbf16ps_512"') == 2 and "k_global" in text


def test_pairs_of_keys_that_no_query_of_a_tile_sees_are_left_out():
    sch = short_attention(64, 80, ZEN4, "BottomRight")
    assert "T.where(ax4 <= i2_0 * 16 + 23)" in sch.mod.script()
    assert sch.verify()


def test_bfloat16_is_widened_where_dot_products_are_slow():
    assert "dpbf16ps" not in short_attention(32, 32, SAPPHIRE_RAPIDS_NO_AMX).mod.script()
