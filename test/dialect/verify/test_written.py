"""What nothing wrote is not read: refused in programs that users write."""

import pytest
from programs.parsed import parse
from programs.short import nest, program, sblock

from tir_mlir import Schedule
from tir_mlir.equivalence.compare import equivalent
from tir_mlir.errors import NotChecked, ScriptError
from tir_mlir.script import IRModule

HEAD = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), P: T.Buffer((8,), "int32"), C: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
"""
FILL = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[{at}] = A[vi]
"""
READ = """
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = {value}
"""
SUM = """
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.reduce(8, i)
            # INIT
            Y[0] = Y[0] + A[vi]
"""


SCATTER = """
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.opaque(8, i)
            Y[P[vi]] = A[vi]
"""


def fill(n=8, at="vi"):
    return FILL.format(n=n, at=at)


def read(value="Y[vi]"):
    return READ.format(value=value)


REFUSED = {
    "never": (read("A[vi] + Y[vi]"), "Y[0] is read at C(i=0), but nothing writes Y; write it in a block before"),
    "later": (read() + fill(), "Y[0] is read at C(i=0), but nothing writes it before"),
    "another element": (fill(7) + read(), "Y[7] is read at C(i=7), but nothing writes it before"),
    "its first element": (fill(7, "vi + 1") + read(), "Y[0] is read at C(i=0), but nothing writes it before"),
    "no init": (SUM + read("Y[0]"), "Y[0] is read at Y(i=0), but nothing writes it before; write it in a block"),
    "its own value": (
        "\n    for i in range(8):\n        with T.block('Y'):\n            vi = T.axis.spatial(8, i)\n"
        "            Y[vi] = Y[vi] * 2.0\n" + read(),
        "Y[0] is read at Y(i=0), but nothing writes it before",
    ),
    "one iteration": (
        "\n    for i in range(8):\n        with T.block('Y'):\n            vi = T.axis.opaque(8, i)\n"
        "            Y[vi] = A[vi]\n            C[vi] = Y[7 - vi]\n",
        "Y[7] is read at Y(i=0), but nothing writes it before",
    ),
}  # fmt: skip
ACCEPTED = {
    "filled": fill() + read(),
    "in two parts": fill(4) + fill(4, "vi + 4") + read(),
    "only what is read": fill(4) + read("Y[vi // 2]"),
    "under a guard": fill(4) + read("T.if_then_else(vi < 4, Y[vi], 0.0)"),
    "an init": SUM.replace("# INIT", "with T.init():\n                Y[0] = 0.0") + read("Y[0]"),
    "an init in a block of its own": fill() + SUM + read("Y[0]"),
    "not decided: a scatter": SCATTER + read(),
    "not decided: a gather": fill(4) + read("Y[P[vi]]"),
    "not decided: a condition on data": fill(4) + read("T.if_then_else(P[vi] > 0, Y[vi], 0.0)"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_the_element(case):
    body, message = REFUSED[case]
    with pytest.raises(ScriptError) as caught:
        parse(HEAD + body)
    assert message in str(caught.value)


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case):
    parse(HEAD + ACCEPTED[case])


def test_the_line_is_that_of_the_block():
    with pytest.raises(ScriptError) as caught:
        parse(HEAD + read())
    assert '<script>:7\n    with T.block("C"):' in str(caught.value)


def test_symbolic_sizes():
    text = """
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    C = T.match_buffer(c, (n,), "float32")
    Y = T.alloc_buffer((n,), "float32")
    for i in range(n - CUT):
        with T.block("Y"):
            vi = T.axis.spatial(n - CUT, i)
            Y[vi] = A[vi]
    for i in range(n):
        with T.block("C"):
            vi = T.axis.spatial(n, i)
            C[vi] = Y[vi]
"""
    parse(text.replace("CUT", "0"))
    with pytest.raises(ScriptError, match=r"Y\[0\] is read at C\(i=0\), but nothing writes it before"):
        parse(text.replace("CUT", "1"))


MLIR = """func.func @main(%A: memref<4xf32> {tir.name = "A"}, %C: memref<4xf32> {tir.name = "C"}) {
  %Y = memref.alloc() {tir.name = "Y"} : memref<4xf32>
  affine.for %i = 0 to 4 {
    %a = affine.load %A[%i] : memref<4xf32>
    affine.store %a, %WRITTEN[%i] : memref<4xf32>
  } {tir.loop = "i"}
  affine.for %j = 0 to 4 {
    %y = affine.load %Y[%j] : memref<4xf32>
    affine.store %y, %C[%j] : memref<4xf32>
  } {tir.loop = "j"}
  return
}"""


def test_mlir_input():
    IRModule.from_mlir(MLIR.replace("WRITTEN", "Y"))
    with pytest.raises(ScriptError, match=r"Y\[0\] is read at statement\(j=0\), but nothing writes Y"):
        IRModule.from_mlir(MLIR.replace("WRITTEN", "C"))


def test_a_fix_is_followed():
    with pytest.raises(ScriptError, match=r"or in T.init\(\)"):
        parse(HEAD + SUM + read("Y[0]"))
    assert Schedule(parse(HEAD + ACCEPTED["an init"])).verify()


def test_verify_does_not_blame_a_step_for_it():
    body = HEAD + ACCEPTED["not decided: a scatter"]
    sch = Schedule(parse(body))
    sch.split(sch.get_loops("C")[0], [2, 4])
    with pytest.raises(NotChecked, match=r"main: C\[\d\] of the original program depends on memory that nothing wrote"):
        sch.verify()


def test_a_wrong_step_is_still_blamed():
    """Elements that the original defines are compared although others are not defined."""
    text = HEAD + "    Z = T.alloc_buffer((8,), 'float32')" + ACCEPTED["not decided: a scatter"]
    right = parse(text.replace("C[vi] = Y[vi]", "C[vi] = T.if_then_else(vi < 4, A[vi], Y[vi])"))
    wrong = parse(text.replace("C[vi] = Y[vi]", "C[vi] = T.if_then_else(vi < 4, A[7 - vi], Y[vi])"))
    found = equivalent(right, wrong)
    assert not found and "C[0] differs" in str(found)


def test_a_sum_over_a_symbolic_size_in_a_loop_is_written():
    """Its init does not run for a size of 0; that alone is not a refusal."""
    program(
        "A:4xn C:4; Y:4",
        nest(
            "i:4",
            nest("k:n", sblock("Y", "SR i k", "Y[vi] += A[vi, vk]", init="Y[vi] = 0.0")),
            sblock("C", "vi:4=i", "C[vi] = Y[vi]"),
        ),
    )
