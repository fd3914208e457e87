"""The ways out that refusals name, from pad_einsum to unsafe_set_dtype: each is followed, and leads on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import ways_out_programs_b as p
from tensorize_programs import buffers, copy_intrinsic, copy_program, copy_tile, func
from ways_out_programs_b import chain, nest, program

from tir_mlir import Schedule
from tir_mlir.compat.constants import const
from tir_mlir.dialect.errors import ScheduleError
from tir_mlir.script.parser import parse

Step = Callable[[Schedule], object]


def nothing(sch: Schedule) -> None:
    """No step comes before the refused one."""


@dataclass(frozen=True)
class Row:
    """`step` is refused after `before`, `fix` is in the way out, and `follow` goes it.

    It starts where the step was refused; `first`: at the start again; `instead`: from the program that the way out asks
    for.
    """

    program: str
    step: Step
    fix: str
    follow: Step
    before: Step = nothing
    first: bool = False
    instead: str = ""


def steps(*found: Step) -> Step:
    def run(sch: Schedule) -> None:
        for step in found:
            step(sch)

    return run


def loops(sch: Schedule, block: str, *numbers: int):
    found = sch.get_loops(block)
    return [found[n] for n in numbers]


def split(block: str, number: int, factors: list) -> Step:
    return lambda sch: sch.split(*loops(sch, block, number), factors)


def at(block: str, other: str, number: int = 0) -> Step:
    return lambda sch: sch.compute_at(block, *loops(sch, other, number))


def reverse_at(block: str, other: str, number: int = 0) -> Step:
    return lambda sch: sch.reverse_compute_at(block, *loops(sch, other, number))


def rfactor(block: str, number: int) -> Step:
    return lambda sch: sch.rfactor(*loops(sch, block, number), 0)


def decompose(block: str, number: int) -> Step:
    return lambda sch: sch.decompose_reduction(block, *loops(sch, block, number))


def turned(block: str, *numbers: int) -> Step:
    return lambda sch: sch.reorder(*loops(sch, block, *numbers))


def inline(block: str) -> Step:
    return lambda sch: sch.compute_inline(block)


def merged(block: str) -> Step:
    return lambda sch: sch.reverse_compute_inline(block)


def reindex(block: str, buffer: str) -> Step:
    return lambda sch: sch.reindex(block, buffer)


def read(block: str, buffer: str) -> Step:
    return lambda sch: sch.cache_read(block, buffer, "local")


def written(block: str, buffer: str) -> Step:
    return lambda sch: sch.cache_write(block, buffer, "local")


def layout(block: str, buffer: str, map_: Callable, **given) -> Step:
    return lambda sch: sch.transform_layout(block, buffer, map_, **given)


def block_layout(block: str, map_: Callable) -> Step:
    return lambda sch: sch.transform_block_layout(block, map_)


def swapped(i, j):
    return j, i


def fours(i):
    return i // 4, i % 4


WHERE = nest("C", "i=8 k=16", "S:i R:k", "C[vi] = C[vi] + A[vi, vk]", "C[vi] = 0.0", "k >= 2")
NARROW = program("A(10):int8 C(10):int8", nest("C", "i=10", "S:i", "C[vi] = A[vi]"))
FROM_ONE = (
    "for i in range({}):\n    with T.block('C'):\n        vi = T.axis.spatial((1, 16), {})\n        C[vi] = A[vi]"
)

PADDING = {
    "zeros in a division": Row(
        program("A(8):int32 B(8):int32 C(8):int32", nest("C", "i=8", "S:i", "C[vi] = A[vi] // B[vi]")),
        lambda sch: sch.pad_einsum("C", [3]),
        "split by a factor that does not divide",
        split("C", 0, [None, 3]),
    ),
    "zeros in a maximum": Row(
        program(
            "A(8, 16) C(8)",
            nest("C", "i=8 k=16", "S:i R:k", "C[vi] = T.max(C[vi], A[vi, vk])", 'C[vi] = T.min_value("float32")'),
        ),
        lambda sch: sch.pad_einsum("C", [1, 3]),
        "leave vk unpadded",
        lambda sch: sch.pad_einsum("C", [3, 1]),
    ),
    "zeros that add something": Row(
        program("A(8, 16) C(8)", p.SUM.replace("A[vi, vk]", "(A[vi, vk] + 1.0)")),
        lambda sch: sch.pad_einsum("C", [1, 3]),
        "leave vk unpadded",
        lambda sch: sch.pad_einsum("C", [3, 1]),
    ),
    "a number of another type": Row(
        NARROW,
        layout("C", "C", fours, pad_value=const(3, "int32")),
        "give a plain number",
        layout("C", "C", fours, pad_value=3),
    ),
    "a fraction as integer": Row(
        NARROW, layout("C", "C", fours, pad_value=0.5), "a whole number", layout("C", "C", fours, pad_value=1)
    ),
    "a number too large": Row(
        NARROW, layout("C", "C", fours, pad_value=200), "one of -128 to 127", layout("C", "C", fours, pad_value=-128)
    ),
    "a number as truth": Row(
        program("A(10):bool C(10):bool", nest("C", "i=10", "S:i", "C[vi] = A[vi]")),
        layout("C", "C", fours, pad_value=2),
        "True or False",
        layout("C", "C", fours, pad_value=False),
    ),
}
INLINING = {
    "two stores": Row(p.TWO_RESULTS, inline("B"), "compute_at", at("B", "C")),
    "a store through a view": Row(p.VIEWED, inline("B"), "compute_at", at("B", "C")),
    "elements read twice": Row(p.DOUBLED, merged("C"), "reverse_compute_at", reverse_at("C", "B")),
    "two writers": Row(p.HALVES, merged("C"), "let one block write all", merged("C"), instead=p.ONE_WRITER),
    "a sum taken apart": Row(
        p.SUMS,
        merged("D"),
        "before decompose_reduction, fuse_reduction_epilogue",
        lambda sch: sch.fuse_reduction_epilogue("C", "D"),
        before=decompose("C", 0),
        first=True,
    ),
    "a result that others see": Row(p.KEPT_PAIR, merged("C"), "reverse_compute_at", reverse_at("C", "B")),
    "two inputs": Row(p.TWO_INPUTS, merged("C"), "compute_inline of the producers", steps(inline("D"), merged("C"))),
    "no input": Row(p.PAIR, merged("B"), 'compute_inline of block "B"', inline("B")),
    "another reader": Row(p.TWO_READERS, merged("C"), 'compute_inline of block "B"', inline("B")),
    "several indices": Row(p.STENCIL, merged("C"), 'compute_inline of block "B"', inline("B")),
    "an index from memory": Row(p.GATHER, merged("C"), 'compute_inline of block "B"', inline("B")),
    "a result that is used between": Row(
        p.EARLIER_READER, merged("C"), 'cache_write of block "C"', steps(written("C", "C"), merged("C"))
    ),
    "a part that a guard cannot single out": Row(
        program(
            "A(16) C(8)",
            chain(
                nest("B", "i=16", "S:i", "B[vi] = A[vi] * 2.0"),
                nest("C", "i=8", "S:i", "C[vi] = B[vi * 2 % 16 // 2]"),
                local="B(16)",
            ),
        ),
        merged("C"),
        'compute_inline of block "B"',
        inline("B"),
    ),
    "a tile that computes more": Row(p.HALO, merged("C"), 'compute_inline of block "B"', inline("B")),
    "a choice of what is not computed": Row(p.PART, merged("C"), 'compute_inline of block "B"', inline("B")),
    "in place": Row(
        program(
            "A(16) C(16)",
            nest("B", "i=16", "S:i", "A[vi] = A[vi] * 2.0") + nest("C", "i=16", "S:i", "C[vi] = A[vi] + 1.0"),
        ),
        inline("B"),
        "let it write a buffer other than A",
        inline("B"),
        instead=p.PAIR,
    ),
}
MOVING = {
    "a loop of its own": Row(p.PAIR, at("B", "B"), "a loop around a block that reads its result", at("B", "C")),
    "a loop in another scope": Row(
        p.PAIR_2D,
        at("B", "C"),
        'a loop around block "C_o"',
        at("B", "C_o"),
        before=lambda sch: sch.blockize(*loops(sch, "C", 1)),
    ),
    "a result that is read before": Row(
        p.EARLIER_READER,
        reverse_at("C", "B"),
        'cache_write of block "C"',
        steps(written("C", "C"), reverse_at("C", "B")),
    ),
    "a result that is no copy": Row(
        p.WINDOW,
        lambda sch: sch.rolling_buffer("B", 0),
        "cache_read of B for its reader",
        steps(read("C", "B"), at("B_local", "C"), lambda sch: sch.rolling_buffer("B_local", 0)),
    ),
    "a part of a sum": Row(
        p.TRIANGLES, at("C", "D"), "T.if_then_else choosing the identity", at("C", "D"), instead=p.WHOLE_TRIANGLES
    ),
    "a producer": Row(p.PAIR, reverse_at("B", "C"), "compute_at puts a block under", at("B", "C")),
    "an order that counts": Row(
        p.FALLING,
        reverse_at("C", "B"),
        "reorder_block_iter_var",
        steps(lambda sch: sch.reorder_block_iter_var("C", [0, 2, 1]), reverse_at("C", "B")),
    ),
    "an update alone": Row(
        p.SUMS,
        at("C_update", "D"),
        "before decompose_reduction takes the init off",
        at("C", "D"),
        before=decompose("C", 0),
        first=True,
    ),
    "writers of halves": Row(
        p.HALVES,
        at("B0", "C"),
        "blockize the writers into one block",
        lambda sch: sch.compute_at(sch.blockize([sch.get_block("B0"), sch.get_block("B1")]), *loops(sch, "C", 0)),
    ),
    "iterations without a producer": Row(
        p.LONGER, reverse_at("C", "B"), 'compute_at of what it reads, at a loop of block "C"', at("B", "C")
    ),
    "an opaque iter": Row(
        program("A(16) C(16)", p.PAIR_TEXT.replace('remap("S", [i])', "opaque(16, i)", 1)),
        at("B", "C"),
        "declare it spatial",
        at("B", "C"),
        instead=p.PAIR,
    ),
}
COPIES = {
    "a block inside": Row(p.BLOCK_INSIDE, reindex("O", "A"), 'name block "I"', reindex("I", "A")),
    "two places": Row(p.STENCIL, reindex("C", "B"), "cache_read or cache_write copies B", read("C", "B")),
    "a loop inside, read": Row(p.ROWS_INSIDE, reindex("C", "A"), "cache_read", read("C", "A")),
    "a loop inside, written": Row(p.ROWS_INSIDE, reindex("C", "C"), "cache_write", written("C", "C")),
    "an index from memory": Row(p.GATHER, reindex("C", "B"), "cache_read", read("C", "B")),
    "a view": Row(p.VIEWS, reindex("C", "A"), "cache_read", read("C", "A")),
    "an element with two cells": Row(
        p.DIAGONALS, reindex("C", "C"), "cache_read or cache_write copies C", written("C", "C")
    ),
    "other blocks beneath, read": Row(
        p.PRODUCED,
        reindex("C", "A"),
        "reindex_cache_read puts the copy",
        lambda sch: sch.reindex_cache_read("C", "A", "local", lambda vi, vk: (vk, vi)),
        before=at("A", "C"),
    ),
    "other blocks beneath, written": Row(
        p.PRODUCED,
        reindex("A", "A"),
        "reindex_cache_write puts the copy",
        lambda sch: sch.reindex_cache_write("A", "A", "local", lambda vi, vk: (vk, vi)),
        before=at("A", "C"),
    ),
    "what it writes itself": Row(
        program("A(16, 8)", nest("C", "i=16 j=8", "S:i S:j", "A[vi, vj] = A[vi, vj] * 2.0")),
        lambda sch: sch.reindex_cache_read("C", "A", "local", lambda i, j: (j, i)),
        "cache_inplace copies A",
        lambda sch: sch.cache_inplace("C", "A", "local"),
    ),
    "elements that share a cell": Row(
        p.PRODUCT,
        lambda sch: sch.reindex_cache_read("C", "A", "local", lambda i, j, k: (i // 2, k)),
        "lambda vi, vj, vk: (vi, vk) is a map that fits",
        lambda sch: sch.reindex_cache_read("C", "A", "local", lambda vi, vj, vk: (vi, vk)),
    ),
    "other iters": Row(
        p.PRODUCT,
        lambda sch: sch.reindex_cache_read("C", "A", "local", lambda i, j, k: (i, j)),
        "lambda vi, vj, vk: (vi, vk) is a map that fits",
        lambda sch: sch.reindex_cache_read("C", "A", "local", lambda vi, vj, vk: (vi, vk)),
    ),
}
LAYOUTS = {
    "strides of the caller": Row(
        p.STRIDED, layout("C", "A", swapped), "a row-major copy", steps(read("C", "A"), layout("C", "A_local", swapped))
    ),
    "a view": Row(
        p.VIEWS,
        layout("C", "A", swapped),
        "leaves A plain accesses only",
        steps(read("C", "A"), layout("A_local", "A", swapped)),
    ),
    "a view that is written": Row(
        p.VIEWS,
        layout("C", "C", swapped),
        "leaves C plain accesses only",
        steps(written("C", "C"), layout("C_local", "C", swapped)),
    ),
    "an extent inside": Row(
        p.sized("for i in range(n):\n    with T.block('C'):\n        vi = T.axis.spatial(n, i)\n        C[vi] = A[vi]"),
        split("C", 0, [4, None]),
        "make the first factor None",
        split("C", 0, [None, 4]),
    ),
    "an annotation of another form": Row(
        p.PAIR,
        lambda sch: sch.storage_align("B", 0, 0, 4, 1),
        'unannotate(block, "buffer_dim_align")',
        steps(lambda sch: sch.unannotate("B", "buffer_dim_align"), lambda sch: sch.storage_align("B", 0, 0, 4, 1)),
        before=lambda sch: sch.annotate("B", "buffer_dim_align", 3),
    ),
    "a guarded block": Row(
        p.COPY,
        block_layout("C", lambda i, j: (i * 8 + j,)),
        "before the split that made the guard",
        steps(block_layout("C", lambda i, j: (i * 8 + j,)), split("C", 0, [None, 5])),
        before=split("C", 0, [None, 5]),
        first=True,
    ),
    "a split block": Row(
        p.COPY,
        block_layout("C", lambda i, j: (i * 8 + j,)),
        "before split or fuse",
        block_layout("C", lambda i, j: (i * 8 + j,)),
        before=split("C", 0, [None, 4]),
        first=True,
    ),
    "a block with a neighbour": Row(
        p.SUMS,
        block_layout("C", swapped),
        "before the step that put the two under one loop",
        block_layout("C", swapped),
        before=reverse_at("D", "C"),
        first=True,
    ),
    "a block from 1 on": Row(
        program("A(16) C(16)", FROM_ONE.format("1, 16", "i")),
        block_layout("C", lambda i: (14 - i,)),
        "run i from 0",
        split("C", 0, [None, 4]),
        instead=program("A(16) C(16)", FROM_ONE.format("15", "i + 1")),
    ),
    "reordered loops": Row(
        p.COPY,
        block_layout("C", lambda i, j: (i * 8 + j,)),
        "reorder_block_iter_var",
        steps(lambda sch: sch.reorder_block_iter_var("C", [1, 0]), block_layout("C", lambda j, i: (j * 16 + i,))),
        before=turned("C", 1, 0),
    ),
}
LOOPS = {
    "a split from 1 on": Row(
        program("A(16) C(16)", FROM_ONE.format("1, 16", "i")),
        split("C", 0, [None, 4]),
        "run i from 0",
        split("C", 0, [None, 4]),
        instead=program("A(16) C(16)", FROM_ONE.format("15", "i + 1")),
    ),
    "too few iterations": Row(p.ROW, split("C", 0, [2, 4]), "[None, 4] infers it", split("C", 0, [None, 4])),
    "two factors to infer": Row(p.ROW, split("C", 0, [None, None]), "all factors but one", split("C", 0, [None, 4])),
    "several bounds": Row(
        p.LEAST,
        split("B", 1, [None, 4]),
        "T.where in the block for the others",
        split("B", 1, [None, 4]),
        instead=p.MOST,
    ),
    "two nests": Row(
        p.PAIR_2D,
        lambda sch: sch.reorder(*loops(sch, "B", 1), *loops(sch, "C", 0)),
        "reorder each nest by itself",
        steps(turned("B", 1, 0), turned("C", 1, 0)),
    ),
    "loops side by side": Row(
        p.PAIR_2D,
        lambda sch: sch.reorder(*loops(sch, "B", 0), *loops(sch, "C", 0)),
        "compute_at, reverse_compute_at and merge put two under one",
        steps(at("B", "C"), turned("C", 0)),
    ),
    "an opaque iter": Row(
        program("A(16, 8) C(16, 8)", p.COPY_TEXT.replace('vi, vj = T.axis.remap("SS", [i, j])', p.ORDERED)),
        turned("C", 1, 0),
        "declare it spatial",
        turned("C", 1, 0),
        instead=p.COPY,
    ),
    "no factor": Row(p.ROW, split("C", 0, []), "[None, 16]", split("C", 0, [None, 16])),
    "statements outside blocks": Row(
        program("A(16) C(16) D(16)", p.ROW_TEXT.replace(":\n", ":\n    D[i] = A[i]\n", 1)),
        split("C", 0, [None, 5]),
        "factors that divide 16",
        split("C", 0, [None, 4]),
    ),
    "a nest with an init": Row(
        p.SUMS,
        turned("C_update", 1, 0),
        "before the step that put the rest there",
        steps(turned("C", 1, 0), decompose("C", 0)),
        before=decompose("C", 1),
        first=True,
    ),
    "a sum whose init never runs": Row(
        program("A(8, 16) C(8)", WHERE),
        decompose("C", 0),
        "let the loops run in full",
        decompose("C", 0),
        instead=program("A(8, 16) C(8)", p.SUM.replace("A[vi, vk]", "T.if_then_else(vk >= 2, A[vi, vk], 0.0)")),
    ),
    "bounds that use a loop": Row(
        p.TRIANGLES, turned("C", 1, 0), "give k its longest range", turned("C", 1, 0), instead=p.GUARDED_TRIANGLES
    ),
    "a sum that is repeated": Row(p.REPEATED, decompose("C", 0), "take a loop inside t", decompose("C", 1)),
}
REDUCTIONS = {
    "two blocks": Row(
        p.SUMS, rfactor("C", 0), "a loop over one block only", rfactor("C", 1), before=reverse_at("D", "C")
    ),
    "two blocks under the sum": Row(
        p.PRODUCED,
        rfactor("C", 1),
        "before the step that put the others there",
        rfactor("C", 1),
        before=at("A", "C", 1),
        first=True,
    ),
    "not the first": Row(
        p.PRODUCED,
        rfactor("C", 1),
        "before the step that put the two under one loop",
        steps(rfactor("C", 1), at("A", "C_rf")),
        before=at("A", "C"),
        first=True,
    ),
    "a spatial loop": Row(p.SUMS, rfactor("C", 0), "take one that does: k", rfactor("C", 1)),
    "fused loops": Row(
        p.SUMS,
        rfactor("C", 0),
        "split takes what fuse put together apart",
        steps(split("C", 0, [8, 16]), rfactor("C", 1)),
        before=lambda sch: sch.fuse(*sch.get_loops("C")),
    ),
    "under an if": Row(
        program("A(8, 16) C(8)", p.UNDER_IF),
        rfactor("C", 1),
        "let T.where guard the block",
        rfactor("C", 1),
        instead=program("A(8, 16) C(8)", WHERE.replace("k >= 2", "i < 4")),
    ),
    "bounds that change": Row(
        p.TRIANGLES, rfactor("C", 1), "let the loops run in full", rfactor("C", 1), instead=p.WHOLE_TRIANGLES
    ),
    "bounds that use the sum's loop": Row(
        p.cube("range(k + 1)", "A[vi, vk, vl]"),
        rfactor("C", 1),
        "let the loops run in full",
        rfactor("C", 1),
        instead=p.cube("range(8)", "T.if_then_else(vl <= vk, A[vi, vk, vl], 0.0)"),
    ),
    "a guard over the start": Row(
        program("A(8, 16) C(8)", WHERE),
        rfactor("C", 1),
        "let the loops run in full",
        rfactor("C", 1),
        instead=program("A(8, 16) C(8)", p.SUM.replace("A[vi, vk]", "T.if_then_else(vk >= 2, A[vi, vk], 0.0)")),
    ),
    "a loop that may not run": Row(
        p.SIZED_SUM.format(head=""),
        steps(split("C", 1, [None, 4]), rfactor("C", 2)),
        "T.assume at the top",
        steps(split("C", 1, [None, 4]), rfactor("C", 2)),
        instead=p.SIZED_SUM.format(head="T.assume(m >= 4)"),
    ),
    "no init": Row(
        p.SUMS,
        rfactor("C_update", 1),
        "before decompose_reduction takes the init off",
        steps(rfactor("C", 1), decompose("C", 0)),
        before=decompose("C", 0),
        first=True,
    ),
    "an init of one": Row(
        program("A(8, 16) C(8)", p.SUM.replace("C[vi] = 0.0", "C[vi] = 1.0")),
        rfactor("C", 1),
        "start from the identity, and combine what the init holds in a block after",
        rfactor("D", 1),
        instead=p.BIASED,
    ),
    "an init from memory": Row(
        program("A(8, 16) B(8) C(8)", p.SUM.replace("C[vi] = 0.0", "C[vi] = B[vi]")),
        rfactor("C", 1),
        "start from a constant, and combine what the init holds in a block after",
        rfactor("D", 1),
        instead=p.BIASED,
    ),
    "results at two places": Row(
        p.TWO_SUMS,
        rfactor("C", 1),
        "give each result a block of its own",
        rfactor("C", 1),
        instead=program("A(8, 16) C(8) D(8)", p.SUM + p.SUM.replace("C[", "D[").replace('"C"', '"D"')),
    ),
    "two updates": Row(
        program("A(8, 16) C(8)", p.SUM + "            C[vi] = C[vi] + 1.0\n".replace("            ", "        ")),
        rfactor("C", 1),
        "into one update",
        rfactor("C", 1),
        instead=program("A(8, 16) C(8)", p.SUM.replace("A[vi, vk]", "(A[vi, vk] + 1.0)")),
    ),
    "an update under an if": Row(
        program("A(8, 16) C(8)", p.SUM.replace("        C[vi] = C", "        if vk < 3:\n            C[vi] = C")),
        rfactor("C", 1),
        "let T.if_then_else choose",
        rfactor("C", 1),
        instead=program("A(8, 16) C(8)", p.SUM.replace("A[vi, vk]", "T.if_then_else(vk < 3, A[vi, vk], 0.0)")),
    ),
}
GROUPS = {
    "padding": PADDING,
    "inlining": INLINING,
    "moving": MOVING,
    "copies": COPIES,
    "layouts": LAYOUTS,
    "loops": LOOPS,
    "reductions": REDUCTIONS,
}
ROWS = [pytest.param(row, id=f"{group}, {name}") for group, rows in GROUPS.items() for name, row in rows.items()]


@pytest.mark.parametrize("row", ROWS)
def test_the_way_out_leads_on(row):
    sch = Schedule(parse(row.program))
    row.before(sch)
    with pytest.raises(ScheduleError) as raised:
        row.step(sch)
    fix = raised.value.fix
    assert row.fix in fix
    assert len(fix) <= 110
    if row.first or row.instead:
        sch = Schedule(parse(row.instead or row.program))
    row.follow(sch)
    assert sch.verify()


def test_another_type(refused):
    """Not checked by running it: another type rounds."""
    sch = Schedule(parse(p.VIEWED))
    refused(sch, "leaves B plain accesses only", lambda: sch.unsafe_set_dtype("B", 0, "float64"))
    sch.cache_write("B", 0, "local")
    sch.unsafe_set_dtype("B_local", 0, "float64")


def test_strides_of_an_intrinsic(intrinsic, refused):
    name = copy_intrinsic(intrinsic, "strides=[$, 1]")
    sch, loop = copy_tile(copy_program("(64, 64, 2)", "vi, vj, 0"))
    refused(sch, "transform_layout changes the strides", lambda: sch.tensorize(loop, name))
    for buffer in "AB":
        sch.transform_layout("copy", buffer, lambda i, j, k: (k, i, j))
    sch.tensorize(loop, name)


def test_a_unit_dimension_of_an_intrinsic(intrinsic, refused):
    row = func(buffers(A='(1, 16), "float32"', B='(1, 16), "float32"'), "for j in range(16):\n    B[0, j] = A[0, j]")
    name = intrinsic("row", row["main"], row["main"])
    sch = Schedule(parse(p.LINE))
    _, tile = sch.split(sch.get_loops("C")[0], [None, 16])
    refused(sch, "transform_layout gives A one", lambda: sch.tensorize(tile, name))
    for buffer in "AC":
        sch.transform_layout("C", buffer, lambda i: (i // 16, i % 16))
    sch.tensorize(tile, name)
