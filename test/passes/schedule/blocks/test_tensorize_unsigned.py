"""tensorize tells int8 from uint8, also where the ops are the same; a C kernel takes unsigned bytes."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import main, nest, sblock

from tir_mlir import Schedule, TensorIntrin, build, create_llvm
from tir_mlir.dialect.diagnostics import ScheduleError

DESCRIPTION = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16,), "{dtype}", offset_factor=1)
    B = T.match_buffer(b, (16,), "{dtype}", offset_factor=1)
    C = T.match_buffer(c, (16,), "{dtype}", offset_factor=1)
    with T.block("root"):
        T.reads(A[0:16], B[0:16])
        T.writes(C[0:16])
        {body}
"""
SUM = """for i in range(16):
            with T.block("C"):
                v = T.axis.spatial(16, i)
                C[v] = T.{operation}"""
CALL = 'T.call_extern("int32", "{name}", A.access_ptr("r"), B.access_ptr("r"), C.access_ptr("w"))'
PROGRAM = main(
    "A:64:uint8 B:64:uint8 C:64:uint8", nest("i:4 j:16", sblock("C", "v:64=i * 16 + j", "C[v] = T.{operation}"))
)
ADD, MAX = "add(A[v], B[v])", "max(A[v], B[v])"
KERNEL = """
#include <stdint.h>
int32_t max_bytes(const uint8_t *a, const uint8_t *b, uint8_t *c) {
  for (int i = 0; i < 16; i++) c[i] = a[i] > b[i] ? a[i] : b[i];
  return 0;
}
"""


def _intrinsic(name: str, dtype: str, operation: str) -> str:
    body = SUM.format(operation=operation)
    desc, impl = (
        parse(DESCRIPTION.format(dtype=dtype, body=b))["desc"] for b in (body, CALL.format(name="max_bytes"))
    )  # fmt: skip
    TensorIntrin.register(name, desc, impl, override=True)
    return name


NEEDED = {
    ADD: "operand C: the intrinsic needs int8, C is uint8",
    MAX: r"payload: the intrinsic computes maxsi\(A, B\), the block computes maxui\(A, B\)",
}


@pytest.mark.parametrize("operation", NEEDED)
def test_a_signed_intrinsic_does_not_match(operation: str) -> None:
    sch = Schedule(parse(PROGRAM.format(operation=operation)))
    name = _intrinsic("signed", "int8", operation)
    loop = sch.get_loops(sch.get_block("C"))[1]
    with pytest.raises(ScheduleError, match=NEEDED[operation]):
        sch.tensorize(loop, name)


def test_a_c_kernel_on_bytes() -> None:
    pytest.importorskip("ziglang")
    sch = Schedule(parse(PROGRAM.format(operation=MAX)))
    outer, inner = sch.get_loops(sch.get_block("C"))
    sch.tensorize(inner, _intrinsic("bytes", "uint8", MAX))
    sch.annotate(outer, "pragma_import_llvm", create_llvm(KERNEL))
    assert parse(sch.mod.script()).equal(sch.mod)
    a, b = np.random.default_rng(0).integers(0, 256, (2, 64), "uint8")
    c = np.zeros_like(a)
    build(sch)(a, b, c)
    np.testing.assert_array_equal(c, np.maximum(a, b))
