"""Tensors of other packages: their types, devices and streams."""

import sys
import types
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest
from harness.device_arrays import DeviceArray, lending
from harness.device_functions import function, pair

from tir_mlir.runtime.drivers.device_driver import using
from tir_mlir.runtime.gpu import tensors


@pytest.mark.parametrize(("code", "bits", "name"), [
    (0, 8, "int8"), (1, 64, "uint64"), (2, 16, "float16"), (2, 32, "float32"), (4, 16, "bfloat16"), (6, 8, "bool"),
])  # fmt: skip
def test_types_have_the_names_of_numpy(code, bits, name):
    assert tensors.dtype_name(code, bits) == name


@pytest.mark.parametrize(("code", "bits", "lanes"), [(2, 8, 1), (2, 32, 4), (3, 64, 1), (0, 4, 1), (10, 8, 1)])
def test_types_that_numpy_has_no_arrays_of_are_refused(code, bits, lanes):
    with pytest.raises(TypeError, match=f"its type, code {code} of DLPack with {bits} bits, is not supported"):
        tensors.dtype_name(code, bits, lanes)


def test_addresses_shape_and_strides_are_those_of_the_tensor(driver):
    value = DeviceArray(driver, np.zeros((4, 6), np.int16), strides=(12, 2), offset=4)
    tensor = tensors.borrow_tensor(value, 0)
    assert tensor.array.__array_interface__["data"] == (value.address + 4, False)
    assert (tensor.array.shape, tensor.array.strides, tensor.dtype, tensor.device) == ((4, 6), (24, 4), "int16", 0)


def array_of(package, driver):
    """An array whose type is defined by a package."""
    kind = type("ndarray", (DeviceArray,), {"__module__": f"{package}.core"})
    return kind(driver, np.zeros(100, np.float32), 1)


def test_the_stream_of_cupy(driver, monkeypatch):
    entered = []
    stream = types.SimpleNamespace(ptr=0x99)

    def device(number):
        entered.append(number)
        return nullcontext()

    cuda = types.SimpleNamespace(Device=device, get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    assert tensors.current_stream(array_of("cupy", driver), 1) == 0x99
    assert entered == [1]


def test_the_stream_of_torch(driver, monkeypatch):
    streams = {1: types.SimpleNamespace(cuda_stream=0x98)}
    cuda = types.SimpleNamespace(current_stream=streams.__getitem__)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(cuda=cuda))
    assert tensors.current_stream(array_of("torch", driver), 1) == 0x98


def test_other_packages_have_a_stream_by_the_c_api_or_none(driver):
    values = np.zeros(4, np.float32)
    assert tensors.current_stream(lending(DeviceArray)(driver, values), 1) == 0x71
    assert tensors.current_stream(DeviceArray(driver, values), 1) is None


def test_threads_call_at_once(driver):
    f = function("?")
    driver.fake.fake_arguments(5)

    def calls(n):
        arrays = [lending(DeviceArray)(driver, np.zeros(n, np.float32)) for _ in range(2)] if n % 2 else pair(driver, n)
        for _ in range(50):
            with using(driver):
                f(*arrays, 2.0)
        return True

    before = driver.count("launches")
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(calls, (3, 4, 5, 6)))
    assert driver.count("launches") == before + 200
