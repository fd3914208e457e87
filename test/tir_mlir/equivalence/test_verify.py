"""`Schedule.verify`, `verify="each step"`, unsupported programs, and `TensorIntrin.check`."""

import importlib
import re

import pytest
from mlir import ir
from programs.parsed import parse
from programs.short import each, main, nest, sblock

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.dialect.diagnostics import IntrinError, NotChecked, ScheduleError, StepError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.equivalence import equivalent
from tir_mlir.examples import matmul as chapter
from tir_mlir.intrin.outer_products import outer_product

ADD = main(
    "A:33x40 B:33x40 ; X:33x40",
    each("x:33x40", "X[vi, vj] = T.exp(A[vi, vj])"),
    each("b:33x40", "B[vi, vj] = X[vi, vj] + 1.0"),
)


def test_the_chapters_program_at_its_own_sizes_and_scaled():
    sch = chapter.schedule_matmul(64, 48, 32)
    answer = sch.verify()
    assert answer and "C 64x48" in str(answer), answer
    answer = chapter.schedule_matmul(1024, 1024, 1024).verify()
    assert answer and "1024 -> 32" in str(answer), answer


def test_scaled_sizes_keep_the_kind_of_a_guard():
    sch = Schedule(chapter.matmul(1000, 1024, 512))
    y, x, r = sch.get_loops("matmul")
    sch.split(y, [None, 16])
    sch.split(x, [64, 16])
    sch.split(r, [None, 8, 2])
    answer = sch.verify("scaled")
    assert answer, answer
    scaled = dict(part.split(" 1000 -> ") for part in str(answer).split(", ") if " 1000 -> " in part)
    assert [int(n) % 16 for n in scaled.values()] == [1000 % 16], answer


def test_bits_of_a_float_that_is_checked_in_another_format():
    sch = Schedule(
        parse(
            main(
                "A:9 B:9 ; X:9:int32",
                each("x:9", 'X[vi] = T.reinterpret("int32", A[vi])'),
                each("b:9", 'B[vi] = T.reinterpret("float32", X[vi] ^ 1)'),
            )
        )
    )
    sch.split(sch.get_loops("b")[0], [None, 4])
    assert sch.verify()


def test_sampled_tiles_are_scaled():
    sch = Schedule(chapter.matmul(256, 512, 512), seed=3)
    y, *_ = sch.get_loops("matmul")
    sch.split(y, sch.sample_perfect_tile(y, 3, 16))
    assert sch.verify("scaled")


def test_a_parameter_in_another_layout():
    sch = Schedule(parse(ADD))
    sch.transform_layout("x", ("read", 0), lambda i, j: (j // 8, i, j % 8))
    sch.transform_layout("b", ("write", 0), lambda i, j: (j, i))
    assert sch.verify()


def test_each_step_names_the_one_that_broke_it():
    sch = Schedule(parse(ADD), verify="each step")
    i, _ = sch.get_loops("b")
    sch.split(i, [None, 8])
    before, steps = sch.mod.text(), len(sch.trace)
    with pytest.raises(StepError, match=r"unsafe_set_dtype.*changes what the program computes") as error:
        sch.unsafe_set_dtype("x", 0, "float16")
    assert "B[" in str(error.value) and not error.value.result
    assert isinstance(error.value, ScheduleError)
    assert sch.mod.text() == before and len(sch.trace) == steps
    sch.compute_inline("x")


def test_a_difference_names_the_writing_iteration():
    wrong = ADD.replace("X[vi, vj] + 1.0", "X[vi, vj] + T.Select(vi == 7 and vj == 9, T.float32(2), T.float32(1))")
    answer = equivalent(parse(ADD), parse(wrong))
    assert answer.difference is not None and answer.difference.index == (7, 9)
    for writer in answer.difference.writers:
        assert writer is not None
        site, loops = writer
        assert site.location == 'block "b"' and loops == {"i": 7, "j": 9}
    assert "B[7, 9] differs" in str(answer) and "i = 7, j = 9" in str(answer)


def test_a_difference_in_a_relaid_parameter_names_the_writing_iteration():
    sch = Schedule(chapter.matmul(8, 8, 8))
    sch.transform_layout("matmul", ("write", 0), lambda i, j: (i // 4, j // 4, i % 4, j % 4))
    sch.unsafe_set_dtype(sch.cache_read("matmul", 0, "global"), 0, "float16")
    answer = str(sch.verify())
    assert "C[0, 0] differs" in answer
    assert answer.count('last written in block "matmul" at y = 0, x = 0, r = 7') == 2


def test_every_function_is_run():
    both = ADD.replace("main", "one") + "\n" + ADD.replace("main", "two")
    module = "@I.ir_module\nclass M:\n" + "\n".join("    " + line for line in both.splitlines())
    wrong = module[::-1].replace("1.0"[::-1], "2.0"[::-1], 1)[::-1]
    assert equivalent(parse(module), parse(module)).functions == 2
    answer = equivalent(parse(module), parse(wrong))
    assert not answer and answer.difference is not None and answer.difference.function == "two"


def test_ops_without_an_exact_meaning_are_named():
    called = ADD.replace("X[vi, vj] = T.exp(A[vi, vj])", 'X[vi, vj] = T.call_extern("float32", "expf", A[vi, vj])')
    with pytest.raises(NotChecked, match="expf"):
        equivalent(parse(called), parse(called))


def test_sizes_satisfy_the_assumptions():
    text = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 3), "float32")
    B = T.match_buffer(b, (n, 3), "float32")
    T.assume(n % 16 == 0)
    for i, j in T.grid(n, 3):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
"""
    sch = Schedule(parse(text))
    sch.split(sch.get_loops("b")[0], [None, 16])
    answer = sch.verify()
    assert answer and len(answer.sizes) >= 3
    assert all(int(s.removeprefix("n = ")) % 16 == 0 for s in answer.sizes)


def test_divisions_by_zero_stop_nothing():
    text = main(
        "A:40:int32 B:40:int32 C:40:int32", each("c:40", "C[vi] = T.truncdiv(A[vi], B[vi]) + T.floormod(A[vi], B[vi])")
    )
    assert equivalent(parse(text), parse(text))


def test_gather_stays_in_bounds():
    text = main("A:40 I:9:int32 C:9", each("c:9", "C[vi] = A[I[vi]]"))
    assert equivalent(parse(text), parse(text))
    assert not equivalent(parse(text), parse(text.replace("A[I[vi]]", "A[I[8 - vi]]")))


# --- intrinsics -------------------------------------------------------------------------------------------------------


def test_an_intrinsic_matches_its_description():
    assert TensorIntrin.check(outer_product(8, 16, 4))


DESC = main(
    "A:{n}x{n}:{dtype} C:{n}x{n}:{dtype}",
    sblock("root", "", nest("i:{n} j:{n}", sblock("b", "SS i j", "C[vi, vj] = {value}"))),
    name="desc",
)


def copying(value, dtype="float32", n=4):
    return parse(DESC.format(dtype=dtype, n=n, value=value))["desc"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("A[vj, vi]", r"C\[0, 1\] is -?\d.* in the implementation and -?\d.* in the description"),
        (
            "A[vi, vj] + C[vi, vj]",
            r'or fails to write, an output: .* C\[0, 0\], first read in block "b" at i = 0, j = 0',
        ),
        ("A[vi, 0 * vj]", r"C\[0, 1\] is"),
    ],
)
def test_an_implementation_in_loops_is_tried_when_it_is_registered(value, text):
    with pytest.raises(IntrinError, match=text):
        TensorIntrin.register("wrong_at_once", copying("A[vi, vj]"), copying(value))
    assert "wrong_at_once" not in TensorIntrin.list()


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_an_intrinsic_that_does_something_else_is_found(dtype):
    size = 96  # longer than what is tried when it is registered
    desc = copying("A[vi, vj]", dtype, size)
    for number, value in enumerate(("A[vj, vi]", "A[vi, vj] + C[vi, vj] - C[vi, vj]")):
        name = f"wrong_copy_{dtype}_{number}"
        TensorIntrin.register(name, desc, copying(value, dtype, size), override=True)
        answer = TensorIntrin.check(name)
        assert bool(answer) == (dtype == "int8" and number == 1), answer
        if dtype == "float32" and number == 1:
            assert "reads C, which it should only write" in str(answer)


def test_loops_that_the_schedule_makes_too_long_are_reported():
    sch = Schedule(parse(ADD))
    sch.split(sch.get_loops("x")[0], [None, 2**40])
    with pytest.raises(NotChecked, match="it is too large at smaller sizes"):
        sch.verify()


# --- kernels, and accesses that leave their buffer --------------------------------------------------------------------


def test_a_call_that_is_not_its_implementation_is_named():
    sch = chapter.schedule_matmul(32, 32, 48)
    text = sch.mod.text()
    call = re.search(r"call @tmm16\((%\d+), (%\d+), (%\d+), (%\d+), (%\d+), (%\d+)\)", text)
    assert call is not None
    a, b = call.start(4), call.end(5)
    swapped = text[:a] + f"{call[5]}, {call[4]}" + text[b:]
    with enter_context():
        module = ir.Module.parse(swapped)
    with pytest.raises(NotChecked, match="tmm16"):
        equivalent(chapter.matmul(32, 32, 48), module)


def test_a_kernels_window_at_another_place_is_found():
    text = chapter.schedule_matmul(32, 32, 48).mod.text()
    with enter_context():
        module = ir.Module.parse(text.replace("affine_map<(d0) -> (d0 * 16)>", "affine_map<(d0) -> (d0 * 15)>"))
    assert not equivalent(chapter.matmul(32, 32, 48), module)


def test_an_out_of_bounds_access_is_reported_without_stopping():
    text = parse(ADD).text()
    found = re.search(r"affine.store %\w+, %arg1\[%\w+", text)
    assert found is not None
    with enter_context():
        module = ir.Module.parse(text[: found.end()] + " + 1" + text[found.end() :])
    answer = equivalent(parse(ADD), module)
    assert not answer
    assert 'block "b" writes B at index 33, out of bounds' in str(answer)


def test_optimized_code_gives_the_same_report(monkeypatch):
    module = importlib.import_module("tir_mlir.equivalence.compare")
    monkeypatch.setattr(module, "QUICK_WORK", 0)
    assert chapter.schedule_matmul(64, 64, 64).verify()
    assert not equivalent(parse(ADD), parse(ADD.replace("X[vi, vj] + 1.0", "X[vi, 39 - vj] + 1.0")))


def test_every_step_of_the_chapter_is_checked():
    sch = Schedule(chapter.matmul(1024, 1024, 1024), verify="each step")
    assert [step.call for step in chapter.steps(sch)][-1].startswith("tensorize")
