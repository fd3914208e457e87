"""Calls that are known start their kernels in native code: with the same pointers, stream, context and errors."""

import os

import numpy as np
import pytest
from harness.device_arrays import DeviceArray, lending
from harness.device_functions import function, pair

from tir_mlir.errors import ArgumentError, DeviceError, ForkError
from tir_mlir.runtime.drivers.device_driver import using

Lent = lending(DeviceArray)


@pytest.fixture
def scale(driver):
    """B = x * A for any length, without memory of the function."""
    driver.fake.fake_arguments(5)
    with using(driver):
        yield function("?", memory=False)


def tensors(driver, n=100, **options):
    return [Lent(driver, np.arange(n, dtype=np.float32), **options) for _ in range(2)]


def came(arrays):
    """How often the arrays were asked in Python."""
    return [len(a.seen) for a in arrays]


def test_a_known_call_starts_its_kernels_without_python(scale, driver):
    first, second = tensors(driver), tensors(driver)
    scale(*first, 2.0)
    scale(*second, 3.0)
    assert (came(first), came(second)) == ([1, 1], [0, 0])
    assert driver.launched() == (b"scale_kernel", [4, 1, 1, 32, 1, 1, 0, 0x70])
    words = [driver.fake.fake_word(n) for n in (0, 1, 4)]
    assert words == [second[0].address, second[1].address, 100]
    assert driver.fake.fake_word(3) & 0xFFFFFFFF == 0x40400000


def test_another_size_comes_to_python_once(scale, driver):
    for _ in range(2):
        for n in (100, 10):
            arrays = tensors(driver, n)
            scale(*arrays, 2.0)
    assert came(arrays) == [0, 0]
    assert driver.launched()[1][0] == 1


def test_a_known_call_runs_in_the_context_of_its_device_and_leaves_the_thread_its_own(scale, driver):
    for device in (1, 0, 1, 0, 1):
        arrays = tensors(driver, device=device)
        driver.make_current(1 - device)
        scale(*arrays, 2.0)
        assert (driver.launch_device, driver.current_device()) == (device, 1 - device)
        assert driver.launched()[1][-1] == 0x70 + device
    assert came(arrays) == [0, 0]


def test_overlap_and_devices_are_checked_in_native_code_as_well(scale, driver):
    a, b = tensors(driver)
    scale(a, b, 2.0)
    with pytest.raises(ArgumentError, match="overlap in memory"):
        scale(a, a, 2.0)
    with pytest.raises(ArgumentError, match="is on cuda:1; 'A' is on cuda:0"):
        scale(a, tensors(driver, device=1)[0], 2.0)
    with pytest.raises(ArgumentError, match="is not a multiple of 4"):
        scale(tensors(driver, offset=2)[0], b, 2.0)


def test_vector_loads_need_aligned_tensors(driver):
    aligned = function("?", memory=False, align=16)
    a, b = tensors(driver)
    with using(driver):
        aligned(a, b, 2.0)
        with pytest.raises(ArgumentError, match="a multiple of 16 is needed"):
            aligned(tensors(driver, offset=4)[0], b, 2.0)


def test_a_failed_start_is_reported_by_python(scale, driver):
    a, b = tensors(driver)
    scale(a, b, 2.0)
    driver.fails("cuLaunchKernel", 700)
    with pytest.raises(DeviceError, match=r"kernel scale_kernel on GPU 0.*CUDA_ERROR_ILLEGAL_ADDRESS"):
        scale(a, b, 2.0)
    driver.fails("", 0)
    scale(a, b, 2.0)


def test_a_start_that_fails_after_another_one_is_not_repeated(driver):
    twice = function("?", memory=False, launches=2)
    a, b = tensors(driver)
    driver.fake.fake_arguments(5)
    with using(driver):
        twice(a, b, 2.0)
        before = driver.count("launches")
        driver.fake.fake_fail_after(b"cuLaunchKernel", 700, 1)
        with pytest.raises(DeviceError, match="scale, after its first kernel: CUDA_ERROR_ILLEGAL_ADDRESS"):
            twice(a, b, 2.0)
    assert driver.count("launches") == before + 1


def test_a_forked_child_is_refused(scale, driver):
    a, b = tensors(driver)
    scale(a, b, 2.0)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            scale(a, b, 2.0)
        except ForkError:
            os.write(writer, b"refused")
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    assert os.read(reader, 100) == b"refused"


def test_memory_of_the_function_is_allocated_and_released_in_each_call(driver):
    f = function("?")
    arrays = tensors(driver)
    driver.fake.fake_arguments(5)
    with using(driver):
        f(*arrays, 2.0)
        held = driver.count("held")
        f(*arrays, 2.0)
        assert came(arrays) == [1, 1]
        assert driver.count("held") == held
        assert driver.fake.fake_word(2) not in (0, arrays[0].address, arrays[1].address)
        driver.fails("cuMemAllocAsync", 2)
        with pytest.raises(DeviceError, match="16 bytes of memory of GPU 0"):
            f(*arrays, 2.0)
        driver.fails("cuLaunchKernel", 700)
        with pytest.raises(DeviceError, match="kernel scale_kernel"):
            f(*arrays, 2.0)
    assert driver.count("held") == held


def test_devices_without_memory_in_the_order_of_a_stream_stay_in_python(driver):
    f, arrays = function("?"), tensors(driver)
    driver.fails("cuMemAllocAsync", 801)
    with using(driver):
        for _ in range(3):
            f(*arrays, 2.0)
    assert came(arrays) == [3, 3]


def test_arrays_without_the_c_api_stay_in_python(driver):
    f, arrays = function("?"), pair(driver)
    with using(driver):
        for _ in range(3):
            f(*arrays, 2.0)
    assert came(arrays) == [3, 3]
