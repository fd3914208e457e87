"""Products whose sums remain in integers within a group."""

import numpy as np
import pytest

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.errors import GraphError
from tir_mlir.target.predefined import ZEN4


def product(rows, columns, depth, group, bits, offset=False, scale="float32"):
    x, w = (
        te.placeholder((rows, depth), "int8", name="X"),
        te.placeholder((columns, depth * bits // 8), "uint8", name="W"),
    )
    by = [te.placeholder((columns, depth // group), scale, name=name) for name in ("S", "O")[: 1 + offset]]
    return te.create_prim_func([x, w, *by, topi.dense_groups(x, w, *by, group_size=group, bits=bits)])


def numbers(weight, group, bits):
    """The stored numbers of a row, in order."""
    if bits == 8:
        return weight.astype("int64")
    halves = weight.reshape(len(weight), -1, 1, group // 2) >> np.array([0, 4], "uint8")[:, None] & 15
    return halves.reshape(len(weight), -1).astype("int64")


def arguments(rows, columns, depth, group, bits):
    rng = np.random.default_rng(0)
    x = rng.integers(-127, 128, (rows, depth)).astype("int8")
    weight = rng.integers(0, 256, (columns, depth * bits // 8)).astype("uint8")
    return x, weight, rng.integers(1, 5, (columns, depth // group)).astype("float32")


@pytest.mark.parametrize(("rows", "columns", "depth", "group", "bits", "offset"), [
    (1, 64, 128, 32, 4, False), (11, 32, 64, 64, 8, False), (3, 48, 96, 32, 4, True), (2, 6, 64, 32, 4, False),
])  # fmt: skip
def test_totals_are_exact(rows, columns, depth, group, bits, offset):
    x, weight, scale = arguments(rows, columns, depth, group, bits)
    zero = np.zeros_like(scale) + (2 if offset else 8 if bits == 4 else 128)
    q = numbers(weight, group, bits) * scale.repeat(group, axis=1) - (zero if offset else zero * scale).repeat(group, 1)
    sch = Schedule(product(rows, columns, depth, group, bits, offset))
    panels = schedules.prepack(sch, "main", ["W", "S", "O"][: 2 + offset], threads=1)
    schedules.auto(sch, threads=1)
    given = {"W": weight, "S": scale, "O": zero}
    packed = [
        panels[name].apply(given[name]) if name in panels else given[name] for name in ("W", "S", "O")[: 2 + offset]
    ]
    out = np.empty((rows, columns), "float32")
    build(sch)(x, *packed, out)
    np.testing.assert_array_equal(out, (x.astype("int64") @ q.T).astype("float32"))


def test_dot_products_of_registers_sum_a_group():
    sch = Schedule(product(4, 32, 64, 32, 4, scale="float16"))
    schedules.prepack(sch, "main", ["W", "S"], ZEN4, 1)
    assert schedules.auto(sch, ZEN4, 1)["T_dense"] == "group_sums"
    assert "vpdpbusd_512" in sch.mod.script()
    assert sch.verify()


@pytest.mark.parametrize(
    ("target", "rows", "prefetched"), [("icelake", 1, True), ("zen4", 1, False), ("zen4", 4, True)]
)
def test_weights_that_a_core_does_not_fetch_in_time_are_prefetched(target, rows, prefetched):
    sch = Schedule(product(rows, 32, 64, 32, 4))
    schedules.prepack(sch, "main", ["W", "S"], target, 1)
    schedules.auto(sch, target, 1)
    # 32 columns of 32 weights of 4 bits: 512 bytes
    assert ('"prefetch": {"S": 8, "W": 8}' in sch.mod.script()) == prefetched


def test_rows_are_copied_in_the_order_of_a_tile():
    sch = Schedule(product(11, 32, 64, 32, 4))
    schedules.prepack(sch, "main", ["W", "S"], "zen4", 1)
    schedules.auto(sch, "zen4", 1)
    assert 'X_global = T.alloc_buffer((2, 16, 6, 4), "int8")' in sch.mod.script()


@pytest.mark.parametrize(("target", "shift"), [("zen4", "vpsrlw"), ("icelake", "vgf2p8affineqb")])
def test_bytes_are_shifted_by_units_that_dot_products_leave(target, shift):
    sch = Schedule(product(4, 32, 64, 32, 4))
    schedules.prepack(sch, "main", ["W", "S"], target, 1)
    schedules.auto(sch, target, 1)
    code = build(sch, target=target).assembly
    assert [word for word in ("vpsrlw", "vgf2p8affineqb") if word in code] == [shift]


@pytest.mark.parametrize("target", ["zen3", "skylake_avx512"])
def test_products_of_bytes_are_added_in_pairs_without_vnni(target):
    sch = Schedule(product(3, 32, 64, 32, 4))
    schedules.prepack(sch, "main", ["W", "S"], target, 1)
    assert schedules.auto(sch, target, 1)["T_dense"] == "group_sums"
    assert "pmadd" in sch.mod.script() and sch.verify()


@pytest.mark.parametrize(("stored", "row"), [(255, -128), (128, -128), (255, 127), (127, 127)])
def test_the_greatest_numbers_are_exact(stored, row):
    sch = Schedule(product(2, 16, 64, 64, 8))
    panels = schedules.prepack(sch, "main", ["W", "S"], threads=1)
    schedules.auto(sch, threads=1)
    x, w, s = np.full((2, 64), row, "int8"), np.full((16, 64), stored, "uint8"), np.ones((16, 1), "float32")
    packed = [panels[name].apply(a) if panels else a for name, a in (("W", w), ("S", s))]
    out = np.empty((2, 16), "float32")
    build(sch)(x, *packed, out)
    assert (out == 64 * row * (stored - 128)).all()


def test_groups_that_do_not_divide_are_refused():
    x, w, s = te.placeholder((1, 64), "int8"), te.placeholder((8, 32), "uint8"), te.placeholder((8, 3))
    with pytest.raises(GraphError, match="for groups of 24"):
        topi.dense_groups(x, w, s, group_size=24)
