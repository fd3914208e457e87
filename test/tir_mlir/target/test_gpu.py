"""GPUs as targets: their names, and what a schedule or a graph for CPUs says of them."""

from __future__ import annotations

import pytest
from programs.products import product

from tir_mlir import Schedule, build, schedules, target
from tir_mlir.dialect.diagnostics import BuildError, ScheduleError
from tir_mlir.target import gpu


@pytest.mark.parametrize(
    ("name", "chip"),
    [
        ("nvidia/tesla-p100", "sm_60"),
        ("nvidia/nvidia-a100", "sm_80"),
        ("nvidia/geforce-rtx-3070", "sm_86"),
        ("NVIDIA/GeForce-RTX-4090", "sm_89"),
        ("nvidia/nvidia-h100", "sm_90a"),
        ("sm_75", "sm_75"),
    ],
)
def test_names(name, chip):
    assert target.named(name) == target.CUDA(chip)


def test_the_chip_decides_what_a_block_may_use():
    assert target.CUDA("sm_80").shared == 163 << 10 and target.CUDA("sm_90a").shared == 227 << 10
    assert target.CUDA("sm_60").shared == target.CUDA("sm_60").shared_static == 48 << 10
    assert target.CUDA("sm_90", shared=100 << 10).shared == 100 << 10


@pytest.mark.parametrize(
    ("chip", "threads", "shared", "registers", "blocks"),
    [
        ("sm_80", 256, 0, 96, (2, "registers")),
        ("sm_80", 1024, 0, 16, (2, "threads")),
        ("sm_80", 1, 0, 16, (32, "blocks")),
        ("sm_80", 128, 40 << 10, 32, (4, "shared memory")),
        ("sm_60", 128, 32 << 10, 32, (2, "shared memory")),
    ],
)
def test_blocks_that_a_multiprocessor_holds(chip, threads, shared, registers, blocks):
    assert target.CUDA(chip).occupancy(threads, shared, registers) == blocks


def test_an_unknown_chip():
    with pytest.raises(BuildError, match=r"unknown GPU 'sm_81' \(did you mean 'sm_89'\?\); known: 'sm_60'"):
        target.CUDA("sm_81")


@pytest.mark.parametrize(
    ("name", "message"), [("cudaa", r"\(near: 'cuda'"), ("gfx1", "of AMD 'gfx1'; known: 'gfx90a'")]
)
def test_an_unknown_name(name, message):
    with pytest.raises(BuildError, match=f"unknown GPU .*{message}"):
        target.named(name)


@pytest.mark.parametrize("limit", [{"max_threads": -1}, {"shared": "48 KB"}])
def test_a_limit_that_is_no_number(limit):
    (name, value) = next(iter(limit.items()))
    with pytest.raises(BuildError, match=f"{name} of a GPU is a number from 0 on, not {value!r}; fix: leave it out"):
        target.CUDA("sm_80", **limit)


def test_cuda_is_the_gpu_of_this_machine(monkeypatch):
    monkeypatch.setattr(gpu, "_ask_driver", lambda: (9, 0))
    assert target.named("cuda") == target.host_gpu() == target.CUDA("sm_90a")


def test_without_a_gpu(monkeypatch):
    monkeypatch.setattr(gpu, "_ask_driver", lambda: "the driver finds no GPU")
    assert target.named("cuda") == target.CUDA("sm_80")
    with pytest.raises(BuildError, match="no NVIDIA GPU that can be used: the driver finds no GPU; fix: "):
        target.host_gpu()


@pytest.mark.parametrize("name", ["gemv", "elementwise", "transpose", "reduction", "softmax", "conv2d"])
def test_schedules_for_cpus_refuse_a_gpu(name):
    with pytest.raises(
        BuildError, match=r"sm_80 is a GPU, and this is for CPUs; for GPUs there are schedules.auto, sch"
    ):
        getattr(schedules, name)(Schedule(product(4, 4, 4)), "C", target=target.CUDA("sm_80"))


def test_options_of_products_for_cpus():
    with pytest.raises(ScheduleError, match="threads is for products on CPUs, and sm_80 is a GPU; fix: leave it out"):
        schedules.gemm(Schedule(product(16, 16, 8)), "C", target="sm_80", threads=2)


def test_what_is_no_product_of_matrices():
    sch = Schedule(product(4, 16, 8))
    sch.cache_write("C", 0, "local")
    with pytest.raises(ScheduleError, match='block "C_local" is not a product of matrices: it must have one output'):
        schedules.gemm(sch, "C_local", target="sm_80")


@pytest.mark.parametrize("options", [{"driver": "tools"}, {"checked": True}, {"libs": ["libm.so.6"]}])
def test_options_for_cpus(options):
    with pytest.raises(BuildError, match=f"{next(iter(options))} is not for GPUs; fix: leave it out"):
        build(product(4, 4, 4), target="sm_80", **options)
