"""Functions are looked over for types of indices only where an index or an extent may be of int64."""

import pytest
from programs.parsed import parse

from tir_mlir.dialect.incremental import Version
from tir_mlir.dialect.ir import enter_context

PROGRAM = """
@T.prim_func
def main(A: T.Buffer((16,), "uint8"), B: T.Buffer((16,), "uint32")):
    for i in range({extent}):
        with T.block("B"):
            vi = T.axis.spatial({extent}, i)
            B[vi] = T.Cast("uint32", A[vi])
"""


@pytest.mark.parametrize(("extent", "wide"), [("16", False), ("T.int64(16)", True)])
def test_only_int64_is_wide(extent, wide):
    with enter_context():
        contents = Version(parse(PROGRAM.format(extent=extent)).mlir, True).contents
    assert [function.is_wide for function in contents] == [wide]
