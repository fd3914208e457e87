"""Code for other CPUs agrees with NumPy under an emulator (Debian: apt install qemu-user)."""

import subprocess

import numpy as np
import pytest
from harness.emulate import arm, riscv, run
from programs.products import product, widened
from programs.rowwise import softmax
from programs.short import each, main

from tir_mlir import Schedule, build, schedules
from tir_mlir.script.parser import parse

pytestmark = pytest.mark.slow
RNG = np.random.default_rng(10)
MACHINES = {
    "neon": arm(),
    "neon_dotprod": arm(),
    "neon_i8mm": arm(),
    "sme": arm(),
    "sve": arm(256),
    "sve on longer registers": arm(512),
    "rvv": riscv(256),
    "rvv on longer registers": riscv(512),
    "rvv_128": riscv(128),
}
ALL = [pytest.param(name, marks=machine.missing) for name, machine in MACHINES.items()]

CHAIN = main(
    "X:13x37 Y:13x37 Z:13x37", each("Z:13x37", "Z[vi, vj] = T.max(X[vi, vj] * Y[vi, vj] + T.float32(1), T.float32(0))")
)


@pytest.mark.parametrize("cpu", ALL)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
def test_products(dtype, cpu, tmp_path):
    if dtype == "float16" and "rvv" in cpu:
        pytest.skip("conversions of float16 are calls of the compiler's library")
    m, n, k = 17, 35, 29
    target = cpu.split()[0]
    sums = {"float16": "float32", "int8": "int32"}.get(dtype, dtype)
    sch = Schedule(product(m, n, k, dtype) if sums == dtype else widened(m, n, k, dtype, sums))
    schedules.gemm(sch, "C", target=target, threads=1)
    low, high = (-128, 128) if dtype == "int8" else (-4, 5)
    a, b = (RNG.integers(low, high, s).astype(dtype) for s in ((m, k), (k, n)))
    *_, c = run(build(sch, target=target), [a, b, np.zeros((m, n), sums)], tmp_path, MACHINES[cpu])
    np.testing.assert_array_equal(c, a.astype(sums) @ b.astype(sums))


@pytest.mark.parametrize("cpu", ALL)
def test_elements(cpu, tmp_path):
    target = cpu.split()[0]
    sch = Schedule(parse(CHAIN))
    schedules.elementwise(sch, "Z", target=target, threads=1)
    x, y = RNG.uniform(-2, 2, (2, 13, 37)).astype("float32")
    *_, z = run(build(sch, target=target), [x, y, np.zeros_like(x)], tmp_path, MACHINES[cpu])
    np.testing.assert_allclose(z, np.maximum(x * y + 1, 0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("cpu", ALL)
def test_rows(cpu, tmp_path):
    """Sums, maxima and a polynomial, in vectors and in what remains of a row."""
    target = cpu.split()[0]
    sch = Schedule(softmax((19, 37)))
    schedules.softmax(sch, "out", target=target, threads=1)
    x = RNG.normal(size=(19, 37)).astype("float32")
    *_, found = run(build(sch, target=target), [x, x * 0], tmp_path, MACHINES[cpu])
    power = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(found, power / power.sum(1, keepdims=True), rtol=1e-5)


SHORT = {"sve": arm(128), "rvv": riscv(128)}


@pytest.fixture(params=[pytest.param(name, marks=machine.missing) for name, machine in SHORT.items()])
def too_long(request):
    """Code for longer registers than those of a machine, and the machine."""
    sch = Schedule(parse(CHAIN))
    schedules.elementwise(sch, "Z", target=request.param, threads=1)
    return build(sch, target=request.param), SHORT[request.param]


def test_shorter_registers_trap(too_long, tmp_path):
    lib, machine = too_long
    with pytest.raises(subprocess.CalledProcessError) as failure:
        run(lib, [np.zeros((13, 37), "float32")] * 3, tmp_path, machine)
    assert failure.value.returncode < 0


def test_the_header_compares_the_length(too_long, tmp_path):
    lib, machine = too_long
    with pytest.raises(subprocess.CalledProcessError) as failure:
        before = "if (!f_vectors_fit()) ask(93, 3, 0, 0);"
        run(lib, [np.zeros((13, 37), "float32")] * 3, tmp_path, machine, before)
    assert failure.value.returncode == 3


@pytest.mark.parametrize("cpu", [pytest.param(c, marks=MACHINES[c].missing) for c in ("sve", "rvv")])
def test_the_header_accepts_the_length(cpu, tmp_path):
    x = RNG.uniform(-2, 2, (13, 37)).astype("float32")
    before = "if (!f_vectors_fit()) ask(93, 3, 0, 0);"
    *_, z = run(build(parse(CHAIN), target=cpu), [x, x, x * 0], tmp_path, MACHINES[cpu], before)
    np.testing.assert_allclose(z, x * x + 1, rtol=1e-6)
