"""The driver of NVIDIA's GPUs, on a library with its functions: what arrives there, and what its errors say."""

import os
import re

import numpy as np
import pytest
from harness.fake_cuda import FakeCuda

from tir_mlir.errors import BuildError, DeviceError, ForkError
from tir_mlir.runtime.drivers import cuda
from tir_mlir.runtime.drivers.device_driver import KernelCode, Launch

PTX = ".version 7.0\n.target sm_80\n"
LAUNCH = Launch("f_kernel", (4, 2, 1), (32, 8, 1), 1024, ("pointer", "int32"))


def loaded(driver, device=0, chip="sm_80"):
    return driver.load(device, KernelCode(PTX, chip))


def test_a_launch_arrives_as_it_was_prepared(driver):
    driver.fake.fake_arguments(2)
    driver.launcher(loaded(driver), LAUNCH)(0x10, [1 << 40, 7])
    assert driver.launched() == (b"f_kernel", [4, 2, 1, 32, 8, 1, 1024, 0x10])
    assert [driver.fake.fake_word(n) for n in range(2)] == [1 << 40, 7]
    assert driver.count("shared") == 1024


def test_memory_goes_there_and_back(driver):
    values, result = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    address = driver.allocate(0, values.nbytes, 0)
    driver.copy_in(0, address, values, 0)
    driver.copy_out(0, result, address, 0)
    driver.free(0, address, 0)
    assert (result == values).all()


def test_memory_of_a_device_without_pools(driver):
    driver.fails("cuMemAllocAsync", 801)
    address = driver.allocate(0, 64, 0)
    driver.free(0, address, 0)
    assert address


def test_code_is_compiled_once_for_all_processes(driver, library):
    before = driver.count("links"), driver.count("loads")
    first, second = loaded(driver), loaded(FakeCuda(library, devices=2))
    assert (driver.count("links") - before[0], driver.count("loads") - before[1]) == (1, 2)
    unloaded = driver.count("unloads")
    del first, second
    assert driver.count("unloads") - unloaded == 2


def test_time_is_that_between_events(driver):
    assert driver.seconds(0, 0, [lambda: None] * 3) == pytest.approx([2e-3] * 3)


def test_the_context_of_a_launch_is_that_of_its_device(driver):
    driver.launcher(loaded(driver, 1), LAUNCH)(0, [0, 0])
    assert driver.current_device() == 1
    driver.launcher(loaded(driver, 0), LAUNCH)(0, [0, 0])
    assert driver.current_device() == 0


def refusal(kind, call, *args):
    with pytest.raises(kind) as caught:
        call(*args)
    return str(caught.value)


def test_without_a_driver_the_error_names_the_library_and_the_ways_on():
    text = refusal(BuildError, cuda.Cuda, "libnot_there.so.1")
    assert text.startswith("libnot_there.so.1 not found: no NVIDIA driver on this machine")
    for way in ('target="cuda-emulated"', "interpret(sch", "lib.assembly", "lib.export"):
        assert way in text


@pytest.mark.parametrize(
    ("devices", "fails", "text"),
    [
        (0, ("", 0), "the NVIDIA driver finds no GPU"),
        (1, ("cuInit", 100), "the NVIDIA driver finds no GPU"),
        (1, ("cuInit", 999), "the NVIDIA driver does not start: error 999 of CUDA"),
    ],
)
def test_a_driver_that_does_not_start(library, devices, fails, text):
    assert refusal(BuildError, FakeCuda, library, devices, fails).startswith(text)


def test_a_library_without_a_function_is_too_old(library, monkeypatch):
    monkeypatch.setitem(cuda._SIGNATURES, "cuOfTheNextVersion", ())
    assert "has no cuOfTheNextVersion: the driver is too old" in refusal(BuildError, FakeCuda, library)


def test_ptx_that_the_compiler_refuses_is_shown_with_its_log(driver):
    driver.fails("cuLinkAddData_v2", 218)
    text = refusal(DeviceError, loaded, driver)
    assert "the driver's compiler refuses the PTX" in text
    assert "ptxas fatal: unresolved extern function 'f'" in text


def test_ptx_that_only_the_loader_takes_is_loaded(driver):
    driver.fails("cuLinkComplete", 218)
    driver.fake.fake_takes_text(1)
    driver.launcher(loaded(driver), LAUNCH)(0, [0, 0])
    assert driver.launched()[0] == b"f_kernel"


def test_ptx_that_is_newer_than_the_driver(driver):
    driver.fails("cuLinkComplete", 222)
    assert "the driver is too old for this PTX" in refusal(DeviceError, loaded, driver)


@pytest.mark.parametrize(("code", "chip", "runs"), [
    ("sm_80", "sm_90", True), ("sm_90", "sm_80", False), ("sm_90a", "sm_90", True), ("sm_90a", "sm_100", False),
    ("sm_100f", "sm_103", True), ("sm_100f", "sm_120", False),
])  # fmt: skip
def test_where_code_for_a_chip_runs(code, chip, runs):
    assert cuda.runs_on(code, chip) == runs


def test_code_for_another_chip_names_both(driver):
    text = refusal(DeviceError, loaded, driver, 1, "sm_100")
    assert (
        text == 'the kernels are for sm_100, GPU 1 (fake GPU 1) is sm_90; fix: build(..., target=target.CUDA("sm_90"))'
    )


def test_too_much_shared_memory_names_the_kernel(driver):
    large = Launch("f_kernel", (1, 1, 1), (1, 1, 1), 300_000, ("pointer", "int32"))
    text = refusal(DeviceError, driver.launcher, loaded(driver), large)
    assert text.startswith("kernel f_kernel needs 300,000 bytes of shared memory, a block on fake GPU 0 has 232,448")


def test_a_fault_names_the_kernel_and_uses_the_words_of_cuda(driver):
    start = driver.launcher(loaded(driver), LAUNCH)
    driver.fails("cuLaunchKernel", 700)
    text = refusal(DeviceError, start, 0, [0, 0])
    assert text.startswith(
        "kernel f_kernel on GPU 0, grid (4, 2, 1), block (32, 8, 1): CUDA_ERROR_ILLEGAL_ADDRESS, an ille"
    )
    assert "no kernel runs in this process any more" in text


def test_a_stream_that_is_gone(driver):
    start = driver.launcher(loaded(driver), LAUNCH)
    driver.fails("cuLaunchKernel", 400)
    assert "stream 0x20 of the arrays is gone" in refusal(DeviceError, start, 0x20, [0, 0])


def test_a_context_that_is_gone(driver):
    start = driver.launcher(loaded(driver), LAUNCH)
    driver.fails("cuLaunchKernel", 709)
    assert re.search("the context was destroyed; fix: build the program again", refusal(DeviceError, start, 0, [0, 0]))


def test_a_forked_child_is_refused_and_does_not_hang(driver):
    start = driver.launcher(loaded(driver), LAUNCH)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            start(0, [0, 0])
            text = "it ran"
        except ForkError as error:
            text = str(error)
        os.write(writer, text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert b'fix: multiprocessing.get_context("spawn")' in os.read(reader, 4096)


def test_a_child_of_a_process_whose_torch_used_the_gpu(library):
    assert "this process was forked" in refusal(ForkError, FakeCuda, library, 1, ("cuInit", 3))
