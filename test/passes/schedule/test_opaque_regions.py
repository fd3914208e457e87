"""Declared regions of blocks with opaque calls are trusted: steps on these blocks go on, with the right numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import Schedule, build, create_llvm
from tir_mlir.dialect.diagnostics import ScheduleError, ScriptError

PROGRAM = """
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    B = T.alloc_buffer((64, 64))
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for io, jo in T.grid(4, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [io, jo])
            T.reads(READS)
            T.writes(C[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])
            T.evaluate(T.call_extern("int32", "copy_tile", CALL))
"""
READS = "B[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16]"
POINTERS = {
    "access_ptr": 'C.access_ptr("w"), B.access_ptr("r"), vi, vj',
    "data": "C.data, B.data, vi, vj",
    "tvm_access_ptr": 'T.tvm_access_ptr(T.type_annotation("float32"), C.data, 0, 4096, 2), '
    'T.tvm_access_ptr(T.type_annotation("float32"), B.data, vi * 1024 + vj * 16, 1024, 1), vi, vj',
}
KERNEL = """
int copy_tile(float *c, float *b, int vi, int vj) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      c[(vi * 16 + i) * 64 + vj * 16 + j] = b[(vi * 16 + i) * 64 + vj * 16 + j];
  return 0;
}
"""


def program(pointers: str, reads: str = READS):
    return parse(PROGRAM.replace("READS", reads).replace("CALL", pointers))


def _all(sch: Schedule) -> None:
    sch.compute_at("B", sch.get_loops("C")[1])
    sch.cache_read("C", 0, "shared")
    sch.cache_write("C", 0, "local")
    sch.split(sch.get_loops("C")[0], [2, 2])


STEPS: dict[str, Callable[[Schedule], object]] = {
    "compute_at": lambda s: s.compute_at("B", s.get_loops("C")[1]),
    "reverse_compute_at": lambda s: s.reverse_compute_at("C", s.split(s.get_loops("B")[0], [4, 16])[0]),
    "parallel": lambda s: s.parallel(s.get_loops("C")[0]),
    "reorder": lambda s: s.reorder(*s.get_loops("C")[::-1]),
    "cache_read": lambda s: s.cache_read("C", 0, "shared"),
    "cache_write": lambda s: s.cache_write("C", 0, "shared"),
    "blockize": lambda s: s.blockize(s.get_loops("C")[1]),
    "fuse": lambda s: s.fuse(*s.get_loops("C")),
    "all": _all,
}


@pytest.mark.few(2)
@pytest.mark.parametrize("step", STEPS)
def test_steps_use_the_declared_regions(step: str):
    sch = Schedule(program(POINTERS["data"]))
    STEPS[step](sch)
    sch.annotate(sch.get_loops("B")[0], "pragma_import_llvm", create_llvm(KERNEL))
    a, c = np.random.default_rng(0).random((64, 64), "float32"), np.zeros((64, 64), "float32")
    build(sch.mod)(a, c)
    np.testing.assert_array_equal(c, 2 * a)


@pytest.mark.parametrize("form", POINTERS)
def test_only_the_declared_part_is_computed(form: str):
    sch = Schedule(program(POINTERS[form]))
    sch.compute_at("B", sch.get_loops("C")[1])
    assert [sch.get(loop).extent for loop in sch.get_loops("B")[2:]] == [16, 16]
    sch.parallel(sch.get_loops("C")[0])
    assert READS in sch.mod.script()


def test_a_pointer_that_says_what_it_accesses_is_believed_over_a_smaller_region():
    with pytest.raises(ScriptError, match=r"T.writes of C is smaller than the region that the block accesses"):
        program('C.access_ptr("w", extent=4096), B.data, vi, vj')


def test_without_a_declaration_a_call_accesses_all():
    text = PROGRAM.replace("            T.reads(READS)\n", "").replace("CALL", POINTERS["data"])
    text = text.replace("T.writes(C[vi * 16:vi * 16 + 16, vj * 16:vj * 16 + 16])", "T.writes(C[0:64, 0:64])")
    sch = Schedule(parse(text.replace('"SS", [io', '"OO", [io')))
    with pytest.raises(ScheduleError):
        sch.parallel(sch.get_loops("C")[0])


def test_an_overlap_of_declared_regions_is_a_conflict():
    text = PROGRAM.replace("READS", READS).replace("CALL", POINTERS["data"])
    text = text.replace("T.writes(C[vi * 16:vi * 16 + 16", "T.writes(C[vi * 8:vi * 8 + 16")
    sch = Schedule(parse(text.replace('"SS", [io', '"OO", [io')))
    with pytest.raises(ScheduleError, match="two of its iterations depend on each other"):
        sch.parallel(sch.get_loops("C")[0])


def test_strides_of_a_buffer_with_a_pointer_into_it_stay():
    sch = Schedule(program(POINTERS["data"]))
    with pytest.raises(ScheduleError, match="a pointer into it depends on its strides"):
        sch.storage_align("B", 0, 0, 32, 8)
