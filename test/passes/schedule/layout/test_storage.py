"""storage_align and unsafe_set_dtype: how an allocated buffer is kept in memory."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build, reads_back
from mlir import ir
from mlir.dialects import arith
from programs.inlining import FILLED
from programs.parsed import parse
from programs.short import each, main, sblock

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleWarning
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.passes.lower.memory import strides
from tir_mlir.script.structural_equal import difference


def stages(n: int = 16, m: int = 10, dtype: str = "float32", cached: str = "float32", facts: str = ""):
    there = "A[vi, vj]" if cached == dtype else f'T.Cast("{cached}", A[vi, vj])'
    back = "Y[vi, vj]" if cached == dtype else f'T.Cast("{dtype}", Y[vi, vj])'
    return parse(
        f"""
@T.prim_func
def main(A: T.Buffer(({n}, {m}), "{dtype}"), B: T.Buffer(({n}, {m}), "{dtype}")):
    Y = T.alloc_buffer(({n}, {m}), "{cached}")
    for i, j in T.grid({n}, {m}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(Y[vi, vj])
            {facts or "pass"}
            Y[vi, vj] = {there}
    for i, j in T.grid({n}, {m}):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(Y[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = {back}
""".replace("            pass\n", "")
    )


def loop_of_copies():
    return parse("""
@T.prim_func
def main(A: T.Buffer((16, 20), "float32"), B: T.Buffer((16, 20), "float32")):
    Y = T.alloc_buffer((16, 20), "float32")
    for k in range(4):
        for i, j in T.grid(16, 5):
            with T.block("Y"):
                vi, vj = T.axis.spatial(16, i), T.axis.spatial(20, k * 5 + j)
                Y[vi, vj] = A[vi, vj]
        for i, j in T.grid(16, 5):
            with T.block("B"):
                vi, vj = T.axis.spatial(16, i), T.axis.spatial(20, k * 5 + j)
                B[vi, vj] = Y[vi, vj] * 2.0
""")


# --- storage_align ----------------------------------------------------------------------------------------------------


def test_a_wish_is_an_annotation():
    sch = Schedule(stages())
    sch.storage_align("Y", 0, -2, 32, 8)
    expected = stages(facts='T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})')
    assert difference(sch.mod.mlir, expected.mlir, names=False) is None
    sch.storage_align("Y", "Y", 1, 4, 0)
    sch.storage_align("Y", 0, 0, 16, 3)
    assert sch.get(sch.get_block("Y")).annotations == {"buffer_dim_align": [[0, 0, 16, 3], [0, 1, 4, 0]]}


@pytest.mark.parametrize(
    ("index_map", "axis"),
    [(lambda i, j: (j, i), 1), (lambda i, j: (i // 8, j // 5, i % 8, j % 5), 2), (lambda i, j: (j // 2, j % 2, i), 2)],
)
def test_the_axis_of_a_wish_follows_a_new_layout(index_map, axis):
    sch = Schedule(stages())
    sch.storage_align("Y", 0, 0, 32, 8)
    sch.transform_layout("Y", "Y", index_map)
    assert sch.get(sch.get_block("Y")).annotations == {"buffer_dim_align": [[0, axis, 32, 8]]}


def test_a_wish_for_an_axis_that_a_new_layout_lacks_is_told():
    sch = Schedule(stages())
    sch.storage_align("Y", 0, 0, 32, 8)
    sch.storage_align("Y", 0, 1, 4, 0)
    with pytest.warns(ScheduleWarning, match="the alignment of axis 0 of Y is gone: no axis of the new layout has"):
        sch.transform_layout("Y", "Y", lambda i, j: (i * 5 + j // 2, j % 2))
    assert sch.get(sch.get_block("Y")).annotations == {"buffer_dim_align": [[0, 1, 4, 0]]}


def test_a_wish_for_rows_holds_in_planes_that_copies_fill_ahead(same_result):
    program = loop_of_copies()
    sch = Schedule(program)
    sch.storage_align("Y", 0, 0, 32, 8)
    sch.pipeline(sch.get_loops("Y")[0], 2)
    copies = [line for line in sch.mod.script().splitlines() if "buffer_dim_align" in line]
    assert [line.strip() for line in copies] == ['T.block_attr({"buffer_dim_align": [[0, 1, 32, 8]]})'] * 2
    same_result(sch, program, ((16, 20), "float32"), ((16, 20), "float32"))


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
@pytest.mark.parametrize(("factor", "offset"), [(32, 8), (1, 0), (7, 15), (4, -1)])
def test_every_element_keeps_its_value(n, factor, offset, same_result):
    sch = Schedule(stages(n))
    sch.storage_align("Y", 0, 0, factor, offset)
    same_result(sch, stages(n), ((n, 10), "float32"), ((n, 10), "float32"))


SYMBOLIC = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n, m = T.int32(), T.int32()
    A = T.match_buffer(a, (n, m), "float32")
    B = T.match_buffer(b, (n, m), "float32")
    Y = T.alloc_buffer((n, m, 3, m), "float32")
    for i, j in T.grid(n, m):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, 0, 2, vj] = A[vi, vj]
    for i, j in T.grid(n, m):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = Y[vi, 0, 2, vj]
"""


@pytest.mark.parametrize(("axis", "factor", "offset"), [(0, 32, 8), (1, 7, -3), (2, 8, 3), (3, 4, 2)])
def test_symbolic_sizes_keep_every_value(axis, factor, offset, same_result):
    sch = Schedule(parse(SYMBOLIC))
    sch.storage_align("Y", 0, axis, factor, offset)
    for n, m in ((5, 64), (3, 17), (1, 1), (0, 4), (4, 0)):
        same_result(sch, parse(SYMBOLIC), ((n, m), "float32"), ((n, m), "float32"))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("factor", "offset"), [(32, 8), (1, 0), (7, 15), (4, -1)])
@pytest.mark.parametrize("size", [0, 1, 5, 32, 63])
def test_strides_of_symbolic_sizes_are_aligned(axis, factor, offset, size):
    """As those of constant ones: the pass computes at run time what it computes itself of known sizes."""
    computed: list[int] = []
    with enter_context(), ir.InsertionPoint(ir.Module.create().body):
        type_ = ir.MemRefType.get([4, 2, ir.ShapedType.get_dynamic_size()], ir.F32Type.get())
        number = arith.constant(ir.IndexType.get(), size)
        facts = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0])}
        op = ir.Operation.create("memref.alloc", [type_], [number], facts)
        attrs.put(op, strides.DIM_ALIGN, [[axis, factor, offset]])
        assert strides.strides_of(op)[-1] == 1
        computed += _evaluated(strides._strides(op, strides._rounded_up, strides._product))
    step = computed[axis]
    assert step % factor == offset % factor
    assert 0 <= step - (size if axis else 2 * size) < factor


def _evaluated(values: list[int | ir.Value]) -> list[int]:
    """What arithmetic of constants computes."""
    functions = {
        "arith.addi": lambda a, b: a + b,
        "arith.subi": lambda a, b: a - b,
        "arith.muli": lambda a, b: a * b,
        "arith.remui": lambda a, b: a % b,
    }

    def of(value: int | ir.Value) -> int:
        if isinstance(value, int):
            return value
        op = value.owner
        if op.name == "arith.constant":
            return ir.IntegerAttr(op.attributes["value"]).value
        return functions[op.name](*map(of, op.operands))

    return list(map(of, values))


def test_refuses_to_align(refused):
    sch = Schedule(stages())
    refused(
        sch,
        "B is a parameter of the function, whose strides the caller chooses",
        lambda: sch.storage_align("B", 0, 0, 4, 0),
    )
    refused(sch, r"axis 2 of Y is not in \[-2, 2\)", lambda: sch.storage_align("Y", 0, 2, 4, 0))
    refused(sch, "axis -3 of Y", lambda: sch.storage_align("Y", 0, -3, 4, 0))
    refused(sch, "the factor 0 is not positive", lambda: sch.storage_align("Y", 0, 0, 0, 1))
    refused(sch, "has no buffer number 1 among those it writes", lambda: sch.storage_align("Y", 1, 0, 4, 0))
    sch.annotate("Y", "buffer_dim_align", 3)
    refused(sch, "which is not a list of", lambda: sch.storage_align("Y", 0, 0, 4, 0))


# --- unsafe_set_dtype -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
@pytest.mark.parametrize("cached", ["float16", "float64", "int32", "int8"])
def test_values_are_converted(n, cached, same_result):
    """Small integers are the same in all of these types."""
    sch = Schedule(stages(n))
    sch.unsafe_set_dtype("Y", 0, cached)
    assert difference(sch.mod.mlir, stages(n, cached=cached).mlir, names=False) is None
    same_result(sch, stages(n), ((n, 10), "float32"), ((n, 10), "float32"))


def test_values_are_rounded():
    sch = Schedule(stages(4, 4))
    sch.unsafe_set_dtype("Y", "Y", "float16")
    a = np.random.default_rng(3).standard_normal((4, 4)).astype("float32")
    b = np.empty_like(a)
    quick_build(sch)(a, b)
    np.testing.assert_array_equal(b, a.astype("float16").astype("float32"))
    assert (a != b).any()


WIDENED = [
    ("int8", "int16", "int32"),
    ("int8", "int32", "int32"),
    ("int8", "int32", "int16"),
    ("float16", "float32", "float64"),
    ("bfloat16", "float32", "float32"),
]


@pytest.mark.parametrize(("kept", "cached", "wide"), WIDENED)
def test_widening_casts_follow_a_wider_type(kept, cached, wide):
    program = main(
        f"A:16:{kept} B:16:{wide} C:16:{kept}; Y:16:{kept}",
        each("Y:16", "Y[vi] = A[vi]"),
        each("B:16", f"B[vi] = T.Cast('{wide}', Y[vi])", "C[vi] = Y[vi]"),
    )
    sch = Schedule(parse(program))
    sch.unsafe_set_dtype("Y", 0, cached)
    text = sch.mod.script()
    value = "Y[vi]" if cached == wide else f'T.Cast("{wide}", Y[vi])'
    assert f"B[vi] = {value}\n" in text
    assert f'C[vi] = T.Cast("{kept}", Y[vi])' in text
    bits = np.arange(-8, 8).astype(kept) if kept != "bfloat16" else np.arange(16).astype("uint16")
    outs = [[np.zeros(16, wide), np.zeros_like(bits)] for _ in range(2)]
    for mod, (b, c) in zip((sch, Schedule(parse(program))), outs, strict=True):
        quick_build(mod)(bits, b, c)
    np.testing.assert_array_equal(*[b for b, _ in outs])
    np.testing.assert_array_equal(*[c for _, c in outs])


def test_a_sum_keeps_its_order_once_it_is_rounded():
    program = parse(
        main(
            "A:4x16 B:4; Y:4",
            each("Y i:4 k:16R", "Y[vi] = Y[vi] + A[vi, vk]", init="Y[vi] = T.float32(0)"),
            each("B:4", "B[vi] = Y[vi]"),
        )
    )
    sch = Schedule(program)
    sch.unsafe_set_dtype("Y", 0, "float16")
    with pytest.raises(RuntimeError):
        sch.rfactor(sch.get_loops("Y")[1], 0)


def test_the_same_type_changes_nothing():
    sch = Schedule(stages())
    before = sch.mod.script()
    sch.unsafe_set_dtype("Y", 0, "float32")
    assert sch.mod.script() == before


def test_refuses_types(refused):
    sch = Schedule(stages())
    refused(sch, "B is a parameter of the function, whose type the caller chooses",
            lambda: sch.unsafe_set_dtype("B", 0, "float16"))  # fmt: skip
    refused(sch, 'dtype "float8" is not supported', lambda: sch.unsafe_set_dtype("Y", 0, "float8"))
    refused(sch, "has no buffer number 2 among those it writes", lambda: sch.unsafe_set_dtype("Y", 2, "float16"))


VIEWS = main(
    "A:16:{dtype} B:16:{dtype}; Y:16:{dtype}",
    each(
        "Y:4",
        "W = T.match_buffer(Y[vi * 4:vi * 4 + 4], (4,), '{dtype}', offset_factor=1)",
        each("outer j:4", "W[vj] = A[vi * 4 + vj]"),
    ),
    each(
        "B:4",
        "V = T.match_buffer(Y[vi * 4:vi * 4 + 4], (4,), '{dtype}', offset_factor=1)",
        each("inner j:4", "B[vi * 4 + vj] = V[vj]"),
    ),
)


@pytest.mark.parametrize(("dtype", "kept"), [("int8", "int32"), ("uint8", "uint16"), ("float16", "float32")])
def test_views_follow(dtype, kept, same_result):
    program = parse(VIEWS.format(dtype=dtype))
    sch = Schedule(program)
    sch.unsafe_set_dtype("Y", 0, kept)
    text = sch.mod.script()
    assert text.count(f'(4,), "{kept}"' if kept != "float32" else "(4,), offset_factor=1") == 2
    assert f'W[vj] = T.Cast("{kept}", A[vi * 4 + vj])' in text
    assert f'B[vi * 4 + vj] = T.Cast("{dtype}", V[vj])' in text
    assert parse(text).script() == text
    same_result(sch, program, ((16,), dtype), ((16,), dtype))


def test_a_constant_in_another_type_is_one():
    sch = Schedule(parse(FILLED))
    sch.unsafe_set_dtype("B", 0, "int8")
    assert "B[vi] = T.int8(2)" in reads_back(sch)


def test_a_constant_that_another_type_cannot_hold_is_converted_where_it_runs():
    sch = Schedule(parse(FILLED.replace("= 2.0", '= T.min_value("float32")')))
    sch.unsafe_set_dtype("B", 0, "int32")
    assert 'B[vi] = T.Cast("int32", T.float32(' in reads_back(sch)


def test_an_alignment_that_lost_its_buffer_is_left_out():
    program = parse(
        main(
            "A:4x1 C:4x1; B:4x1",
            each("B:4x1", "B[vi, vj] = A[vi, vj] + 2.0"),
            each("C:4x1", "C[vi, vj] = B[vi, vj] * 2.0"),
        )
    )
    sch = Schedule(program)
    sch.storage_align("B", 0, 0, 16, 1)
    sch.reverse_compute_inline("C")
    a, c = np.ones((4, 1), np.float32), np.zeros((4, 1), np.float32)
    with pytest.warns(LoweringWarning, match=r"buffer_dim_align \[0, 0, 16, 1\] of block \"B\" is ignored"):
        quick_build(sch)(a, c)
    assert (c == 6).all()


def test_an_alignment_of_what_a_pointer_takes_in_one_piece_is_left_out():
    views = "V = T.match_buffer(y[0:4, 0:16], (4, 16), offset_factor=1)"
    call = 'T.call_extern("int32", "memcpy", B.access_ptr("w"), V.access_ptr("r"), T.int64(256))'
    aligned = 'T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})'
    copy = sblock("B", "", "T.reads(y[0:4, 0:16])", "T.writes(B[0:4, 0:16])", views, f"T.evaluate({call})")
    text = main("A:4x16 B:4x16 y:4x16", each("Y:4x16", aligned, "y[vi, vj] = A[vi, vj]"), copy)
    with pytest.warns(LoweringWarning, match=r"\[0, 0, 32, 8\] of block \"Y\" is ignored"):
        lib = quick_build(parse(text))
    a, b = np.random.default_rng(0).random((4, 16), dtype=np.float32), np.zeros((4, 16), np.float32)
    lib(a, b)
    np.testing.assert_array_equal(b, a)
