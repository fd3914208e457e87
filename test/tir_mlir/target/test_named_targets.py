"""Targets by name, and what a machine lacks to run their code."""

import pytest
from programs.products import product

from tir_mlir import Schedule, build, schedules, target
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.target import cpu


def test_every_target_has_a_name():
    assert target.named("zen4") is target.ZEN4
    assert target.named("AVX512-VNNI") is target.AVX512_VNNI
    found = {name for name in vars(target) if isinstance(getattr(target, name), target.Target)}
    assert found == {name.upper() for name in target.NAMES}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("zen44", r"unknown target 'zen44' \(did you mean 'zen4'\?\); known: 'llvm', 'sse2', 'avx2', .*'wasm_simd'"),
        ("neon i8mm", r"did you mean 'neon_i8mm'\?"),
        ("nvidia/nvidia-a101", r"unknown GPU .nvidia/nvidia-a101. \(near: .*nvidia/nvidia-a10"),
        (3, "unknown target 3; known"),
        ([], r"unknown target \[\]; known"),
    ],
)
def test_the_nearest_name(name, message):
    for ask in (target.named, lambda name: build(product(4, 4, 4), target=name)):
        with pytest.raises(BuildError, match=message):
            ask(name)
    with pytest.raises(BuildError, match=message):
        schedules.gemm(Schedule(product(4, 4, 4)), "C", target=name)


def test_schedule_and_build_take_names():
    named, given = Schedule(product(24, 64, 48)), Schedule(product(24, 64, 48))
    schedules.gemm(named, "C", target="neon", threads=1)
    schedules.gemm(given, "C", target=target.NEON, threads=1)
    assert str(named.mod) == str(given.mod)
    assert build(named, target="neon").llvm_ir == build(given, target=target.NEON).llvm_ir


def test_llvm_is_this_machine():
    assert target.chosen("llvm") == target.chosen(None) == target.host()


@pytest.fixture
def arm(monkeypatch):
    """A 64-bit ARM with SVE registers of a length."""

    def with_length(bits):
        monkeypatch.setattr(cpu, "machine_architecture", lambda: "aarch64")
        monkeypatch.setattr(cpu, "runnable_features", lambda: frozenset({"neon", "sve"}))
        monkeypatch.setattr(cpu, "scalable_bits", lambda: bits)

    return with_length


@pytest.mark.parametrize("bits", [256, 512])
def test_longer_registers_run_the_code(arm, bits):
    arm(bits)
    assert target.SVE.runs_here


def test_shorter_registers_do_not(arm):
    arm(128)
    assert not target.SVE.runs_here
    with pytest.raises(
        BuildError, match=r"which this machine cannot run: its vector registers have 128 bits, not 256; lib.export"
    ):
        build(product(4, 4, 4), target="sve")(None, None, None)


def test_missing_instruction_sets_are_named(arm):
    arm(256)
    assert target.NEON_I8MM.hindrance == "it lacks bf16, dotprod, i8mm"
    assert target.AVX2.hindrance == "it is aarch64, linux"


@pytest.mark.parametrize(("answer", "bits"), [(16, 128), (32 | 1 << 17, 256), (-1, 0)])
def test_the_length_is_asked_of_the_system(monkeypatch, answer, bits):
    monkeypatch.setattr(cpu, "machine_architecture", lambda: "aarch64")
    monkeypatch.setattr(cpu, "_ask_system", lambda: answer)
    assert cpu.scalable_bits.__wrapped__() == bits
    monkeypatch.setattr(cpu, "machine_architecture", lambda: "x86_64")
    assert cpu.scalable_bits.__wrapped__() == 0
