"""Every state of the chapter is plain MLIR: stock tools take it down and run it, with no pass of ours.

Only the memory-space strings are removed, by a regular expression on the text. mlir-opt lowers it, mlir-translate makes
LLVM IR, the C compiler links that with the chapter's kernel, and ctypes calls the function with memref descriptors.
"""

from __future__ import annotations

import ctypes
import functools
import re

import numpy as np
import pytest

from tir_mlir import Schedule
from tir_mlir.examples.matmul import C_KERNEL, matmul, steps
from tir_mlir.runtime.tools import toolchain

SIZE = 64
STATES = 14  # as written, and after each of the thirteen steps
PIPELINE = (
    "builtin.module(lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-vector-to-llvm,convert-to-llvm,reconcile-unrealized-casts)"
)
_SPACE = re.compile(r', "[\w.]+"(?=>)')  # the last parameter of a memref type


@functools.cache
def states(size: int) -> list[str]:
    """The MLIR text as written and after each step, in order."""
    sch = Schedule(matmul(size, size, size))
    found = [sch.mod.text()]
    try:
        for step in steps(sch):
            found.append(step.mod.text())
    except RuntimeError:  # a ragged size cannot be tensorized
        assert size % 16
    return found


def stock(text: str, folder) -> ctypes.CDLL:
    """A module's text -> a loaded shared object, by the stock tools alone."""
    lowered = toolchain.run("mlir-opt", [f"--pass-pipeline={PIPELINE}"], input=_SPACE.sub("", text))
    llvm_ir, kernel, library = folder / "main.ll", folder / "kernel.c", folder / "main.so"
    llvm_ir.write_text(toolchain.run("mlir-translate", ["--mlir-to-llvmir"], input=lowered))
    kernel.write_text(C_KERNEL)
    objects = []
    for source in (llvm_ir, kernel):
        objects.append(str(source.with_suffix(".o")))
        toolchain.run("zig", ["cc", "-c", "-O2", "-w", "-fPIC", str(source), "-o", objects[-1]])
    toolchain.run("zig", ["ld.lld", "-shared", *objects, "-o", str(library)])
    return ctypes.CDLL(str(library))


def call(library: ctypes.CDLL, *arrays: np.ndarray) -> None:
    """Call @main: a memref argument is two pointers, an offset, the sizes and the strides."""
    values: list[object] = []
    for array in arrays:
        pointer = ctypes.c_void_p(array.ctypes.data)
        numbers = [0, *array.shape, *(s // array.itemsize for s in array.strides)]
        values += [pointer, pointer, *map(ctypes.c_int64, numbers)]
    library.main.restype = None
    library.main(*values)


def assert_runs(text: str, size: int, folder) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.random((size, size), dtype=np.float32) for _ in range(2))
    c = np.full((size, size), np.nan, np.float32)
    call(stock(text, folder), a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-4)


@pytest.mark.few(5)
@pytest.mark.parametrize("number", range(STATES))
def test_stock_tools_lower_and_run(number, tmp_path):
    assert_runs(states(SIZE)[number], SIZE, tmp_path)


def test_the_states_are_those_of_the_chapter():
    assert len(states(SIZE)) == STATES
    assert len(set(states(SIZE))) == STATES
    assert "call @tmm16(" in states(SIZE)[-1]


def test_ragged_states_run_too(tmp_path):
    found = states(50)
    assert len(found) == 13
    assert_runs(found[-1], 50, tmp_path)


def test_nothing_but_memory_spaces_is_removed():
    text = states(SIZE)[-1]
    removed = set(_SPACE.findall(text))
    assert removed == {', "global.A_reg"', ', "global.B_reg"', ', "global.accumulator"'}
    stripped = _SPACE.sub("", text)
    assert stripped.count("tir.") == text.count("tir.") > 50
