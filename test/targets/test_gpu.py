"""Kernels on the GPU of this machine, by its driver: `make gpu`. Without one they are left out, and say so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness.bound_programs import MATMUL, add_one, matmul, two_stages
from harness.device_arrays import DeviceArray
from programs import tma_products
from programs.parsed import parse

from tir_mlir import build, interpret, tune
from tir_mlir.errors import DeviceError
from tir_mlir.runtime.drivers import cuda


@pytest.fixture(scope="module")
def driver():
    try:
        return cuda.cuda()
    except DeviceError as error:
        pytest.skip(f"no GPU: {error}")


@pytest.fixture(scope="module")
def torch(driver):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch was built without CUDA, or is too new for the driver")
    return torch


def called(lib, *arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # NumPy arrays are copied
        lib(*arrays)


def test_numpy_arrays_go_there_and_back(driver):
    a, b = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    called(build(add_one(), target="sm_80"), a, b)
    assert (b == a + 1).all()


def test_arrays_of_a_package_are_used_in_place(driver):
    a, b = (DeviceArray(driver, np.arange(1000, dtype=np.float32) * sign) for sign in (1, -1))
    build(add_one(), target="sm_80")(a, b)
    driver.synchronize(0, 0)
    assert (b.get() == np.arange(1000) + 1).all()


def test_tiles_in_shared_memory_and_the_machine_agree(driver):
    a, b = (np.random.default_rng(n).random((32, 32), np.float32) for n in range(2))
    ours, machine = np.zeros((2, 32, 32), np.float32)
    called(build(matmul(), target="sm_80"), a, b, ours)
    interpret(matmul(), a, b, machine, target="sm_80")
    assert (ours == machine).all()


def test_two_kernels_with_memory_of_the_function_between_them(driver):
    a, b = np.arange(96, dtype=np.float32), np.zeros(96, np.float32)
    called(build(two_stages(), target="sm_80"), a, b)
    assert (b == 2 * a[::-1] + 1).all()


@pytest.mark.parametrize("specialize", [True, False])
@pytest.mark.parametrize("make", ["simt", "warpgroups"])
def test_tiles_by_the_tma_and_the_machine_agree(driver, make, specialize):
    """The first chip on which descriptors, phases and the pattern of the hardware are seen by another than us."""
    if not driver.devices()[0].chip.startswith("sm_90"):
        pytest.skip("needs an H100 or H200")
    size = (127, 136, 200) if make == "simt" else (256, 128, 512)
    sch = getattr(tma_products, make)(size, 3, specialize)
    random = np.random.default_rng(0)
    a, b = (random.integers(-3, 4, s).astype(np.float16) for s in ((size[0], size[2]), (size[2], size[1])))
    ours, machine = np.zeros((2, *size[:2]), np.float32)
    called(build(sch, target="sm_90a"), a, b, ours)
    interpret(sch, a, b, machine, target="sm_90a")
    assert (machine == a.astype(np.float32) @ b.astype(np.float32)).all()
    assert (ours == machine).all()


@pytest.mark.parametrize("turned", ["A", "B", "AB"])
def test_operands_of_wgmma_stored_either_way(driver, turned):
    if not driver.devices()[0].chip.startswith("sm_90"):
        pytest.skip("needs an H100 or H200")
    sch, random = tma_products.warpgroups((256, 128, 512), turned=turned), np.random.default_rng(0)
    a, b = random.integers(-3, 4, (256, 512)).astype(np.float16), random.integers(-3, 4, (512, 128)).astype(np.float16)
    c = np.zeros((256, 128), np.float32)
    given = [np.ascontiguousarray(x.T) if name in turned else x for name, x in (("A", a), ("B", b))]
    called(build(sch, target="sm_90a"), *given, c)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def test_events_measure_time(driver):
    arrays = np.ones(1000, np.float32), np.ones(1000, np.float32)
    (seconds,) = build(add_one(), target="sm_80")["add_one"].seconds(arrays, number=100)
    assert 0 < seconds < 1


def test_a_search_is_timed_by_the_gpu(driver, tmp_path):
    pytest.importorskip("optuna")
    product = parse(MATMUL.format(n=64, dtype="float32"))
    best = tune.tune(product, target="cuda", trials=2, work_dir=tmp_path, seed=0)
    assert best.trials[0].ok
    with tune.Database(tmp_path):
        a, b, c = (np.ones((64, 64), np.float32) for _ in range(3))
        called(build(product, target="cuda"), a, b, c)
    assert (c == 64).all()


def test_a_kernel_is_between_the_work_of_torch_on_its_stream(torch):
    lib, stream = build(add_one(), target="sm_80"), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a, b = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
        for _ in range(5):  # later calls start in native code
            lib(a, b)
            a.copy_(b)
    stream.synchronize()
    assert (a == 5).all()


def test_temporary_memory_is_given_back_between_calls_on_tensors(torch):
    lib, a, b = build(two_stages(), target="sm_80"), torch.ones(96, device="cuda"), torch.zeros(96, device="cuda")
    for _ in range(1000):
        lib(a, b)
    assert (b == 3).all()
