"""macOS on Apple's CPUs, as far as it can be tested elsewhere: what the system says, names of files, Mach-O objects."""

import importlib
import sys

import pytest

from tir_mlir import Schedule, build, schedules, target
from tir_mlir.examples.matmul import matmul
from tir_mlir.runtime.drivers import shared_libraries
from tir_mlir.runtime.tools import toolchain
from tir_mlir.target import mac

host = importlib.import_module("tir_mlir.target.host")  # the package has a function of this name

ANSWERS = {
    "hw.optional.arm.FEAT_DotProd": 1,
    "hw.optional.arm.FEAT_I8MM": 0,
    "hw.perflevel0.l1dcachesize": 128 << 10,
    "hw.perflevel0.l2cachesize": 12 << 20,
}


@pytest.fixture
def on_mac(monkeypatch):
    """This process believes to be on macOS."""
    monkeypatch.delenv("TIR_HOST", raising=False)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(host.platform, "machine", lambda: "arm64")
    monkeypatch.setattr(mac, "sysctl", lambda name: ANSWERS.get(name, 0))
    answers = mac.features, host.assumed_cpu_name, host.machine_features, host.features, host.host, target.host
    for function in answers:
        function.cache_clear()
    yield
    for function in answers:
        function.cache_clear()


def test_the_host(on_mac):
    cpu = target.host()
    assert (cpu.arch, cpu.vector_bits, cpu.l1, cpu.l2) == ("aarch64", 128, 128 << 10, 12 << 20)
    assert cpu.features == {"neon", "dotprod"}


def test_only_code_for_macos_runs_there(on_mac):
    assert target.NEON.hindrance == "it is aarch64, darwin"
    assert target.APPLE_M1.hindrance == "it lacks fullfp16"


def test_names_of_files(on_mac):
    assert host.library_file("LLVM") == "libLLVM.dylib"
    assert {path.suffix for path in shared_libraries._candidate_paths()} == {".dylib"}


def test_an_object_for_macos(tmp_path):
    sch = Schedule(matmul(32, 32, 32))
    schedules.auto(sch, target="apple-m1")
    build(sch, target="apple-m1").export(tmp_path / "product.o")
    table = toolchain.run("llvm-objdump", ["-t", str(tmp_path / "product.o")])
    assert "file format mach-o arm64" in table
    assert [line.split()[1:3] for line in table.splitlines() if line.endswith(" _product")] == [["g", "F"]]
    assert "fmla" in toolchain.run("llvm-objdump", ["-d", str(tmp_path / "product.o")])
