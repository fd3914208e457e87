"""The whole way from arrays to results without a GPU: kernels of a build run on the PTX machine."""

import os

import numpy as np
import pytest
from harness.bound_programs import add_one, matmul, two_stages
from harness.device_arrays import DeviceArray

from tir_mlir import build, interpret
from tir_mlir.errors import ArgumentError, BuildError, DeviceError, ForkError, PtxError
from tir_mlir.ptx.program import MachineDriver
from tir_mlir.runtime.drivers import cuda, device_driver
from tir_mlir.runtime.drivers.device_driver import using


@pytest.fixture(scope="module")
def lib():
    return build(add_one(), target="sm_80")


@pytest.fixture
def machine():
    driver = MachineDriver(count=2)
    with using(driver):
        yield driver


def pair(machine, n, device=0):
    return [DeviceArray(machine, np.arange(n, dtype=np.float32) * sign, device) for sign in (1, -1)]


@pytest.mark.parametrize("n", [1, 32, 33, 100])
def test_arrays_of_any_size_in_place(lib, machine, n):
    a, b = pair(machine, n, device=1)
    lib(a, b)
    assert (b.get() == np.arange(n) + 1).all()
    assert (a.get() == np.arange(n)).all()


def test_numpy_arrays(lib, machine):
    a, b = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    lib["add_one"](A=a, B=b)
    assert (b == a + 1).all()


def test_no_blocks_start_nothing(lib, machine):
    lib(*pair(machine, 0))
    assert not machine.reports


def test_two_kernels_with_memory_of_the_function_between_them(machine):
    a, b = np.arange(96, dtype=np.float32), np.zeros(96, np.float32)
    build(two_stages(), target="sm_80")(a, b)
    assert [r.kernel for r in machine.reports] == ["two_kernel", "two_kernel_1"]
    assert (b == 2 * a[::-1] + 1).all()
    assert len(machine._memory) == 0


def test_a_stream_that_is_gone(lib, machine, monkeypatch):
    stream = machine.create_stream()
    monkeypatch.setattr(machine, "current_stream", lambda device: stream)
    lib(*pair(machine, 4))
    machine.destroy_stream(stream)
    with pytest.raises(DeviceError, match=f"kernel add_one_kernel: stream {stream:#x} of the arrays is gone"):
        lib(*pair(machine, 4))


def test_a_fork(lib, machine):
    arrays = pair(machine, 4)
    lib(*arrays)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            lib(*arrays)
        except ForkError:
            os.write(writer, b"refused")
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    assert os.read(reader, 100) == b"refused"


def test_the_machine_measures_no_time(lib, machine):
    with pytest.raises(DeviceError, match="add_one: the kernels run on the PTX machine, whose time says nothing"):
        lib["add_one"].seconds(pair(machine, 4))


def test_a_build_needs_no_driver_and_a_call_says_what_is_missing(lib, monkeypatch):
    def missing():
        return cuda.Cuda("libnot_there.so.1")

    monkeypatch.setattr(device_driver, "default_driver", missing)
    with pytest.raises(BuildError, match=r"libnot_there\.so\.1 not found.*cuda-emulated.*interpret\(sch"):
        lib(np.zeros(4, np.float32), np.zeros(4, np.float32))
    assert ".visible .entry add_one_kernel" in lib.assembly


# --- interpret and report ---------------------------------------------------------------------------------------------


def test_interpret_runs_the_kernels_with_all_checks():
    a, b = (np.random.default_rng(n).integers(-3, 4, (32, 32)).astype(np.float32) for n in range(2))
    c = np.zeros((32, 32), np.float32)
    report = interpret(matmul(), a, C=c, B=b, target="sm_80")
    assert (c == a @ b).all()
    assert (report.kernels["matmul_kernel"].shared_bytes, report.kernels["matmul_kernel"].barriers) == (512, 8)
    assert report.barriers == 16 * 2 * 4
    assert report.sectors >= report.sectors_least > 0
    assert report.instructions["bar.sync"] == 2 * report.barriers


def test_interpret_leaves_arrays_as_they_are_where_the_machine_finds_a_fault(monkeypatch):
    from tir_mlir.ptx import program

    def parsed_without_barriers(text, parse=program.parse):
        return parse(text.replace("bar.sync", "// bar.sync"))

    monkeypatch.setattr(program, "parse", parsed_without_barriers)
    a, c = np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)
    with pytest.raises(PtxError) as caught:
        interpret(matmul(), a, a.copy(), c, target="sm_80")
    assert caught.value.kind == "race"
    assert not c.any()


@pytest.mark.parametrize(("options", "text"), [
    ({"target": "avx2"}, 'target is a GPU, "cuda" or CUDA("sm_80"), not '),
    ({"target": "llvm"}, 'target is a GPU, "cuda" or CUDA("sm_80"), not '),
    ({"target": 5}, 'target is a GPU, "cuda" or CUDA("sm_80"), not 5'),
    ({"target": "cuda-emulated"}, 'target is a GPU, "cuda" or CUDA("sm_80"), not '),
    ({"target": "cuda", "exact": True}, "exact is for the interpreter in Python; fix: leave it out, or leave out"),
    ({"target": "cuda", "unset": ["B"]}, "unset is for the interpreter"),
])  # fmt: skip
def test_what_interpret_refuses(options, text):
    with pytest.raises(ArgumentError) as caught:
        interpret(add_one(), np.zeros(4, np.float32), np.zeros(4, np.float32), **options)
    assert str(caught.value).startswith(text)


def test_interpret_checks_arguments_as_calls_do():
    with pytest.raises(ArgumentError, match=r"argument 1, B: .*is of type float64; float32 is needed"):
        interpret(add_one(), np.zeros(4, np.float32), np.zeros(4), target="sm_80")


def test_a_report_counts_one_block_without_arrays_and_all_with_them():
    lib = build(matmul(), target="sm_80")
    one = lib.report()
    arrays = [np.ones((32, 32), np.float32), np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)]
    every = lib.report(*arrays, name="matmul")
    assert (one.barriers, every.barriers) == (8, 128)
    assert (arrays[2] == 32).all()
    text = str(every)
    assert "kernel matmul_kernel: grid 4 x 4 x 1, block 8 x 8 x 1" in text
    assert "needs 512 bytes of shared memory, 8 barriers" in text


def test_registers_are_told_where_the_assembler_is(monkeypatch, tmp_path):
    lib = build(matmul(), target="sm_80")
    monkeypatch.setenv("TIR_PTXAS", str(tmp_path / "ptxas"))
    assert lib.report().kernels["matmul_kernel"].registers is None
    (tmp_path / "ptxas").write_text(
        "#!/bin/sh\necho \"ptxas info : Compiling entry function 'matmul_kernel' for 'sm_80'\n"
        "ptxas info : Function properties\n 0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
        'ptxas info : Used 40 registers, used 1 barriers"\n'
    )
    (tmp_path / "ptxas").chmod(0o755)
    report = lib.report()
    facts = report.kernels["matmul_kernel"]
    assert (facts.registers, facts.spilled) == (40, 8)
    assert "\na multiprocessor holds 24 blocks, 1,536 threads: it has no more registers" in str(report)


def test_what_a_report_refuses(lib):
    with pytest.raises(ArgumentError, match=r"add_one: A: .* has a size that only a call knows; fix: pass arrays"):
        lib.report()
    with pytest.raises(BuildError, match=r'this library has no kernels in PTX; fix: build\(\.\.\., target="cuda"\)'):
        build(add_one()).report()
    with pytest.raises(BuildError, match="this library has no kernels in PTX"):
        build(add_one(), target="gfx942").report()
