"""Blocks that declare what they access, and access it through windows, are checked once in equal nests."""

import pytest
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.dialect.ir import Block, enter_context, ops
from tir_mlir.dialect.ir.op_views import AffineParallelOp
from tir_mlir.dialect.verify import rules
from tir_mlir.dialect.verify.body_keys import declared_body_key
from tir_mlir.errors import ScriptError

TILES = """
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range({tiles}):
        with T.block("tile"):
            vi = T.axis.spatial({tiles}, i)
            T.reads(A[vi * 4 : vi * 4 + {declared}])
            T.writes(B[vi * 4 : vi * 4 + 4])
            P = T.match_buffer(A[vi * 4 : vi * 4 + 4], (4,), offset_factor=4)
            Q = T.match_buffer(B[vi * 4 : vi * 4 + 4], (4,), offset_factor=4)
            for j in range(4):
                with T.block("one"):
                    vj = T.axis.spatial(4, j)
                    Q[vj] = {value}
"""
GIVEN = {"tiles": 15, "declared": 5, "value": "P[vj]"}


def key(source):
    """The key of the tile of a program."""
    module = parse(source).mlir
    with enter_context():
        blocks = [op for op in ops(module.operation) if op.name in AffineParallelOp.names]
        return declared_body_key(next(op for op in blocks if Block(op).name == "tile"))


def test_equal_tiles_have_equal_keys():
    source = TILES.format(**GIVEN)
    assert key(source) is not None and key(source) == key(source.replace("def main", "def other"))


@pytest.mark.parametrize(
    "other", [{"tiles": 14}, {"declared": 6}, {"value": "P[vj] + T.float32(1)"}, {"value": "P[3 - vj]"}]
)
def test_other_nests_regions_and_bodies_have_other_keys(other):
    assert key(TILES.format(**GIVEN | other)) != key(TILES.format(**GIVEN))


@pytest.mark.parametrize("source", [
    TILES.replace("A: T.Buffer((64,)", "n: T.int32, A: T.Buffer((n + 64,)"),
    TILES.replace("{value}", "A[vi * 4 + vj]"),
])  # fmt: skip
def test_what_depends_on_more_has_no_key(source):
    assert key(source.format(**GIVEN)) is None


OTHER = """
        for k in range(8):
            with T.block("other"):
                vi, vk = T.axis.remap("SS", [i, k])
                C[vi, vk] = T.float32(0)
"""


def test_a_step_beside_a_tile_asks_nothing_of_it_again(monkeypatch):
    regions, asked = rules.accessed_regions, []
    monkeypatch.setattr(rules, "accessed_regions", lambda block: asked.append(block.name) or regions(block))
    source = TILES.replace('"float32")):', '"float32"), C: T.Buffer((13, 8), "float32")):').rstrip() + OTHER
    sch = Schedule(parse(source.format(**GIVEN | {"tiles": 13})))
    asked.clear()
    sch.split(sch.get_loops("other")[1], [None, 4])
    assert asked == []


def test_a_smaller_region_is_refused_each_time():
    source = TILES.format(**GIVEN | {"declared": 3})
    for _ in range(2):
        with pytest.raises(ScriptError, match="is smaller than the region that the block accesses"):
            parse(source)
