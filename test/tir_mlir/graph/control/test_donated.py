"""State that is written where it lies: one row of a cache, without a copy of the rest."""

import subprocess

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.errors import BuildError, GraphError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.runtime.tools import toolchain


def cache(keeps_old=False):
    """A cache with a row of x at a position, and the sums of its rows; perhaps with the sums of the old one."""
    b = GraphBuilder()
    old, x, at = b.input("cache", (2, 64, 8)), b.input("x", (2, 1, 8)), b.input("at", (1,), "int64")
    new = b.op("index_put", old, at, x, axis=1)
    sums = b.op("sum", new, axis=[1])
    b.output(b.op("add", sums, b.op("sum", old, axis=[1])) if keeps_old else sums, new)
    b.donate(old, 1)
    return b.finish()


@pytest.mark.parametrize("keeps_old", [False, True])
def test_the_new_state_is_where_the_old_one_was(keeps_old):
    model = build(cache(keeps_old), threads=1)
    rng = np.random.default_rng(0)
    state, x = rng.standard_normal((2, 64, 8), np.float32), rng.standard_normal((2, 1, 8), np.float32)
    old, right = state.copy(), state.copy()
    right[:, [5]] = x
    sums, new = model(state, x, np.array([5]))
    assert new is state
    np.testing.assert_array_equal(state, right)
    np.testing.assert_allclose(sums, right.sum(1) + keeps_old * old.sum(1), rtol=1e-4, atol=1e-4)


def test_no_copy_of_the_state_is_made():
    model = build(cache(), threads=1)
    assert model.memory.arena < 2 * 64 * 8 and not model.plan.copies


def test_stages_keep_what_is_computed():
    assert compile_graph(cache()).verify(cache())


def test_what_is_donated_is_an_input_of_the_type():
    b = GraphBuilder()
    x = b.input("x", (3,))
    b.output(b.op("sum", x))
    with pytest.raises(GraphError, match="x is not an input of the type of result 0"):
        b.donate(x, 0)


PROGRAM = """
#include <stdio.h>
#include "net.h"
int main(void) {
  static float cache[2 * 64 * 8], x[2 * 8], out[2 * 8];
  _Alignas(64) static char arena[1 << 16];
  net_model *model = net_open("net.safetensors");
  for (int64_t step = 0; step < 3; step++) {
    for (int i = 0; i < 16; i++) x[i] = (float)(step + 1);
    if (!model || net_arena_bytes() > (int64_t)sizeof arena || net_run(model, cache, x, &step, out, arena)) return 1;
  }
  printf("%g %g %g %g", out[0], cache[0], cache[2 * 8], cache[3 * 8]);
}
"""


@pytest.mark.nightly
def test_a_c_program_keeps_the_state(tmp_path):
    build(cache(), threads=1).export(tmp_path, "net")
    assert "in and out cache" in (tmp_path / "net.h").read_text()
    (tmp_path / "program.c").write_text(PROGRAM)
    source, library, program = (str(tmp_path / name) for name in ("program.c", "net.so", "program"))
    toolchain.run("zig", ["cc", source, library, "-o", program, f"-Wl,-rpath,{tmp_path}"])
    done = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "6 1 3 0")


def test_no_state_in_webassembly(tmp_path):
    with pytest.raises(BuildError, match=r'writes to its inputs cache.*WebAssembly.*mutated="return"'):
        build(cache(), target="wasm_simd", threads=1).export(tmp_path, "net")
