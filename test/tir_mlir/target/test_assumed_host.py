"""TIR_HOST: the host is another CPU, to schedules, code generation and caches."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tir_mlir import target
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.target.host import PREDEFINED, assumed_cpu_name, machine_architecture

RUNNABLE = [name for name, cpu in target.NAMES.items() if cpu.hindrance is None]
FOREIGN = "neon" if machine_architecture() == "x86_64" else "avx2"

PRODUCT = """
import numpy as np
from tir_mlir import Schedule, build, schedules, target
from tir_mlir.errors import BuildError
from tir_mlir.examples.matmul import matmul
from tir_mlir.runtime.cache.fingerprint import maker
from tir_mlir.runtime.drivers.clang import create_llvm

sch = Schedule(matmul(33, 47, 29))
schedules.auto(sch)
lib = build(sch)
host = target.host()
print(host.vector_bits, host.l2, host.triple or "this machine")
print(maker("functions"))
try:
    a, b, c = np.ones((33, 29), "float32"), np.ones((47, 29), "float32"), np.empty((33, 47), "float32")
    lib(a, b, c)
    print("right" if (c == 29).all() else "wrong")
except BuildError as error:
    print(error)
"""


def run_as(name: str) -> list[str]:
    """The lines that PRODUCT prints where the host is that CPU."""
    env = {**os.environ, "TIR_HOST": name}
    done = subprocess.run([sys.executable, "-c", PRODUCT], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.nightly
@pytest.mark.parametrize("name", RUNNABLE[-1:])
def test_a_cpu_whose_code_runs_here(name):
    cpu = target.NAMES[name]
    as_it, _, result = run_as(name)
    assert as_it == f"{cpu.vector_bits} {cpu.l2} this machine"
    assert result == "right"


@pytest.mark.nightly
@pytest.mark.slow
def test_the_caches_of_two_cpus_are_apart():
    keys = {run_as(name)[1] for name in ("sse2", "avx2")} if "avx2" in RUNNABLE else {run_as("neon")[1], ""}
    assert len(keys) == 2


@pytest.mark.nightly
@pytest.mark.slow
def test_code_for_another_kind_of_cpu_is_only_generated():
    cpu = target.NAMES[FOREIGN]
    as_it, _, result = run_as(FOREIGN)
    assert as_it == f"{cpu.vector_bits} {cpu.l2} {cpu.triple}"
    assert f"main was built for {cpu.triple}, which this machine cannot run: it is {machine_architecture()}" in result


@pytest.mark.parametrize(
    ("text", "name"), [("Zen4", "zen4"), ("avx512-vnni", "avx512_vnni"), ("", None)], ids=["case", "hyphen", "empty"]
)
def test_spellings(monkeypatch, text, name):
    monkeypatch.setenv("TIR_HOST", text)
    assert assumed_cpu_name.__wrapped__() == name


def test_an_unknown_name(monkeypatch):
    monkeypatch.setenv("TIR_HOST", "zen9")
    with pytest.raises(
        BuildError, match=r"TIR_HOST names an unknown CPU, 'zen9' \(did you mean 'zen5'\?\); known: sse2"
    ):
        assumed_cpu_name.__wrapped__()


def test_each_predefined_cpu_has_a_row():
    assert set(PREDEFINED) == set(target.NAMES)
    assert all(
        (cpu.arch, cpu.features) == (row[0], set(row[1]))
        for cpu, row in zip(target.NAMES.values(), PREDEFINED.values(), strict=True)
    )
