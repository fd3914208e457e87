"""A cast back to the type that a number was widened from changes nothing, also through memory; other roundings do."""

import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.equivalence import equivalent

STAGES = """
@T.prim_func
def main(A: T.Buffer((5,), "{source}"), B: T.Buffer((5,), "{result}")):
    Y = T.alloc_buffer((5,), "{wide}")
    for i in range(5):
        with T.block("Y"):
            vi = T.axis.spatial(5, i)
            Y[vi] = T.Cast("{wide}", A[vi]){more}
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = T.Cast("{result}", Y[vi])
"""
COPY = main("A:5:{source} B:5:{result}", each("B:5", "B[vi] = A[vi]"))


def _stages(source, wide, result, more=""):
    return parse(STAGES.format(source=source, wide=wide, result=result, more=more))


@pytest.mark.parametrize(("source", "wide"), [("float16", "float32"), ("bfloat16", "float64"), ("float32", "float64")])
def test_a_widened_number_is_the_same_after_a_cast_back(source, wide):
    staged = _stages(source, wide, source)
    assert equivalent(staged, parse(COPY.format(source=source, result=source)))
    for step in (lambda sch: sch.compute_inline("Y"), lambda sch: sch.cache_read("B", 0, "local")):
        sch = Schedule(staged)
        step(sch)
        assert sch.verify()


def test_a_wider_type_of_widened_numbers_changes_nothing():
    sch = Schedule(_stages("float16", "float32", "float16"))
    sch.unsafe_set_dtype("Y", 0, "float64")
    assert sch.verify()


@pytest.mark.parametrize(
    ("wide", "more"),
    [
        ("float64", " * T.float64(3)"),  # the product has more digits
        ("float16", ""),  # rounded before
        ("bfloat16", ""),
    ],
)
def test_other_roundings_count(wide, more):
    plain = _stages("float32", "float32", "float32", more.replace(wide, "float32"))
    assert not equivalent(_stages("float32", wide, "float32", more), plain)


def test_a_narrower_type_of_widened_numbers_is_seen():
    """float16 has not all numbers of bfloat16, which were stored as float32."""
    sch = Schedule(_stages("bfloat16", "float32", "bfloat16"))
    sch.unsafe_set_dtype("Y", 0, "float16")
    assert not sch.verify()
