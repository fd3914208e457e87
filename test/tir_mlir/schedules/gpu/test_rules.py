"""schedules.auto for a GPU: every kind of block gets kernels, right on the PTX machine at ragged sizes."""

import numpy as np
import pytest
from harness.ready_kernels import run
from programs import kernel_kinds as kinds

from tir_mlir import Schedule, schedules
from tir_mlir.dialect.diagnostics import ScheduleError

PLANES = [(17, 33), (1, 127), (127, 1), (64, 128), (1, 1)]
CASES = [
    *((getattr(kinds, name), size, rule) for name, rule in {
        "softmax": "rowwise", "norm": "rowwise", "row_sums": "reduction", "column_sums": "reduction",
        "whole_sum": "reduction", "two_sums": "reduction", "argmax": "reduction", "broadcast": "elementwise",
        "concatenation": "elementwise", "gather": "elementwise", "scan": "per_element",
    }.items() for size in PLANES),
    *((kinds.transpose, size, "transpose") for size in [(17, 33), (32, 64), (127, 8)]),
    (kinds.dense, (17, 33, 65), "product"), (kinds.dense, (16, 16, 16), "product"),
    (kinds.dense, (127, 15, 1), "product"), (kinds.transpose, (1, 127), "elementwise"),
    (kinds.dense, (1, 127, 127), "elementwise"),
    (kinds.convolution, (1, 5, 7, 9, 11, 3), "product"), (kinds.convolution, (2, 3, 16, 15, 15, 7, 2), "product"),
    (kinds.convolution, (2, 16, 8, 7, 7, 1), "product"),
    (kinds.convolution, (3, 11, 38, 16, 15, 1, 2), "product"), (kinds.depthwise, (2, 5, 9, 11, 3), "reduction"),
    (kinds.middle_maximum, (3, 50, 40), "reduction"), (kinds.mean_subtracted, (100,), "elementwise"),
]  # fmt: skip


@pytest.mark.few(24)
@pytest.mark.parametrize(("kind", "size", "rule"), CASES, ids=lambda x: getattr(x, "__name__", None))
def test_kinds(kind, size, rule):
    rules, _ = run(kind(*size))
    assert list(rules.values())[-1] == rule


@pytest.mark.few(6)
@pytest.mark.parametrize("options", [
    {"left_turned": True}, {"right_turned": True}, {"left_turned": True, "right_turned": True}, {"batch": 3},
    {"dtype": "float64", "out": "float64"}, {"dtype": "float16"}, {"dtype": "int8", "out": "int32"},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("size", [(33, 65, 17), (64, 64, 16), (4, 127, 15)])
def test_products(options, size):
    rules, _ = run(kinds.product(*size, **options))
    assert rules == {"C": "tensor_cores" if "dtype" in options else "product"}


@pytest.mark.few(1)
@pytest.mark.parametrize(("kind", "size", "launches"), [
    (kinds.dense, (32, 33, 2048), 3), (kinds.product, (16, 17, 1536), 2), (kinds.convolution, (1, 256, 16, 4, 4, 3), 4),
], ids=lambda x: getattr(x, "__name__", None))  # fmt: skip
def test_sums_of_many_terms_in_parts(kind, size, launches):
    rules, report = run(kind(*size), tolerance=1e-4)
    assert "product" in rules.values() and len(report.launches) == launches


@pytest.mark.few(3)
@pytest.mark.parametrize(("kind", "sizes", "rule"), [
    (kinds.product, ("n", 33, 17), "product"), (kinds.product, (16, "n", 17), "product"),
    (kinds.product, (16, 16, "n"), "reduction"), (kinds.softmax, ("n", 33), "rowwise"),
    (kinds.broadcast, ("n", "m"), "elementwise"), (kinds.transpose, ("n", 64), "transpose"),
    (kinds.transpose, ("n", "m"), "transpose"), (kinds.row_sums, ("n", "m"), "reduction"),
    (kinds.column_sums, ("n", 33), "reduction"),
], ids=lambda x: getattr(x, "__name__", None))  # fmt: skip
def test_sizes_that_a_call_decides(kind, sizes, rule):
    for size in (1, 37):
        assert list(run(kind(*sizes), size=size)[0].values())[-1] == rule


def test_a_ragged_product_has_guards_at_loads_and_stores_only():
    _, report = run(kinds.product(100, 96, 64))
    sums = report.instructions["fma.rn.f32"]
    assert sum(report.instructions.values()) < 2.3 * sums
    assert report.bank_conflicts == 0
    _, even = run(kinds.product(128, 96, 64))
    assert report.instructions["bra"] < 2 * even.instructions["bra"] + sums / 32


@pytest.mark.nightly
@pytest.mark.parametrize(
    "kind", ["product", "dense", "softmax", "norm", "row_sums", "column_sums", "transpose", "argmax"]
)
def test_any_size(kind):
    rng = np.random.default_rng(sum(map(ord, kind)))
    function = getattr(kinds, kind)
    count = 3 if kind in ("product", "dense") else 2
    for _ in range(40):
        size = [int(n) for n in rng.integers(1, 301, count)]
        if count == 3:
            size[-1] = min(size[-1], 64)
        run(function(*size))


@pytest.mark.parametrize("options", [{"threads": 2}, {"free": True}])
def test_options_of_cpus(options):
    with pytest.raises(
        ScheduleError, match=f"{next(iter(options))} is for CPUs, and sm_80 is a GPU; fix: leave it out"
    ):
        schedules.auto(Schedule(kinds.broadcast(4, 4)), "sm_80", **options)


@pytest.mark.few(4)
@pytest.mark.parametrize(("target", "dtype", "out"), [
    ("sm_75", "float64", "float64"), ("sm_80", "float64", "float64"), ("sm_80", "int8", "int32"),
])  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
def test_tiles_have_no_bank_conflicts(target, dtype, out, turned):
    _, report = run(kinds.product(64, 64, 32, dtype=dtype, out=out, right_turned=turned), target=target)
    assert report.bank_conflicts == 0


def test_parts_of_column_sums_are_in_different_banks():
    _, report = run(kinds.column_sums(512, 64))
    assert report.bank_conflicts == 0
