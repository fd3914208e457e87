"""Operands of an instruction that are numbers: what it computes with, and how much of a tile it works on."""

from __future__ import annotations

import pytest
from programs.parsed import parse

from tir_mlir import Schedule, TensorIntrin
from tir_mlir.errors import IntrinError, ScheduleError
from tir_mlir.script import PrimFunc

ROW = """
@T.prim_func
def part(a: T.handle, b: T.handle{numbers}):
    A = T.match_buffer(a, (16,), "int32")
    B = T.match_buffer(b, (16,), "int32")
    {assumed}
{body}
"""
CALL = """    with T.block("root"):
        T.reads(A[0:16])
        T.writes(B[0:16])
        T.evaluate(T.call_extern("int32", "{name}", A.access_ptr("r"), B.access_ptr("w"){arguments}))
"""


def part(numbers: str, body: str, assumed: str = "pass") -> PrimFunc:
    return parse(ROW.format(numbers=numbers, body=body, assumed=assumed))["part"]


def loop(value: str, before: str = "", extent: str = "16") -> str:
    """A loop that stores a value, after the lines `before`."""
    lines = [
        f"    for i in range({extent}):",
        '        with T.block("part"):',
        f"            vi = T.axis.spatial({extent}, i)",
    ]
    lines += [f"            {before}"] if before else []
    return "\n".join([*lines, f"            B[vi] = {value}"])


def register(name: str, numbers: str, desc: str, assumed: str = "pass", impl: str = "") -> None:
    words = [n.split(":")[0].strip() for n in numbers.split(",") if n.strip()]
    call = CALL.format(name=name, arguments="".join(f", {w}" for w in words))
    TensorIntrin.register(name, part(numbers, desc, assumed), part(numbers, impl or call, assumed), override=True)


def program(value: str, params: str = "", size: int = 64, where: str = "") -> str:
    guard = f"                T.where({where})\n" if where else ""
    return f"""
@T.prim_func
def main(X: T.Buffer(({size},), "int32"), Y: T.Buffer(({size},), "int32"){params}):
    for i, j in T.grid({-(-size // 16)}, 16):
        with T.block("Y"):
                vi = T.axis.spatial({size}, i * 16 + j)
{guard}                Y[vi] = {value}
"""


def tensorize(text: str, name: str) -> Schedule:
    sch = Schedule(parse(text))
    sch.tensorize(sch.get_loops("Y")[1], name)
    return sch


@pytest.mark.parametrize(
    ("value", "params", "argument"),
    [
        ("X[vi] * 5", "", "5"),
        ("X[vi] * m", ", m: T.int32", "m"),
        ("X[vi] * S[0]", ', S: T.Buffer((1,), "int32")', "S[0]"),
        ("X[vi] * (m + 3)", ", m: T.int32", "m + 3"),
    ],
)
def test_a_number_is_what_the_block_computes_with(value: str, params: str, argument: str) -> None:
    register("scaled_by", ", n: T.int32", loop("A[vi] * n"))
    sch = tensorize(program(value, params), "scaled_by")
    assert f", {argument})" in sch.mod.script()
    assert sch.verify()


def test_a_number_that_varies_in_the_tile_does_not_match() -> None:
    register("scaled_by", ", n: T.int32", loop("A[vi] * n"))
    with pytest.raises(ScheduleError, match="payload: the intrinsic computes muli"):
        tensorize(program("X[vi] * X[vi]"), "scaled_by")


CASES = {
    "a limit of what is read": (loop("T.if_then_else(vi < n, A[vi], 7)"), "T.if_then_else(vi < 50, X[vi], 7)", 64, ""),
    "a limit of what is stored": (loop("A[vi]", "T.where(i < n)"), "X[vi]", 50, "i * 16 + j < 50"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_size_is_the_limit_of_a_condition(case: str) -> None:
    desc, value, size, where = CASES[case]
    register("limited", ", n: T.int32", desc, "T.assume(0 <= n and n <= 16)")
    sch = tensorize(program(value, size=size, where=where), "limited")
    assert "T.min(50 - vi_o * 16, 16)" in sch.mod.script()
    assert sch.verify()


def test_a_condition_that_always_holds_is_the_whole_tile() -> None:
    register("limited", ", n: T.int32", CASES["a limit of what is read"][0], "T.assume(0 <= n and n <= 16)")
    sch = tensorize(program("X[vi]"), "limited")
    assert ", 16)" in sch.mod.script().splitlines()[-1]
    assert sch.verify()


def test_an_extent_is_a_size() -> None:
    register("first_n", ", n: T.int32", loop("A[vi]", extent="n"), "T.assume(1 <= n and n <= 16)")
    sch = Schedule(parse(program("X[vi]")))
    _, lane = sch.get_loops("Y")
    sch.tensorize(sch.split(lane, [2, 8])[1], "first_n")
    assert ", 8)" in sch.mod.script().splitlines()[-1]
    assert sch.verify()


def test_conditions_on_other_indices_do_not_match() -> None:
    register("limited", ", n: T.int32", CASES["a limit of what is read"][0], "T.assume(0 <= n and n <= 16)")
    later = program("T.if_then_else(50 <= vi, X[vi], 7)")
    with pytest.raises(ScheduleError, match=r"condition: the intrinsic has vi \* -1 \+ \.\.\. >= 0, the block vi \+"):
        tensorize(later, "limited")
    sch = Schedule(parse(later))
    assert not sch.explain_tensorize(sch.get_loops("Y")[1], "limited")


def test_an_implementation_in_loops_is_tried_with_numbers() -> None:
    right = "    for i in range(16):\n        B[i] = A[i] * n"
    register("in_loops", ", n: T.int32", loop("A[vi] * n"), impl=right)
    assert tensorize(program("X[vi] * 5"), "in_loops").verify()
    with pytest.raises(IntrinError, match=r"B\[0\] is .* in the implementation and .* in the description"):
        register("in_loops", ", n: T.int32", loop("A[vi] * n"), impl=right.replace("*", "+"))


@pytest.mark.slow
def test_a_kernel_is_checked_with_numbers() -> None:
    register("limited", ", n: T.int32", CASES["a limit of what is read"][0], "T.assume(0 <= n and n <= 16)")
    code = """int limited(const int *a, int *b, int n) {{
      for (int i = 0; i < 16; ++i) b[i] = i {} n ? a[i] : 7;
      return 0; }}"""
    assert TensorIntrin.check("limited", kernel=code.format("<"))
    wrong = TensorIntrin.check("limited", kernel=code.format("<="))
    assert not wrong and "the description gives 7, n = " in str(wrong)


@pytest.mark.parametrize(
    ("numbers", "desc", "assumed", "message"),
    [
        (", n: T.int32", loop("A[vi]"), "pass", "does not use parameter n"),
        (", n: T.int32", loop("A[vi] + n"), "T.assume(n <= 4)", "computes with n, whose bounds are not proved"),
        (
            ", n: T.int32",
            loop("T.if_then_else(vi < n, A[vi] + n, 0)"),
            "pass",
            "computes with n, which limits a loop or a condition",
        ),
    ],
)
def test_a_number_that_means_nothing_is_refused(numbers: str, desc: str, assumed: str, message: str) -> None:
    with pytest.raises(IntrinError, match=message):
        register("meaningless", numbers, desc, assumed)


def test_the_numbers_of_description_and_implementation_are_the_same() -> None:
    with pytest.raises(IntrinError, match="the numbers among the parameters differ: n: index in the description, none"):
        TensorIntrin.register(
            "differs", part(", n: T.int32", loop("A[vi] + n")), part("", CALL.format(name="differs", arguments=""))
        )


def test_the_window_of_an_edge_is_read_inside_its_buffer_alone() -> None:
    register("limited", ", n: T.int32", CASES["a limit of what is stored"][0], "T.assume(0 <= n and n <= 16)")
    sch = tensorize(program("X[vi]", size=50, where="i * 16 + j < 50"), "limited")
    assert "T.writes(Y[vi_o * 16:vi_o * 16 + (16 - vi_o // 3 * 14)])" in sch.mod.script()
