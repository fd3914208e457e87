"""Buffers without dimensions are checked like any other."""

from programs.parsed import parse

from tir_mlir import Schedule


def test_a_buffer_without_dimensions_is_checked():
    sch = Schedule(
        parse("""
@T.prim_func
def main(A: T.Buffer((), "float32"), F: T.Buffer((), "bool"), C: T.Buffer((), "float32")):
    with T.block("C"):
        C[()] = A[()] + 1.0
""")
    )
    sch.cache_write("C", 0, "local")
    assert sch.verify()
