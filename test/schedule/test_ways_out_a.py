"""The `fix:` lines of refusals, from annotate_buffer_access to pad_einsum: each is followed, and the step is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from ways_out_programs_a import (
    BOTH,
    BRANCHES,
    CUT_BY_SIZE,
    INNER,
    LANES,
    OVERWRITTEN,
    PADDED,
    PAIR,
    PARTS,
    SHARED,
    SUM,
    SUMMED,
    WRITTEN,
    at,
    block,
    cut,
    each,
    followed,
    indented,
    main,
    nest,
    shorter,
)

from tir_mlir import Schedule
from tir_mlir.dialect.errors import ScheduleError
from tir_mlir.script import parse

Step = Callable[[Schedule], Any]


@dataclass(frozen=True)
class Row:
    """A program, a step that is refused, a part of its fix, and what the fix says; `instead`: in another program."""

    name: str
    program: str
    refused: Step
    fix: str
    way: Step
    instead: str = ""


ROWS = [
    # --- annotate_buffer_access, blockize
    Row(
        "annotate_buffer_access: a lambda of too many iters",
        PAIR,
        lambda s: s.annotate_buffer_access("B", 0, "read", lambda i, j: i),
        "write it as lambda vi:",
        lambda s: s.annotate_buffer_access("B", 0, "read", lambda vi: vi),
    ),
    Row(
        "blockize: a loop around two blocks",
        main("A:8 C:8 b:8", nest("i:8", block("B", "vi:8=i", "b[vi] = A[vi]"), block("C", "vi:8=i", "C[vi] = b[vi]"))),
        lambda s: s.blockize(at(s, "B")),
        "give blockize the list of them",
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
    ),
    Row(
        "blockize: an init and an opaque iter",
        main(
            "A:8x4 c:8 D:8",
            nest("i:8 k:4", block("C", "vi:8O=i vk:4R=k", "c[vi] = c[vi] + A[vi, vk]", "c[vi] = 0.0")),
            each("D", "D[vi] = c[vi]"),
        ),
        lambda s: s.blockize(at(s, "C", 1)),
        "declare it spatial",
        lambda s: s.blockize(at(s, "C", 1)),
        followed("D[vi] = c[vi]"),
    ),
    Row(
        "blockize: something between the blocks of a list",
        main("A:8 C:8 D:8 b:8 c:8", each("B", "b[vi] = A[vi]"), each("c", "c[vi] = b[vi]"), each("D", "D[vi] = c[vi]")),
        lambda s: s.blockize([s.get_block("B"), s.get_block("D")]),
        "list what stands between",
        lambda s: s.blockize([s.get_block("B"), s.get_block("c"), s.get_block("D")]),
    ),
    Row(
        "blockize: moving away what is between",
        main("A:8 C:8 D:8 b:8 c:8", each("B", "b[vi] = A[vi]"), each("c", "c[vi] = b[vi]"), each("D", "D[vi] = c[vi]")),
        lambda s: s.blockize([s.get_block("B"), s.get_block("D")]),
        "compute_inline",
        lambda s: (s.compute_inline("c"), s.blockize([s.get_block("B"), s.get_block("D")])),
    ),
    Row(
        "blockize: a block listed twice",
        PAIR,
        lambda s: s.blockize([s.get_block("B"), s.get_block("B")]),
        "list each block once",
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
    ),
    Row(
        "blockize: a list in a condition",
        main(
            "A:8 C:8 D:8",
            nest("i:2", "    if i > 0:", indented(each("C", "C[vi] = A[vi]")), indented(each("D", "D[vi] = A[vi]"))),
        ),
        lambda s: s.blockize([s.get_block("C"), s.get_block("D")]),
        "by a loop of its own",
        lambda s: (s.blockize(at(s, "C", 1)), s.blockize(at(s, "D", 1))),
    ),
    Row(
        "blockize: a list of blocks of two scopes",
        main(
            "A:8 C:8 b:8",
            each("B", "b[vi] = A[vi]"),
            nest(
                "i:4",
                block("o", "vo:4=i", INNER),
            ),
        ),
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
        "those that stand under one block",
        lambda s: s.blockize([s.get_block("B"), s.get_block("o")]),
    ),
    Row(
        "blockize: a list with guards that differ",
        main(
            "A:7 C:8 D:8",
            nest(
                "i:8",
                nest("j:1", block("C", "vi:7=i", "C[vi] = A[vi]", where="i < 7")),
                nest("j:1", block("D", "vi:7=i", "D[vi] = A[vi]", where="i < 6")),
            ),
        ),
        lambda s: s.blockize([s.get_block("C"), s.get_block("D")]),
        "split by factors that divide",
        lambda s: s.blockize([s.get_block("C"), s.get_block("D")]),
        main(
            "A:7 C:8 D:8",
            nest(
                "i:7",
                nest("j:1", block("C", "vi:7=i", "C[vi] = A[vi]")),
                nest("j:1", block("D", "vi:7=i", "D[vi] = A[vi]")),
            ),
        ),
    ),
    Row(
        "blockize: a list whose iters are not in one order",
        main(
            "A:4x4 B:4x4 C:4x4",
            nest(
                "i:4 j:4",
                block("B", "vi:4=i vj:4=j", "B[vi, vj] = A[vi, vj]"),
                block("C", "vj:4=j vi:4=i", "C[vi, vj] = A[vi, vj]"),
            ),
        ),
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
        "reorder_block_iter_var",
        lambda s: (s.reorder_block_iter_var("C", [1, 0]), s.blockize([s.get_block("B"), s.get_block("C")])),
    ),
    Row(
        "blockize: a list with an iter missing",
        main(
            "A:4x4 B:4 C:4x4",
            nest(
                "i:4",
                block("B", "vi:4=i", "B[vi] = A[vi, 0]"),
                nest("j:4", block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]")),
            ),
        ),
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
        "T.axis.spatial(1, 0)",
        lambda s: s.blockize([s.get_block("B"), s.get_block("C")]),
        main(
            "A:4x4 B:4 C:4x4",
            nest(
                "i:4",
                block("B", "vi:4=i vj:1=0", "B[vi] = A[vi, 0]"),
                nest("j:4", block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]")),
            ),
        ),
    ),
    Row(
        "blockize: statements beside the nest",
        main("A:8 C:8 D:8", nest("i:2", "    D[i] = 1.0", nest("j:4", block("C", "vi:8=i * 4 + j", "C[vi] = A[vi]")))),
        lambda s: s.blockize(at(s, "C", 0)),
        "name a loop further in",
        lambda s: s.blockize(at(s, "C", 1)),
    ),
    Row(
        "blockize: bounds that use a loop outside",
        main(
            "A:4x4 C:4x4",
            "    for i in range(4):",
            "        for j in range(i + 1):",
            indented(block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]"), 2),
        ),
        lambda s: s.blockize(at(s, "C", 1)),
        "give j its longest range",
        lambda s: s.blockize(at(s, "C", 0)),
        main("A:4x4 C:4x4", nest("i:4 j:4", block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]", where="j <= i"))),
    ),
    # --- caches and copies
    Row(
        "cache_index: a threshold too high",
        main("A:8 C:8", each("C", "C[vi] = A[vi // 2]")),
        lambda s: s.cache_index("C", "global", 5),
        "a lower cse_thresh",
        lambda s: s.cache_index("C", "global", 1),
    ),
    Row(
        "compute_at: nothing reads it, computed at its input",
        main("A:8 B:8 C:8 b:8 d:8", each("B", "b[vi] = A[vi]"), each("d", "d[vi] = b[vi]"), each("C", "C[vi] = b[vi]")),
        lambda s: s.compute_at("d", at(s, "C")),
        "reverse_compute_at takes it to what it reads",
        lambda s: s.reverse_compute_at("d", at(s, "B")),
    ),
    Row(
        "compute_at: nothing reads it, dropped",
        main("A:8 B:8 C:8 b:8 d:8", each("B", "b[vi] = A[vi]"), each("d", "d[vi] = b[vi]"), each("C", "C[vi] = b[vi]")),
        lambda s: s.compute_at("d", at(s, "C")),
        "compute_inline drops it",
        lambda s: s.compute_inline("d"),
    ),
    Row(
        "compute_at: an output",
        main("A:8 B:8 C:8", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]")),
        lambda s: s.compute_at("B", at(s, "C")),
        'cache_write of block "B" first',
        lambda s: (s.cache_write("B", 0, "local"), s.compute_at("B", at(s, "B_local"))),
    ),
    Row(
        "compute_inline: an output",
        main("A:8 B:8 C:8", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]")),
        lambda s: s.compute_inline("B"),
        'cache_write of block "B" first',
        lambda s: (s.cache_write("B", 0, "local", [s.get_block("C")]), s.compute_inline("B")),
    ),
    Row(
        "compute_inline: a reader through a view",
        main(
            "A:8 C:8 b:8",
            each("B", "b[vi] = A[vi]"),
            nest(
                "i:8", block("C", "vi:8=i", "m = T.match_buffer(b[vi : vi + 1], (1,), offset_factor=1); C[vi] = m[0]")
            ),
        ),
        lambda s: s.compute_inline("B"),
        'compute_at takes block "B" to its reader',
        lambda s: s.compute_at("B", at(s, "C")),
    ),
    Row(
        "compute_inline: values of another iteration",
        main(
            "A:9 C:9 b:9",
            nest(
                "i:9",
                block("B", "vi:9=i", "b[vi] = A[vi]"),
                block("C", "vi:9=i", "C[vi] = T.if_then_else(vi > 0, b[vi - 1], T.float32(0))"),
            ),
        ),
        lambda s: s.compute_inline("B"),
        "give each a nest of its own",
        lambda s: s.compute_inline("B"),
        main(
            "A:9 C:9 b:9",
            each("B", "b[vi] = A[vi]", 9),
            each("C", "C[vi] = T.if_then_else(vi > 0, b[vi - 1], T.float32(0))", 9),
        ),
    ),
    Row(
        "compute_inline: an input overwritten in between",
        main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), each("A", "A[vi] = 0.0"), each("C", "C[vi] = b[vi]")),
        lambda s: s.compute_inline("B"),
        "reverse_compute_inline of the reader",
        lambda s: s.reverse_compute_inline("C"),
    ),
    Row(
        "cache_read: several writers",
        main(
            "A:8 C:8 b:8",
            nest("i:4", block("L", "vi:4=i", "b[vi] = A[vi]")),
            nest("i:4", block("H", "vi:4=i", "b[vi + 4] = A[vi]")),
            each("C", "C[vi] = b[vi]"),
        ),
        lambda s: s.cache_read("C", 0, "local"),
        "blockize the writers into one block first",
        lambda s: (s.blockize([s.get_block("L"), s.get_block("H")]), s.cache_read("C", 0, "local")),
    ),
    Row(
        "cache_read: written outside any block",
        main("A:8 C:8 b:8", "    for i in range(8):", "        b[i] = A[i]", each("C", "C[vi] = b[vi]")),
        lambda s: s.cache_read("C", 0, "local"),
        "put that statement into a block",
        lambda s: s.cache_read("C", 0, "local"),
        PAIR,
    ),
    Row(
        "cache_read: values of another iteration",
        main(
            "A:9 C:9 b:9",
            nest(
                "i:9",
                block("B", "vi:9=i", "b[vi] = A[vi]"),
                block("C", "vi:9=i", "C[vi] = T.if_then_else(vi > 0, b[vi - 1], T.float32(0))"),
            ),
        ),
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies what is there",
        lambda s: s.read_at(at(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_read: a parameter of which a half is written",
        main("A:8 B:8 C:8", nest("i:4", block("B", "vi:4=i", "B[vi] = A[vi]")), each("C", "C[vi] = B[vi]")),
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies what is there",
        lambda s: s.read_at(at(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_write: a listed reader of what nobody wrote",
        main("A:8 B:8 C:8", nest("i:4", block("B", "vi:4=i", "B[vi] = A[vi]")), each("C", "C[vi] = B[vi]")),
        lambda s: s.cache_write("B", 0, "local", [s.get_block("C")]),
        "leave this reader out (consumer_blocks)",
        lambda s: s.cache_write("B", 0, "local"),
    ),
    Row(
        "cache_read: a writer that may not run",
        main(
            "A:8 B:8 C:8",
            nest(
                "i:8",
                "    if A[0] > 0.0:",
                indented(block("B", "vi:8=i", "B[vi] = A[vi]")),
                block("C", "vi:8=i", "C[vi] = B[vi]"),
            ),
        ),
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies what is there",
        lambda s: s.read_at(at(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_write: read outside any block",
        main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), "    for i in range(8):", "        C[i] = b[i]"),
        lambda s: s.cache_write("B", 0, "local"),
        "put that statement into a block",
        lambda s: s.cache_write("B", 0, "local"),
        PAIR,
    ),
    Row(
        "cache_write: no box",
        main("A:8 C:16", nest("i:8", block("C", "vi:8=i", "C[vi * 2] = A[vi]"))),
        lambda s: s.cache_write("C", 0, "local"),
        "write_at a loop",
        lambda s: s.write_at(at(s, "C"), "C", 0, "local"),
    ),
    Row(
        "cache_write: an init outside",
        main("A:8x4 C:8", nest("i:8 k:4", block("C", "vi:8=i vk:4R=k", "C[vi] = C[vi] + A[vi, vk]", "C[vi] = 0.0"))),
        lambda s: (s.blockize(at(s, "C", 1)), s.cache_write("C", 0, "local")),
        'name block "C_o"',
        lambda s: s.cache_write("C_o", 0, "local"),
    ),
    Row(
        "a step that takes from a vectorized loop what kept its lanes apart",
        LANES,
        lambda s: s.compute_at("C", at(s, "D")),
        "unroll it",
        lambda s: (s.unroll(at(s, "P")), s.compute_at("C", at(s, "D"))),
    ),
    Row(
        "read_at: written after it was read",
        main("A:8 B:8", nest("i:8", block("B", "vi:8=i", "B[vi] = A[vi]"), block("A", "vi:8=i", "A[vi] = 0.0"))),
        lambda s: s.read_at(at(s, "B"), "B", 0, "local"),
        "name a loop further in",
        lambda s: s.read_at(s.add_unit_loop("B"), "B", 0, "local"),
    ),
    Row(
        "read_at: a block that reads and writes",
        main("A:8", nest("i:8", block("A", "vi:8=i", "A[vi] = A[vi] + 1.0"))),
        lambda s: s.read_at(at(s, "A"), "A", 0, "local"),
        "cache_inplace copies around a single block",
        lambda s: s.cache_inplace("A", 0, "local"),
    ),
    Row(
        "read_at: a loop elsewhere",
        PAIR,
        lambda s: s.read_at(at(s, "B"), "C", 0, "local"),
        "name one of its own loops",
        lambda s: s.read_at(at(s, "C"), "C", 0, "local"),
    ),
    Row(
        "read_at: a range that depends on a loop",
        main(
            "A:4x4 C:4x4",
            "    for i in range(4):",
            "        for j in range(i + 1):",
            indented(block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]"), 2),
        ),
        lambda s: s.read_at(at(s, "C", 1), "C", 0, "local"),
        "give j its longest range",
        lambda s: s.read_at(at(s, "C", 1), "C", 0, "local"),
        main("A:4x4 C:4x4", nest("i:4 j:4", block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]", where="j <= i"))),
    ),
    Row(
        "write_at: no box",
        main("A:4x8 C:4x16", nest("i:4 j:8", block("C", "vi:4=i vj:8=j", "C[vi, vj * 2] = A[vi, vj]"))),
        lambda s: s.write_at(at(s, "C"), "C", 0, "local"),
        "name a loop further in",
        lambda s: s.write_at(at(s, "C", 1), "C", 0, "local"),
    ),
    Row(
        "write_at: what the buffer held before",
        main("A:8", nest("i:8", block("A", "vi:8=i", "A[vi] = A[vi] + 1.0"))),
        lambda s: s.write_at(at(s, "A"), "A", 0, "local"),
        "cache_inplace copies in",
        lambda s: s.cache_inplace("A", 0, "local"),
    ),
    # --- decompose_padding, blockize: tiles
    Row(
        "decompose_padding: a loop elsewhere",
        main("A:8 C:8 b:10", each("B", PADDED, 10), each("C", "C[vi] = b[vi]")),
        lambda s: s.decompose_padding("B", at(s, "C")),
        "name one of its own loops",
        lambda s: s.decompose_padding("B", at(s, "B")),
    ),
    Row(
        "decompose_padding: another block in the loop",
        main(
            "A:8 C:10 b:10",
            nest("i:10", nest("j:1", block("B", "vi:10=i", PADDED)), block("C", "vi:10=i", "C[vi] = b[vi]")),
        ),
        lambda s: s.decompose_padding("B", at(s, "B")),
        "name a loop further in",
        lambda s: s.decompose_padding("B", at(s, "B", 1)),
    ),
    Row(
        "decompose_padding: another block in the only loop",
        main(
            "A:8 C:10 E:10 b:10 c:10",
            nest("i:10", block("c", "vi:10=i", "c[vi] = E[vi] + 1.0"), block("B", "vi:10=i", PADDED)),
            each("C", "C[vi] = b[vi] + c[vi]", 10),
        ),
        lambda s: s.decompose_padding("B", at(s, "B")),
        "compute_inline",
        lambda s: (s.compute_inline("c"), s.decompose_padding("B", at(s, "B"))),
    ),
    Row(
        "decompose_padding: bounds that use a loop",
        main(
            "A:8x8 b:8x8 C:8x8",
            "    for i in range(8):",
            "        for j in range(i + 1):",
            indented(block("B", "vi:8=i vj:8=j", "b[vi, vj] = T.if_then_else(vj < 3, A[vi, vj], T.float32(0))"), 2),
            "    for i in range(8):",
            "        for j in range(i + 1):",
            indented(block("C", "vi:8=i vj:8=j", "C[vi, vj] = b[vi, vj]"), 2),
        ),
        lambda s: s.decompose_padding("B", at(s, "B")),
        "name loop j",
        lambda s: s.decompose_padding("B", at(s, "B", 1)),
    ),
    Row(
        "decompose_padding: a body of two stores",
        main("A:8 C:10", nest("i:10", block("C", "vi:10=i", "if vi < 8:;     C[vi] = A[vi]; else:;     C[vi] = 0.0"))),
        lambda s: s.decompose_padding("C", at(s, "C")),
        "let it be one store",
        lambda s: s.decompose_padding("C", at(s, "C")),
        main("A:8 C:10", each("C", "C[vi] = T.if_then_else(vi < 8, A[vi], T.float32(0))", 10)),
    ),
    Row(
        "decompose_padding: two parts that take the value",
        main("A:12 C:12", each("C", "C[vi] = T.if_then_else(vi % 6 < 4, A[vi], T.float32(0))", 12)),
        lambda s: s.decompose_padding("C", at(s, "C")),
        "loop_partition first",
        lambda s: (
            s.loop_partition(at(s, "C"), [6, None]),
            s.decompose_padding("C_i0", at(s, "C_i0")),
            s.decompose_padding("C_i1", at(s, "C_i1")),
        ),
    ),
    Row(
        "blockize: steps that the tile does not divide",
        main(
            "A:34 C:32 b:34",
            each("B", "b[vi] = A[vi]", 34),
            nest("i:32", block("C", "vi:32=i", "C[vi] = b[vi] + b[vi + 2]")),
        ),
        lambda s: (s.split(at(s, "C"), [None, 16]), s.compute_at("B", at(s, "C")), s.blockize(at(s, "B", 1))),
        "split the inner loop by a factor that divides the steps",
        lambda s: s.blockize(s.split(at(s, "B", 1), [None, 2])[1]),
    ),
    Row(
        "blockize: a fused loop cut across",
        main("A:12x20 C:12x20", nest("i:12 j:20", block("C", "vi:12=i vj:20=j", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.blockize(s.split(s.fuse(*s.get_loops("C")), [None, 16])[1]),
        "by factors of the old extents",
        lambda s: (s.fuse(*s.get_loops("C")), s.blockize(s.split(at(s, "C"), [None, 10])[1])),
        main("A:12x20 C:12x20", nest("i:12 j:20", block("C", "vi:12=i vj:20=j", "C[vi, vj] = A[vi, vj]"))),
    ),
    Row(
        "blockize: the small steps outside",
        main("A:12 C:12", each("C", "C[vi] = A[vi]", 12)),
        lambda s: (s.split(at(s, "C"), [None, 4]), s.reorder(at(s, "C", 1), at(s, "C", 0)), s.blockize(at(s, "C", 1))),
        "reorder the loops",
        lambda s: (s.reorder(at(s, "C", 1), at(s, "C", 0)), s.blockize(at(s, "C", 1))),
    ),
    Row(
        "blockize: an iter that steps over points",
        main("A:8 C:8", nest("i:2 j:2", block("C", "vi:8=i * 4 + j * 2", "C[vi] = A[vi]"))),
        lambda s: s.blockize(at(s, "C", 1)),
        "let the iter count the points",
        lambda s: s.blockize(at(s, "C", 1)),
        main("A:8 C:8", nest("i:2 j:2", block("C", "vi:4=i * 2 + j", "C[vi * 2] = A[vi * 2]"))),
    ),
    Row(
        "blockize: a guard over two loops",
        main("A:4x4 C:4x4", nest("i:4 j:4", block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]", where="i + j < 6"))),
        lambda s: s.blockize(at(s, "C", 1)),
        "take a loop around all that it uses",
        lambda s: s.blockize(at(s, "C", 0)),
    ),
    Row(
        "blockize: a guard over two loops of a sum",
        main(
            "A:4x4 C:4",
            nest(
                "i:4 j:4", block("C", "vi:4=i vj:4R=j", "C[vi] = C[vi] + A[vi, vj]", "C[vi] = 0.0", where="i + j < 6")
            ),
        ),
        lambda s: s.blockize(at(s, "C", 0)),
        "decompose_reduction first",
        lambda s: (s.decompose_reduction("C", at(s, "C", 0)), s.blockize(at(s, "C_update", 0))),
    ),
    # --- fuse, fuse_reduction_epilogue
    Row(
        "fuse: a loop from 2",
        main("A:8x4 C:8x4", nest("i:2-8 j:4", block("C", "vi:6=i - 2 vj:4=j", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.fuse(*s.get_loops("C")),
        "run i from 0",
        lambda s: s.fuse(*s.get_loops("C")),
        main("A:8x4 C:8x4", nest("i:6 j:4", block("C", "vi:6=i vj:4=j", "C[vi, vj] = A[vi, vj]"))),
    ),
    Row(
        "fuse: a loop with two ends",
        main("A:8x8 C:8x8", nest("i:8 j:T.min(6,_i_+_1)", block("C", "vi:8=i vj:6=j", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.fuse(*s.get_loops("C")),
        "let it run to one of them",
        lambda s: s.fuse(*s.get_loops("C")),
        main("A:8x8 C:8x8", nest("i:8 j:6", block("C", "vi:8=i vj:6=j", "C[vi, vj] = A[vi, vj]", where="j < i + 1"))),
    ),
    Row(
        "fuse: a triangle",
        main(
            "A:4x4 C:4x4",
            "    for i in range(4):",
            "        for j in range(i + 1):",
            indented(block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]"), 2),
        ),
        lambda s: s.fuse(*s.get_loops("C")),
        "give j its longest range",
        lambda s: s.fuse(*s.get_loops("C")),
        main("A:4x4 C:4x4", nest("i:4 j:4", block("C", "vi:4=i vj:4=j", "C[vi, vj] = A[vi, vj]", where="j <= i"))),
    ),
    Row(
        "fuse: another nest in the loop, put under the inner one",
        SHARED,
        lambda s: s.fuse(at(s, "B"), at(s, "B", 1)),
        "bring the rest beneath loop j first",
        lambda s: (s.reverse_compute_at("C", at(s, "B", 1)), s.fuse(at(s, "B"), at(s, "B", 1))),
    ),
    Row(
        "fuse: another nest in the loop, merged",
        SHARED,
        lambda s: s.fuse(at(s, "B"), at(s, "B", 1)),
        "merge",
        lambda s: (s.merge(at(s, "B", 1), at(s, "C", 1)), s.fuse(at(s, "B"), at(s, "B", 1))),
    ),
    Row(
        "fuse: another nest in the loop, inlined",
        SHARED,
        lambda s: s.fuse(at(s, "B"), at(s, "B", 1)),
        "inline it",
        lambda s: (s.compute_inline("B"), s.fuse(at(s, "C"), at(s, "C", 1))),
    ),
    Row(
        "fuse_reduction_epilogue: a block after itself",
        followed("D[vi] = c[vi] + B[vi]"),
        lambda s: s.fuse_reduction_epilogue("C", "C"),
        "name the block that reads its result",
        lambda s: s.fuse_reduction_epilogue("C", "D"),
    ),
    Row(
        "fuse_reduction_epilogue: a sum of sums",
        main("A:8x4 D:1 c:8", SUM, nest("i:8", block("D", "vo:1=0 vi:8R=i", "D[vo] = D[vo] + c[vi]", "D[vo] = 0.0"))),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", at(s, "D")),
    ),
    Row(
        "fuse_reduction_epilogue: a guard that a split made",
        followed("D[vi] = c[vi] + B[vi]"),
        lambda s: (s.split(at(s, "D"), [None, 3]), s.fuse_reduction_epilogue("C", "D")),
        "split by factors that divide",
        lambda s: (s.split(at(s, "D"), [None, 4]), s.fuse_reduction_epilogue("C", "D")),
        followed("D[vi] = c[vi] + B[vi]"),
    ),
    Row(
        "fuse_reduction_epilogue: two sums in one block",
        main(
            "A:8x4 D:8 c:8 d:8",
            nest(
                "i:8 k:4",
                block(
                    "C",
                    "vi:8=i vk:4R=k",
                    "c[vi] = c[vi] + A[vi, vk]; d[vi] = T.max(d[vi], A[vi, vk])",
                    "c[vi] = 0.0; d[vi] = 0.0",
                ),
            ),
            each("D", "D[vi] = c[vi] + 1.0"),
        ),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", at(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: an output",
        main(
            "A:8x4 C:8 D:8",
            nest("i:8 k:4", block("C", "vi:8=i vk:4R=k", "C[vi] = C[vi] + A[vi, vk]", "C[vi] = 0.0")),
            each("D", "D[vi] = C[vi] + 1.0"),
        ),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", at(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: the result read twice",
        followed("D[vi] = c[vi] + c[vi]"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", at(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: a block that reads something else",
        main(SUMMED + " E:8", SUM, each("D", "D[vi] = c[vi] + B[vi]"), each("E", "E[vi] = B[vi]")),
        lambda s: s.fuse_reduction_epilogue("C", "E"),
        "name the block that reads c",
        lambda s: s.fuse_reduction_epilogue("C", "D"),
    ),
    Row(
        "fuse_reduction_epilogue: another reader",
        main(SUMMED + " E:8", SUM, each("D", "D[vi] = c[vi] + B[vi]"), each("E", "E[vi] = c[vi]")),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", at(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: an input written in between",
        main(SUMMED, SUM, each("B", "B[vi] = 1.0"), each("D", "D[vi] = c[vi] + B[vi]")),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", at(s, "D")),
    ),
    Row(
        "fuse_reduction_epilogue: the result's place used in between",
        main(SUMMED, SUM, each("B", "B[vi] = D[vi]"), each("D", "D[vi] = c[vi] + 1.0")),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", at(s, "D")),
    ),
    Row(
        "fuse_reduction_epilogue: a product",
        followed("D[vi] = c[vi] * B[vi]"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", at(s, "C")),
    ),
    Row(
        "fuse_reduction_epilogue: elements that are not taken",
        followed("D[vi] = T.if_then_else(vi < 3, c[vi], B[vi])"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.reverse_compute_at("D", at(s, "C")),
    ),
    # --- compute_at: inputs
    Row(
        "compute_at: an input of several writers",
        main(
            "A:8x8 C:8x8 b:8x8 d:8x8",
            nest(
                "i:8",
                nest("j:4", block("L", "vo:8=i vi:4=j", "b[vo, vi] = A[vo, vi]")),
                nest("j:4", block("H", "vo:8=i vi:4=j", "b[vo, vi + 4] = A[vo, vi + 4]")),
                nest("j:8", block("D", "vi:8=i vj:8=j", "d[vi, vj] = b[vi, vj]")),
                nest("j:8", block("C", "vi:8=i vj:8=j", "C[vi, vj] = d[vi, vj]")),
            ),
        ),
        lambda s: s.compute_at("D", at(s, "C", 1)),
        "blockize the writers into one block first",
        lambda s: (s.blockize([s.get_block("L"), s.get_block("H")]), s.compute_at("D", at(s, "C", 1))),
    ),
    Row(
        "compute_at: an input written outside any block",
        main(
            "A:8 C:8 b:8 d:8",
            nest(
                "i:8",
                "    b[i] = A[i]",
                block("D", "vi:8=i", "d[vi] = b[vi]"),
                nest("j:1", block("C", "vi:8=i", "C[vi] = d[vi]")),
            ),
        ),
        lambda s: s.compute_at("D", at(s, "C", 1)),
        "put that statement into a block",
        lambda s: s.compute_at("D", at(s, "C", 1)),
        main(
            "A:8 C:8 b:8 d:8",
            nest(
                "i:8",
                block("B", "vi:8=i", "b[vi] = A[vi]"),
                block("D", "vi:8=i", "d[vi] = b[vi]"),
                nest("j:1", block("C", "vi:8=i", "C[vi] = d[vi]")),
            ),
        ),
    ),
    Row(
        "compute_at: an input overwritten",
        OVERWRITTEN,
        lambda s: s.compute_at("B", at(s, "C")),
        "read a copy that a block makes first",
        lambda s: s.compute_at("B", at(s, "C")),
        main(
            "A:8 C:8 a:8 b:8",
            each("a", "a[vi] = A[vi]"),
            each("B", "b[vi] = a[vi]"),
            each("reset", "A[vi] = 1.0"),
            each("C", "C[vi] = b[vi]"),
        ),
    ),
    # --- lookup, loop_partition
    Row(
        "get_producers: the root",
        PAIR,
        lambda s: s.get_producers(s.get_block("root")),
        "get_child_blocks",
        lambda s: s.get_child_blocks(s.get_block("root"))[1],
    ),
    Row(
        "get_consumers: the root",
        PAIR,
        lambda s: s.get_consumers(s.get_block("root")),
        "get_child_blocks",
        lambda s: s.get_child_blocks(s.get_block("root"))[0],
    ),
    Row(
        "loop_partition: no lengths",
        PAIR,
        lambda s: s.loop_partition(at(s, "C"), []),
        "[1, None]",
        lambda s: s.loop_partition(at(s, "C"), [1, None]),
    ),
    Row(
        "loop_partition: several lengths open",
        PAIR,
        lambda s: s.loop_partition(at(s, "C"), [None, 3, None]),
        "give all lengths but one",
        lambda s: s.loop_partition(at(s, "C"), [2, 3, None]),
    ),
    Row(
        "loop_partition: nothing left",
        PAIR,
        lambda s: s.loop_partition(at(s, "C"), [4, 4]),
        "let them take 7 at most",
        lambda s: s.loop_partition(at(s, "C"), [4, 3]),
    ),
    Row(
        "loop_partition: a size for a bound",
        main("A:n C:n", nest("i:n", block("C", "vi:n=i", "C[vi] = A[vi]"))),
        lambda s: s.loop_partition(at(s, "C"), [4, None]),
        "split it by a constant first",
        lambda s: (s.split(at(s, "C"), [None, 8]), s.loop_partition(at(s, "C", 1), [4, None])),
    ),
    # --- merge
    Row(
        "merge: a loop from 2",
        main(
            "A:8 B:8 C:8",
            nest("i:2-8", block("B", "vi:6=i - 2", "B[vi] = A[vi]")),
            nest("j:2-8", block("C", "vi:6=j - 2", "C[vi] = A[vi]")),
        ),
        lambda s: s.merge(at(s, "B"), at(s, "C")),
        "run i from 0",
        lambda s: s.merge(at(s, "B"), at(s, "C")),
        main(
            "A:8 B:8 C:8",
            nest("i:6", block("B", "vi:6=i", "B[vi] = A[vi]")),
            nest("j:6", block("C", "vi:6=j", "C[vi] = A[vi]")),
        ),
    ),
    Row(
        "merge: loops in blocks",
        PAIR,
        lambda s: (s.split(at(s, "B"), [None, 4]), s.blockize(at(s, "B", 1)), s.merge(at(s, "B"), at(s, "C"))),
        "merge loops further out",
        lambda s: s.merge(at(s, "B_o"), s.split(at(s, "C"), [None, 4])[0]),
    ),
    Row(
        "merge: another nest in the loop",
        main(
            "A:4x4 B:4x4 C:4x4 D:4x4 b:4x4",
            nest(
                "i:4",
                nest("j:4", block("B", "vi:4=i vj:4=j", "b[vi, vj] = A[vi, vj]")),
                nest("j:4", block("C", "vi:4=i vj:4=j", "C[vi, vj] = b[vi, vj]")),
            ),
            nest("i:4 j:4", block("D", "vi:4=i vj:4=j", "D[vi, vj] = A[vi, vj]")),
        ),
        lambda s: s.merge(at(s, "C", 1), at(s, "D", 1)),
        "bring the rest beneath loop j",
        lambda s: (s.compute_at("B", at(s, "C", 1)), s.merge(at(s, "C", 1), at(s, "D", 1))),
    ),
    Row(
        "merge: unequal depths",
        main(
            "A:4x4 B:4x4 C:4",
            nest("i:4 j:4", block("B", "vi:4=i vj:4=j", "B[vi, vj] = A[vi, vj]")),
            nest("k:4", block("C", "vi:4=k", "C[vi] = A[vi, 0]")),
        ),
        lambda s: s.merge(at(s, "B", 1), at(s, "C")),
        "name loop i instead of j",
        lambda s: s.merge(at(s, "B"), at(s, "C")),
    ),
    Row(
        "merge: loops inside one another",
        main("A:4x4 B:4x4", nest("i:4 j:4", block("B", "vi:4=i vj:4=j", "B[vi, vj] = A[vi, vj]"))),
        lambda s: s.merge(*s.get_loops("B")),
        "fuse takes loops that are inside one another",
        lambda s: s.fuse(*s.get_loops("B")),
    ),
    Row(
        "merge: unequal lengths",
        main("A:30 B:8 C:30", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = A[vi]", 30)),
        lambda s: s.merge(at(s, "B"), at(s, "C")),
        "split loop i by [8, None] and merge its outer part",
        lambda s: s.merge(at(s, "B"), s.split(at(s, "C"), [8, None])[0]),
    ),
    Row(
        "merge: a number and a size",
        main(
            "A:n C:n b:n",
            nest("i:n", block("B", "vi:n=i", "b[vi] = A[vi]")),
            nest("i:(n_+_7)_//_8 j:8", block("C", "vi:n=i * 8 + j", "C[vi] = b[vi]", where="i * 8 + j < n")),
        ),
        lambda s: s.merge(at(s, "B"), at(s, "C")),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("B", at(s, "C")),
    ),
    Row(
        "merge: a dependence turned round by the order of the names",
        PAIR,
        lambda s: s.merge(at(s, "C"), at(s, "B")),
        "in the order in which they stand",
        lambda s: s.merge(at(s, "B"), at(s, "C")),
    ),
    Row(
        "merge: a dependence turned round",
        main("A:8 C:8 b:8", each("B", "b[vi] = A[vi]"), each("C", "C[vi] = b[7 - vi]")),
        lambda s: s.merge(at(s, "B"), at(s, "C")),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("B", at(s, "C")),
    ),
    Row(
        "merge: a reader in between, merged too",
        main("A:8 B:8 C:8 D:8", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]"), each("D", "D[vi] = B[vi]")),
        lambda s: s.merge(at(s, "B"), at(s, "D")),
        "merge the loops of what stands between",
        lambda s: s.merge(at(s, "B"), at(s, "C"), at(s, "D")),
    ),
    Row(
        "merge: a reader in between, inlined",
        main("A:8 B:8 D:8 c:8", each("B", "B[vi] = A[vi]"), each("c", "c[vi] = B[vi]"), each("D", "D[vi] = c[vi]")),
        lambda s: s.merge(at(s, "B"), at(s, "D")),
        "or inline it",
        lambda s: (s.compute_inline("c"), s.merge(at(s, "B"), at(s, "D"))),
    ),
    # --- pad_einsum
    Row(
        "pad_einsum: an iter that starts at 3",
        main("A:8 C:8", nest("i:5", block("C", "vi:(3,8)=i + 3", "C[vi] = A[vi]"))),
        lambda s: s.pad_einsum("C", [4]),
        "leave vi unpadded (padding 1)",
        lambda s: s.pad_einsum("C", [1]),
    ),
    Row(
        "pad_einsum: one buffer at two indices",
        main("A:7 C:7x7", nest("i:7 j:7", block("C", "vi:7=i vj:7=j", "C[vi, vj] = A[vi] * A[vj]"))),
        lambda s: s.pad_einsum("C", [4, 4]),
        "let one of the two read a copy of A",
        lambda s: s.pad_einsum("C", [4, 4]),
        main(
            "A:7 C:7x7 a:7",
            each("a", "a[vi] = A[vi]", 7),
            nest("i:7 j:7", block("C", "vi:7=i vj:7=j", "C[vi, vj] = A[vi] * a[vj]")),
        ),
    ),
    Row(
        "pad_einsum: an index that is no iter",
        main("A:8 C:7", nest("i:7", block("C", "vi:7=i", "C[vi] = A[vi + 1]"))),
        lambda s: s.pad_einsum("C", [4]),
        "reindex lets it access A",
        lambda s: (s.reindex("C", ("read", 0)), s.pad_einsum("C", [4])),
    ),
    Row(
        "pad_einsum: another block in the loop",
        main("A:7 C:7 b:7", nest("i:7", block("B", "vi:7=i", "b[vi] = A[vi]"), block("C", "vi:7=i", "C[vi] = b[vi]"))),
        lambda s: s.pad_einsum("C", [4]),
        "or inline that one",
        lambda s: (s.compute_inline("B"), s.pad_einsum("C", [4])),
    ),
    Row(
        "pad_einsum: a loop of two iters",
        main("A:7x7 C:7x7", nest("i:7 j:7", block("C", "vi:7=i vj:7=(i + j) % 7", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.pad_einsum("C", [4, 4]),
        "leave vi, vj unpadded (padding 1)",
        lambda s: s.pad_einsum("C", [1, 1]),
    ),
    Row(
        "pad_einsum: a loop shorter than its iter",
        shorter(9),
        lambda s: s.pad_einsum("C", [4]),
        "let the domain of vi end where the loop does",
        lambda s: s.pad_einsum("C", [4]),
        shorter(5),
    ),
    Row(
        "pad_einsum: a part of what is written",
        shorter(9),
        lambda s: s.reindex("C", ("write", 0)),
        'let block "C" write the rest, too',
        lambda s: s.reindex("C", ("write", 0)),
        shorter(5),
    ),
    Row(
        "compute_inline: an index that is loaded, of what is not laid out by its iters",
        main(
            "A:8 C:8 E:8 b:8",
            nest("i:4 j:2", block("B", "vo:4=i vj:2=j", "b[vo * 2 + vj] = A[vo * 2 + vj]")),
            each("C", "C[vi] = b[T.max(0, T.min(7, T.cast(E[vi], 'int32')))]"),
        ),
        lambda s: s.compute_inline("B"),
        'compute_at takes block "B" to its reader',
        lambda s: s.compute_at("B", at(s, "C")),
    ),
    Row(
        "compute_inline: an index that is loaded, in a condition",
        main(
            "A:8 C:8 E:8 b:8",
            each("B", "b[vi] = T.if_then_else(vi < 4, A[vi], T.float32(0))"),
            each("C", "C[vi] = b[T.max(0, T.min(7, T.cast(E[vi], 'int32')))]"),
        ),
        lambda s: s.compute_inline("B"),
        "compute_at takes the block to its reader",
        lambda s: s.compute_at("B", at(s, "C")),
    ),
    Row(
        "cache_read: writer and reader in two branches",
        BRANCHES,
        lambda s: s.cache_read("C", 0, "local"),
        "read_at copies what is there",
        lambda s: s.read_at(s.add_unit_loop("C"), "C", 0, "local"),
    ),
    Row(
        "cache_write: writer and reader in two branches",
        BRANCHES,
        lambda s: s.cache_write("B", 0, "local"),
        "write_at a loop around the writer alone",
        lambda s: s.write_at(s.add_unit_loop("B"), "B", 0, "local"),
    ),
    Row(
        "cache_read: a second reader in the other branch",
        main(
            "A:8 B:8 C:8 D:8",
            nest(
                "i:8",
                "    if A[0] > 0.0:",
                indented(block("B", "vi:8=i", "B[vi] = A[vi]")),
                indented(block("D", "vi:8=i", "D[vi] = B[vi]")),
                "    else:",
                indented(block("C", "vi:8=i", "C[vi] = B[vi]")),
            ),
        ),
        lambda s: s.cache_read("C", 0, "local"),
        "leave this reader out (consumer_blocks)",
        lambda s: s.cache_read("C", 0, "local", [s.get_block("D")]),
    ),
    Row(
        "cache_write: a reader ahead in the loop",
        main(
            "A:9 B:9 C:9", nest("i:8", block("C", "vi:8=i", "C[vi] = B[vi]"), block("B", "vi:8=i", "B[vi + 1] = A[vi]"))
        ),
        lambda s: s.cache_write("B", 0, "local"),
        "write_at a loop around the writer alone",
        lambda s: s.write_at(s.add_unit_loop("B"), "B", 0, "local"),
    ),
    Row(
        "decompose_padding: a call",
        main("A:8 C:10", each("C", "T.evaluate(T.call_extern('int32', 'f', vi)); " + PADDED.replace("b", "C"), 10)),
        lambda s: s.decompose_padding("C", at(s, "C")),
        "let it be one store",
        lambda s: s.decompose_padding("C", at(s, "C")),
        main("A:8 C:10", each("C", PADDED.replace("b", "C"), 10)),
    ),
    Row(
        "decompose_padding: a choice within a value",
        main("A:8 C:10", each("C", PADDED.replace("b", "C") + " + 1.0", 10)),
        lambda s: s.decompose_padding("C", at(s, "C")),
        "let a block of its own store what is padded",
        lambda s: s.decompose_padding("B", at(s, "B")),
        main("A:8 C:10 b:10", each("B", PADDED, 10), each("C", "C[vi] = b[vi] + 1.0", 10)),
    ),
    Row(
        "decompose_padding: a choice within a sum",
        main(
            "A:8 C:1",
            nest(
                "k:10",
                block(
                    "C", "vo:1=0 vk:10R=k", "C[vo] = C[vo] + T.if_then_else(vk < 8, A[vk], T.float32(0))", "C[vo] = 0.0"
                ),
            ),
        ),
        lambda s: s.decompose_padding("C", at(s, "C")),
        "let a block of its own store what is padded",
        lambda s: s.decompose_padding("B", at(s, "B")),
        main(
            "A:8 C:1 b:10",
            each("B", PADDED, 10),
            nest("k:10", block("C", "vo:1=0 vk:10R=k", "C[vo] = C[vo] + b[vk]", "C[vo] = 0.0")),
        ),
    ),
    Row(
        "decompose_reduction: a loop elsewhere",
        followed("D[vi] = c[vi] + B[vi]"),
        lambda s: s.decompose_reduction("C", at(s, "D")),
        "name one of its own loops",
        lambda s: s.decompose_reduction("C", at(s, "C")),
    ),
    Row(
        "blockize: a remainder of inner and outer loops",
        main("A:4x4 C:4x4", nest("i:4 j:4", block("C", "vi:4=j vj:4=(i + j) % 4", "C[vi, vj] = A[vi, vj]"))),
        lambda s: s.blockize(at(s, "C", 1)),
        "take a loop around all that it uses",
        lambda s: s.blockize(at(s, "C", 0)),
    ),
    Row(
        "fuse_reduction_epilogue: an index that is loaded",
        followed("D[vi] = c[T.max(0, T.min(7, T.cast(B[vi], 'int32')))]"),
        lambda s: s.fuse_reduction_epilogue("C", "D"),
        "compute_at or reverse_compute_at",
        lambda s: s.compute_at("C", at(s, "D")),
    ),
    Row(
        "parallel: a loop of a sum",
        followed("D[vi] = c[vi] + B[vi]"),
        lambda s: s.parallel(at(s, "C", 1)),
        "rfactor(k, 0)",
        lambda s: (s.rfactor(at(s, "C", 1), 0), s.parallel(at(s, "C_rf", 1))),
    ),
    Row(
        "parallel: a loop whose iterations meet",
        main("A:9 B:9", nest("i:8 j:2", block("B", "vi:8=i vj:2O=j", "B[vi] = A[vi + vj]"))),
        lambda s: s.parallel(at(s, "B", 1)),
        "take a loop whose iterations touch elements of their own",
        lambda s: s.parallel(at(s, "B", 0)),
    ),
    Row(
        "compute_at: an input of which a part was there before",
        main("A:8x2 B:8x2 C:8 b:8x2", nest("i:8", WRITTEN, PARTS.format("B[vi, vj]"), BOTH)),
        lambda s: s.compute_at("b", at(s, "C", 1)),
        "from a copy that a block makes first",
        lambda s: s.compute_at("b", at(s, "C", 1)),
        main(
            "A:8x2 B:8x2 C:8 b:8x2 o:8",
            each("o", "o[vi] = B[vi, 1]"),
            nest("i:8", WRITTEN, PARTS.format("T.if_then_else(vj < 1, B[vi, vj], o[vi])"), BOTH),
        ),
    ),
    Row(
        "get_block: an unknown name",
        PAIR,
        lambda s: s.get_block("Z"),
        'name one of them, "B" for instance',
        lambda s: s.get_block("B"),
    ),
    Row(
        "merge: loops with two ends",
        main("A:8x8 B:8x8 C:8x8", nest("i:8", cut("B", "T.min(6,_i_+_1)"), cut("C", "T.min(6,_i_+_1)"))),
        lambda s: s.merge(at(s, "B", 1), at(s, "C", 1)),
        "let it run to one of them",
        lambda s: s.merge(at(s, "B", 1), at(s, "C", 1)),
        main("A:8x8 B:8x8 C:8x8", nest("i:8", cut("B", "6", "j < i + 1"), cut("C", "6", "j < i + 1"))),
    ),
    Row(
        "compute_at: an input overwritten, the reader brought instead",
        OVERWRITTEN,
        lambda s: s.compute_at("B", at(s, "C")),
        'reverse_compute_at brings what reads block "B" to it',
        lambda s: s.reverse_compute_at("C", at(s, "B")),
    ),
    Row(
        "compute_at: a sum read half way",
        main(
            "A:8 C:8 p:8 t:1",
            nest(
                "k:8",
                block("S", "vo:1=0 vk:8R=k", "t[vo] = t[vo] + A[vk]", "t[vo] = 0.0"),
                block("P", "vk:8=k", "p[vk] = t[0]"),
            ),
            each("C", "C[vi] = p[vi]"),
        ),
        lambda s: s.compute_at("P", at(s, "C")),
        'reverse_compute_at brings what reads block "P" to it',
        lambda s: s.reverse_compute_at("C", at(s, "P")),
    ),
    Row(
        "decompose_padding: an end that depends on the sizes",
        main("A:m C:n", each("C", CUT_BY_SIZE, "n")),
        lambda s: s.decompose_padding("C", at(s, "C")),
        "T.assume at the top of the function",
        lambda s: s.decompose_padding("C", at(s, "C")),
        main("A:m C:n", "    T.assume(m < n)", each("C", CUT_BY_SIZE, "n")),
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_fix_works(row):
    sch = Schedule(parse(row.program))
    with pytest.raises(ScheduleError) as refusal:
        row.refused(sch)
    assert row.fix in refusal.value.fix, (refusal.value.reason, refusal.value.fix)
    assert len(refusal.value.fix) <= 110
    if row.instead:
        sch = Schedule(parse(row.instead))
    row.way(sch)
    assert sch.verify()
