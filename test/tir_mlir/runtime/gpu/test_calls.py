"""Calls of kernels: where they run, what they get, and how arguments are refused, on the fake driver."""

import warnings

import numpy as np
import pytest
from harness.device_arrays import DeviceArray
from harness.device_functions import function, pair

from tir_mlir.errors import ArgumentError, DeviceError
from tir_mlir.runtime.drivers.device_driver import using
from tir_mlir.runtime.gpu import function as device_function
from tir_mlir.runtime.gpu import tensors


@pytest.fixture
def scale(driver):
    """B = x * A for any length, on the driver with two GPUs."""
    driver.fake.fake_arguments(5)
    with using(driver):
        yield function("?")


@pytest.mark.nightly
def test_arrays_are_passed_in_place_with_memory_of_the_function(scale, driver):
    a, b = pair(driver)
    scale(a, b, 2.0)
    assert driver.launched() == (b"scale_kernel", [4, 1, 1, 32, 1, 1, 0, 0])
    words = [driver.fake.fake_word(n) for n in range(5)]
    assert words[:2] == [a.address, b.address]
    assert words[3:] == [0x40000000, 100]


@pytest.mark.nightly
def test_by_keyword(scale, driver):
    a, b = pair(driver)
    scale(a, x=2.0, B=b)
    assert driver.fake.fake_word(1) == b.address


def test_a_grid_of_no_blocks_starts_nothing(scale, driver):
    before = driver.count("launches")
    scale(*pair(driver, 0), 2.0)
    assert driver.count("launches") == before


def test_the_arrays_decide_the_device(scale, driver):
    for device in (1, 0):
        arrays = pair(driver, device=device)
        driver.make_current(1 - device)
        scale(*arrays, 2.0)
        assert (driver.launch_device, driver.current_device()) == (device, 1 - device)


def test_arrays_start_at_their_offset(scale, driver):
    a, b = pair(driver, offset=8)
    scale(a, b, 2.0)
    assert driver.fake.fake_word(0) == a.address + 8


@pytest.mark.parametrize("version", [None, 1])
def test_packages_without_streams_are_told_ours(scale, driver, version):
    a, b = pair(driver, version=version)
    scale(a, b, 2.0)
    assert a.seen == [0]


def test_kernels_run_on_the_stream_of_the_package(scale, driver, monkeypatch):
    monkeypatch.setitem(tensors.CURRENT_STREAM, "harness", lambda device: 0x50 + device)
    a, b = pair(driver, device=1)
    scale(a, b, 2.0)
    assert driver.launched()[1][-1] == 0x51
    assert a.seen == [tensors.NO_SYNCHRONIZATION]


def test_numpy_arrays_are_copied_and_that_is_said_once(scale):
    a, b = np.ones(64, np.float32), np.zeros(64, np.float32)
    with pytest.warns(UserWarning, match="scale: 'A', 'B' are NumPy arrays: each call copies them to the GPU and back"):
        scale(a, b, 2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scale(a, b, 2.0)


def test_what_the_function_writes_comes_back_and_nothing_else(scale, driver):
    a, b = np.ones(64, np.float32), np.zeros(64, np.float32)
    driver.fails("cuMemcpyDtoHAsync_v2", 1)
    with pytest.raises(DeviceError, match="a copy of 256 bytes from GPU 0"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scale(a, b, 2.0)


def refusal(scale, *args):
    with pytest.raises(ArgumentError) as caught:
        scale(*args)
    return str(caught.value)


def test_two_devices_are_named(scale, driver):
    (a, _), (b, _) = pair(driver), pair(driver, device=1)
    text = "scale: argument 1, B: Buffer[(?,), \"float32\"]: is on cuda:1; 'A' is on cuda:0; all on one GPU"
    assert refusal(scale, a, b, 2.0) == text


@pytest.mark.parametrize(("options", "text"), [
    ({"kind": tensors.CPU}, "is on the CPU; the kernels run on a GPU; move it there, or pass it as a NumPy array"),
    ({"kind": 10}, "is on rocm:0; the kernels run on a GPU"),
    ({"device": 7}, "is on cuda:7; CUDA 12.4 has 2 GPUs"),
    ({"strides": (2,)}, "is not C-contiguous: strides (2,) in elements; (1,) are needed"),
    ({"offset": 2}, "which is not a multiple of 4; element-aligned memory is needed"),
    ({"version": 2}, "that gives no array in place (version 2 of DLPack is not supported, 1 is)"),
])  # fmt: skip
def test_an_argument_that_does_not_fit_is_named(scale, driver, options, text):
    device = options.pop("device", 0)
    b, a = DeviceArray(driver, np.ones(8, np.float32)), DeviceArray(driver, np.ones(8, np.float32), **options)
    a.device = device
    said = refusal(scale, a, b, 2.0)
    assert said.startswith('scale: argument 0, A: Buffer[(?,), "float32"]: ')
    assert text in said


def test_a_torch_tensor_in_main_memory_is_told_how_to_move(scale, driver):
    torch = pytest.importorskip("torch")
    said = refusal(scale, torch.zeros(100), pair(driver)[1], 2.0)
    assert (
        'is on the CPU; the kernels run on a GPU; .to("cuda:0") moves it, .numpy() has it copied in each call' in said
    )


def test_types_shapes_and_read_only_arrays_are_refused_as_by_cpu_calls(scale, driver):
    a, _ = pair(driver)
    wrong = DeviceArray(driver, np.ones(100))
    assert "is of type float64; float32 is needed" in refusal(scale, a, wrong, 2.0)
    square = DeviceArray(driver, np.ones((10, 10), np.float32))
    assert "has 2 dimensions, shape (10, 10); 1 are needed" in refusal(scale, a, square, 2.0)
    fixed = DeviceArray(driver, np.ones(100, np.float32), read_only=True)
    assert "is read-only; the function writes to it; pass a writable array" in refusal(scale, a, fixed, 2.0)
    assert "is a list; an array on a GPU (__dlpack__), or a NumPy array" in refusal(scale, a, [1.0], 2.0)
    assert "and 'B' is written; pass a copy of one" in refusal(scale, a, a, 2.0)
    assert "takes 3 arguments, 1 given" in refusal(scale, a)


def test_alignment_beyond_elements_is_checked(driver):
    aligned = function("?", align=16)
    a, b = pair(driver, offset=8)
    with using(driver):
        assert "a multiple of 16 is needed, as the kernels use vector loads; pass a copy" in refusal(aligned, a, b, 2.0)


def test_a_static_shape_is_checked(driver):
    with using(driver):
        assert "has extent 100 in dimension 0; 64 is needed" in refusal(function("64"), *pair(driver), 2.0)


def test_launches_of_many_shapes_are_forgotten(scale, driver, monkeypatch):
    monkeypatch.setattr(device_function, "PREPARED", 4)
    for n in range(1, 12):
        scale(*pair(driver, n), 2.0)
        assert driver.fake.fake_word(4) == n
    assert len(scale._ready) <= 4


def test_time_is_measured_by_events(scale, driver):
    assert scale.seconds([*pair(driver), 2.0], number=4, repeat=2) == pytest.approx([5e-4] * 2)
    before = driver.count("launches")
    assert scale.seconds([np.ones(4, np.float32), np.ones(4, np.float32), 2.0], number=2) == pytest.approx([1e-3])
    assert driver.count("launches") == before + 3
