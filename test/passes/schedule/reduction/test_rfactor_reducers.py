"""Reducers of rfactor: combiners, identities, tuples, argmax; and unsupported ones."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build, reads_back
from programs.parsed import parse
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference


def one(update: str, start: str, dtype: str = "float32"):
    """A reduction of 3 rows of 6 with the given update of C[vi]."""
    return program(f"A:3x6:{dtype} C:3:{dtype}", each("C i:3 k:6R", f"C[vi] = {update}", init=f"C[vi] = {start}"))


def factored(program) -> Schedule:
    """Split the reduction and let the inner loop compute parts."""
    sch = Schedule(program)
    _, k_1 = sch.split(sch.get_loops("C")[1], [None, 2])
    sch.rfactor(k_1, 0)
    return sch


KNOWN = [
    ("C[vi] + A[vi, vk]", "0.0", "float32"),
    ("C[vi] + A[vi, vk]", "-0.0", "float64"),
    ("C[vi] + A[vi, vk]", "0", "int8"),
    ("C[vi] + A[vi, vk] * A[vi, 5 - vk]", "0.0", "float16"),
    ("C[vi] * A[vi, vk]", "1.0", "float32"),
    ("C[vi] * A[vi, vk]", "1", "int64"),
    ("T.max(C[vi], A[vi, vk])", 'T.min_value("float32")', "float32"),
    ("T.max(C[vi], A[vi, vk])", '-T.infinity("float32")', "float32"),
    ("T.max(C[vi], A[vi, vk])", 'T.min_value("float16")', "float16"),
    ("T.max(C[vi], A[vi, vk])", 'T.min_value("int32")', "int32"),
    ("T.min(C[vi], A[vi, vk])", 'T.max_value("float64")', "float64"),
    ("T.min(C[vi], A[vi, vk])", 'T.max_value("int8")', "int8"),
    ("T.max(C[vi], T.abs(A[vi, vk]))", "0.0", "float32"),
    ("T.min(C[vi], A[vi, vk])", "5", "int32"),
    ("C[vi] & A[vi, vk]", "-1", "int32"),
    ("C[vi] & A[vi, vk]", "3", "uint8"),
    ("C[vi] | A[vi, vk]", "1", "uint16"),
    ("C[vi] ^ A[vi, vk]", "0", "int32"),
    ("C[vi] or A[vi, vk]", "False", "bool"),
    ("C[vi] and A[vi, vk]", "True", "bool"),
    ("C[vi] - A[vi, vk]", "0", "int8"),
    ("C[vi] - A[vi, vk]", "0.0", "float64"),
    ("C[vi] + T.if_then_else(vk < 3, A[vi, vk], T.float32(2))", "0.0", "float32"),
    ("C[vi] + T.if_then_else(A[vi, vk] > T.float32(0), A[vi, vk], T.float32(2))", "0.0", "float32"),
    ("C[vi] + T.Cast('float32', vk)", "0.0", "float32"),
]


@pytest.mark.few(5)
@pytest.mark.parametrize(("update", "start", "dtype"), KNOWN)
def test_every_combiner(update, start, dtype, same_result):
    program = one(update, start, dtype)
    same_result(factored(program), program, ((3, 6), dtype), ((3,), dtype))


@pytest.mark.parametrize("update", ["C[vi] - A[vi, vk]", "T.max(C[vi], A[vi, vk])"])
def test_parts_of_one_iteration(update, same_result):
    program = one(update, "0.0")
    sch = Schedule(program)
    sch.rfactor(sch.get_loops("C")[1], 1)
    assert sch.verify()
    same_result(sch, program, ((3, 6), "float32"), ((3,), "float32"))


def test_what_vectorize_says_of_a_difference_works(refused, same_result):
    program = one("C[vi] - A[vi, vk]", "0.0")
    sch = Schedule(program)
    fix = r"rfactor\(k, 0\) .*; or in the program, add what is subtracted: C\[...\] = C\[...\] \+ \(0 - x\)"
    refused(sch, fix, lambda: sch.vectorize(sch.get_loops("C")[1]))
    added = Schedule(one("C[vi] + (T.float32(0) - A[vi, vk])", "0.0"))
    added.vectorize(added.get_loops("C")[1])
    same_result(added, program, ((3, 6), "float32"), ((3,), "float32"))


# --- several results --------------------------------------------------------------------------------------------------


@I.ir_module
class Sums:
    @T.prim_func
    def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float32")):
        for i, k in T.grid(4, 8):
            with T.block("C"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0.0
                    D[vi] = 0.0
                v_C: T.let[T.float32] = C[vi] + A[vi, vk]
                v_D: T.let[T.float32] = D[vi] + A[vi, vk] * A[vi, vk]
                C[vi] = v_C
                D[vi] = v_D


def test_a_tuple_sum(same_result):
    @I.ir_module
    class Expected:
        @T.prim_func
        def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32"), D: T.Buffer((4,), "float32")):
            C_rf = T.alloc_buffer((4, 2))
            D_rf = T.alloc_buffer((4, 2))
            for i, k_0, k_1 in T.grid(4, 4, 2):
                with T.block("C_rf"):
                    vk_1, vi, vk_0 = T.axis.remap("SSR", [k_1, i, k_0])
                    with T.init():
                        C_rf[vi, vk_1] = 0.0
                        D_rf[vi, vk_1] = 0.0
                    v_C: T.let[T.float32] = C_rf[vi, vk_1] + A[vi, vk_0 * 2 + vk_1]
                    v_D: T.let[T.float32] = D_rf[vi, vk_1] + A[vi, vk_0 * 2 + vk_1] * A[vi, vk_0 * 2 + vk_1]
                    C_rf[vi, vk_1] = v_C
                    D_rf[vi, vk_1] = v_D
            for i, k_1 in T.grid(4, 2):
                with T.block("C"):
                    vk_1, vi = T.axis.remap("RS", [k_1, i])
                    with T.init():
                        C[vi] = 0.0
                        D[vi] = 0.0
                    v_C: T.let[T.float32] = C[vi] + C_rf[vi, vk_1]
                    v_D: T.let[T.float32] = D[vi] + D_rf[vi, vk_1]
                    C[vi] = v_C
                    D[vi] = v_D

    sch = Schedule(Sums)
    _, k_1 = sch.split(sch.get_loops("C")[1], [None, 2])
    sch.rfactor(k_1, 1)
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None
    same_result(sch, Sums, ((4, 8), "float32"), ((4,), "float32"), ((4,), "float32"))


def position(best: str, update: str):
    """argmax or argmin of 3 rows of 12: P gets the position, V the value."""
    start = f'T.{"min" if best == "max" else "max"}_value("float32")'
    lines = "\n            ".join(update.splitlines())
    return parse(f"""
@T.prim_func
def main(X: T.Buffer((3, 12), "int32"), A: T.Buffer((3, 12), "float32"), P: T.Buffer((3,), "int32"), V: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 12):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                P[vi] = -1
                V[vi] = {start}
            {lines}
""")  # noqa: E501


FORMS = {
    "select": "v_P: T.let[T.int32] = T.Select(V[vi] {e} A[vi, vk], P[vi], X[vi, vk])\n"
    "v_V: T.let[T.float32] = T.Select(V[vi] {e} A[vi, vk], V[vi], A[vi, vk])\nP[vi] = v_P\nV[vi] = v_V",
    "annotated": "v_P: T.int32 = T.Select(V[vi] {e} A[vi, vk], P[vi], X[vi, vk])\n"
    "v_V: T.float32 = T.Select(V[vi] {e} A[vi, vk], V[vi], A[vi, vk])\nP[vi] = v_P\nV[vi] = v_V",
    "assigned": "p = T.if_then_else(V[vi] {e} A[vi, vk], P[vi], X[vi, vk])\n"
    "v = T.if_then_else(V[vi] {e} A[vi, vk], V[vi], A[vi, vk])\nP[vi] = p\nV[vi] = v",
    "stored": "P[vi] = T.Select(V[vi] {e} A[vi, vk], P[vi], X[vi, vk])\n"
    "V[vi] = T.Select(V[vi] {t} A[vi, vk], V[vi], A[vi, vk])",
    "loop variable": "p = T.Select(V[vi] {e} A[vi, vk], P[vi], vk)\n"
    "v = T.Select(V[vi] {e} A[vi, vk], V[vi], A[vi, vk])\nP[vi] = p\nV[vi] = v",
    "the value first": "v = T.Select(V[vi] {t} A[vi, vk], V[vi], A[vi, vk])\n"
    "p = T.Select(V[vi] {e} A[vi, vk], P[vi], X[vi, vk])\nV[vi] = v\nP[vi] = p",
    "the new value compared": "p = T.Select(A[vi, vk] {t} V[vi], X[vi, vk], P[vi])\n"
    "v = T.Select(A[vi, vk] {t} V[vi], A[vi, vk], V[vi])\nP[vi] = p\nV[vi] = v",
    "turned round, the value first": "v = T.Select(A[vi, vk] {t} V[vi], A[vi, vk], V[vi])\n"
    "p = T.Select(A[vi, vk] {t} V[vi], X[vi, vk], P[vi])\nV[vi] = v\nP[vi] = p",
    "turned round, ties by position": "p = T.Select(T.Or(A[vi, vk] {t} V[vi], T.And(V[vi] == A[vi, vk],"
    " X[vi, vk] < P[vi])), X[vi, vk], P[vi])\nv = T.Select(A[vi, vk] {t} V[vi], A[vi, vk], V[vi])\n"
    "P[vi] = p\nV[vi] = v",
    "ties by position": "p = T.Select(T.Or(V[vi] {t} A[vi, vk], T.And(V[vi] == A[vi, vk], P[vi] < X[vi, vk])),"
    " P[vi], X[vi, vk])\nv = T.Select(V[vi] {t} A[vi, vk], V[vi], A[vi, vk])\nP[vi] = p\nV[vi] = v",
    "ties by position, NaN first": "p = T.Select({n}, P[vi], X[vi, vk])\nv = T.Select({n}, V[vi], A[vi, vk])\n"
    "P[vi] = p\nV[vi] = v",
}
NAN_FIRST = (
    "T.Or(T.Or(V[vi] {t} A[vi, vk], T.And(V[vi] == A[vi, vk], P[vi] < X[vi, vk])),"
    " T.And(V[vi] != V[vi], T.Or(A[vi, vk] == A[vi, vk], P[vi] < X[vi, vk])))"
)


@pytest.mark.parametrize("best", ["max", "min"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.few(4)
def test_a_position_and_a_value(best, form, number):
    signs = {"e": ">=" if best == "max" else "<=", "t": ">" if best == "max" else "<"}
    signs["n"] = NAN_FIRST.format(**signs)
    sch = Schedule(position(best, FORMS[form].format(**signs)))
    loops = sch.split(sch.get_loops("C")[1], [None, 5])
    made = sch.rfactor(loops[number], 1)
    sch.parallel(sch.get_loops(made)[0])
    rng = np.random.default_rng(1)
    ties = "ties" in form
    a = rng.integers(0, 3, (3, 12)).astype(np.float32) if ties else rng.random((3, 12), dtype=np.float32)
    if "NaN" in form:
        a[1, 4:7] = np.nan
    x = np.tile(np.arange(12, dtype=np.int32), (3, 1))
    p, v = np.empty(3, np.int32), np.empty(3, np.float32)
    quick_build(sch)(x, a, p, v)
    np.testing.assert_array_equal(p, getattr(np, f"arg{best}")(a, 1))
    np.testing.assert_array_equal(v, getattr(a, best)(1))


@pytest.mark.parametrize(
    "update",
    [
        # the position follows a tie, the value of an empty part is a tie
        "p = T.Select(A[vi, vk] >= V[vi], X[vi, vk], P[vi])\nv = T.Select(A[vi, vk] >= V[vi], A[vi, vk], V[vi])",
        # the position of the greatest, the value of the least
        "p = T.Select(A[vi, vk] > V[vi], X[vi, vk], P[vi])\nv = T.Select(A[vi, vk] > V[vi], V[vi], A[vi, vk])",
        "p = T.Select(A[vi, vk] > V[vi], P[vi], X[vi, vk])\nv = T.Select(A[vi, vk] > V[vi], A[vi, vk], V[vi])",
    ],
)
def test_a_position_that_does_not_belong_to_the_value_is_refused(update, refused):
    sch = Schedule(position("max", f"{update}\nP[vi] = p\nV[vi] = v"))
    loop = sch.get_loops("C")[1]
    refused(sch, "is not a known reduction", lambda: sch.rfactor(loop, 1))


def test_argmax_is_written_as_it_was():
    @I.ir_module
    class Expected:
        @T.prim_func
        def main(
            X: T.Buffer((3, 12), "int32"),
            A: T.Buffer((3, 12), "float32"),
            P: T.Buffer((3,), "int32"),
            V: T.Buffer((3,), "float32"),
        ):
            P_rf = T.alloc_buffer((3, 4), "int32")
            V_rf = T.alloc_buffer((3, 4))
            for i, k_0, k_1 in T.grid(3, 3, 4):
                with T.block("C_rf"):
                    vk_1, vi, vk_0 = T.axis.remap("SSR", [k_1, i, k_0])
                    with T.init():
                        P_rf[vi, vk_1] = -1
                        V_rf[vi, vk_1] = T.min_value("float32")
                    p: T.let[T.int32] = T.Select(
                        V_rf[vi, vk_1] >= A[vi, vk_0 * 4 + vk_1], P_rf[vi, vk_1], X[vi, vk_0 * 4 + vk_1]
                    )
                    v: T.let[T.float32] = T.Select(
                        V_rf[vi, vk_1] >= A[vi, vk_0 * 4 + vk_1], V_rf[vi, vk_1], A[vi, vk_0 * 4 + vk_1]
                    )
                    P_rf[vi, vk_1] = p
                    V_rf[vi, vk_1] = v
            for i, k_1 in T.grid(3, 4):
                with T.block("C"):
                    vk_1, vi = T.axis.remap("RS", [k_1, i])
                    with T.init():
                        P[vi] = -1
                        V[vi] = T.min_value("float32")
                    p: T.let[T.int32] = T.Select(V[vi] >= V_rf[vi, vk_1], P[vi], P_rf[vi, vk_1])
                    v: T.let[T.float32] = T.Select(V[vi] >= V_rf[vi, vk_1], V[vi], V_rf[vi, vk_1])
                    P[vi] = p
                    V[vi] = v

    sch = Schedule(position("max", FORMS["select"].format(e=">=")))
    _, k_1 = sch.split(sch.get_loops("C")[1], [None, 4])
    sch.rfactor(k_1, 1)
    assert difference(sch.mod.mlir, Expected.mlir, names=False) is None


# --- what is not a known reduction ------------------------------------------------------------------------------------

WRONG = [
    ("C[vi] + A[vi, vk]", "1.0", "the init of C is 1, which is not the identity of sum"),
    ("C[vi] * A[vi, vk]", "0.0", "the init of C is 0, which is not the identity of product"),
    ("C[vi] + A[vi, vk]", "A[vi, 0]", "the init of block .* does not store one constant to each of C"),
    ("A[vi, vk] + C[vi]", "0.0", "has the old value of C on the right; write it as"),
    ("A[vi, vk] * A[vi, vk] + C[vi]", "0.0", "has the old value of C on the right"),
    ("C[vi] - A[vi, vk]", "1.0", "the init of C is 1, which is not the identity of difference"),
    ("A[vi, vk] - C[vi]", "0.0", "is not a known reduction; known are sum, difference, product"),
    ("C[vi] + A[vi, vk] + A[vi, 0]", "0.0", "is not a known reduction"),
    ("C[vi] + A[vi, vk] * C[vi]", "0.0", "depend on C itself"),
    ("A[vi, vk]", "0.0", "is not a known reduction"),
]


@pytest.mark.parametrize(("update", "start", "match"), WRONG)
def test_refuses_a_block_without_a_reduction(update, start, match, refused):
    sch = Schedule(one(update, start))
    refused(sch, match, lambda: sch.rfactor(sch.get_loops("C")[1], 0))


BODIES = {
    "P[vi] = P[vi] + X[vi, vk]\nV[vi] = V[vi] + A[vi, P[vi]]": "reads P again after storing it",
    "P[vi] = P[vi] + X[vi, vk]\nP[vi] = P[vi] + X[vi, vk]\nV[vi] = V[vi] + A[vi, vk]": "is not one store for each",
    "if A[vi, vk] > V[vi]:\n    P[vi] = vk\n    V[vi] = A[vi, vk]": "contains affine.store",
    "p = T.Select(V[vi] > A[vi, vk], P[vi], X[vi, vk])\nv = T.Select(V[vi] > A[vi, vk], V[vi], A[vi, vk])\n"
    "P[vi] = p\nV[vi] = v": "is not a known reduction",
    "p = T.Select(V[vi] >= A[vi, vk], P[vi], X[vi, vk])\nv = T.Select(V[vi] >= A[vi, 0], V[vi], A[vi, vk])\n"
    "P[vi] = p\nV[vi] = v": "is not a known reduction",
    "p = T.Select(V[vi] >= A[vi, vk], X[vi, vk], P[vi])\nv = T.Select(V[vi] >= A[vi, vk], A[vi, vk], V[vi])\n"
    "P[vi] = p\nV[vi] = v": "is not a known reduction",
}


@pytest.mark.parametrize("body", BODIES)
def test_refuses_bodies_of_several_results(body, refused):
    sch = Schedule(position("max", body))
    refused(sch, BODIES[body], lambda: sch.rfactor(sch.get_loops("C")[1], 0))


def test_a_position_starts_at_minus_one(refused):
    text = position("max", FORMS["select"].format(e=">=")).script().replace("P[vi] = -1", "P[vi] = 0")
    sch = Schedule(parse(text))
    refused(
        sch,
        r"the init of P is 0, which is not the identity of argmax \(-1 or 2",
        lambda: sch.rfactor(sch.get_loops("C")[1], 0),
    )


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ("C[vi, 0] = C[vi, 1] + A[vi, vk]", "reads C at another index than it stores"),
        ("C[vi, 0] += A[vi, vk]\n            D[vi] += A[vi, vk]", "stores its results at different indices"),
    ],
)
def test_refuses_results_at_different_places(body, match, refused):
    program = parse(f"""
@T.prim_func
def main(A: T.Buffer((3, 6), "float32"), C: T.Buffer((3, 2), "float32"), D: T.Buffer((3,), "float32")):
    for i, k in T.grid(3, 6):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi, 0] = 0.0
            {body}
""")
    sch = Schedule(program)
    refused(sch, match, lambda: sch.rfactor(sch.get_loops("C")[1], 0))


def test_a_tuple_of_a_position_and_a_value_reads_back():
    sch = Schedule(
        program(
            "A:3x4:int32 P:3:int32 V:3:int32",
            each(
                "C i:3 k:4R",
                "p = T.Select(V[vi] >= A[vi, vk], P[vi], vk)",
                "v = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])",
                "P[vi] = p",
                "V[vi] = v",
                init="P[vi] = -1; V[vi] = T.min_value('int32')",
            ),
        )
    )
    sch.rfactor(sch.get_loops("C")[1], 0)
    assert "P_rf[vk, vi] = vk\n" in reads_back(sch)
