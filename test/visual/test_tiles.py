"""The regions that a block accesses under a loop, counted by hand, and their drawing."""

from __future__ import annotations

import pytest
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.dialect.ir import enter_context
from tir_mlir.visual.accessed_regions import Motion, accessed_regions, enclosing_loops

SVG = "{http://www.w3.org/2000/svg}"


def answers(sch: Schedule, block: str, loop: str | None, **sizes: int):
    """By (kind, buffer), what a block touches in one iteration of a loop."""
    with enter_context():
        view = sch.executor.view(sch.get_block(block), sch.executor.version)
        around = next((lp for lp in enclosing_loops(view) if lp.name == loop), None)
        assert loop is None or around is not None
        return {(t.kind, t.buffer): t for t in accessed_regions(view, around, sizes)}


def test_tiles_of_a_tiled_product(tiled):
    found = answers(tiled, "C", "j_0")  # a tile of C, for all of k
    assert {key: (t.region, t.count) for key, t in found.items()} == {
        ("read", "A"): ("A[0:16, 0:64]", 16 * 64),
        ("read", "B"): ("B[0:64, 0:16]", 64 * 16),
        ("read", "C"): ("C[0:16, 0:16]", 256),
        ("write", "C"): ("C[0:16, 0:16]", 256),
    }
    assert found["read", "A"].sweep == ((0, 15), (0, 63))  # the same rows for every j_0
    assert found["read", "B"].sweep == ((0, 63), (0, 63))
    assert found["read", "B"].at == (("i_0", 0), ("j_0", 0)) and all(t.is_box and t.exact for t in found.values())
    assert answers(tiled, "C", "k")["read", "A"].region == "A[0:16, 0]"
    assert answers(tiled, "C", None)["read", "A"].count == 64 * 64


def test_regions_that_are_not_boxes(programs):
    found = answers(Schedule(programs["triangle"]), "B", None)
    assert {t.count for t in found.values()} == {8 * 9 // 2} and not any(t.is_box for t in found.values())
    points = {(r, c) for t in [found["write", "B"]] for box in t.tile for r in _span(box[0]) for c in _span(box[1])}
    assert points == {(r, c) for r in range(8) for c in range(r + 1)}


def _span(ends):
    return range(ends[0], ends[1] + 1)


def test_steps_leave_gaps(programs):
    sch = Schedule(programs["matmul"])
    i = sch.get_loops("C")[0]
    outer, inner = sch.split(i, [None, 16])
    sch.reorder(inner, outer)
    found = answers(sch, "C", "i_1")["read", "A"]  # rows 0, 16, 32, 48
    assert found.count == 4 * 64 and not found.is_box
    assert found.tile == tuple(((row, row), (0, 63)) for row in (0, 16, 32, 48))


def test_sizes(programs):
    sch = Schedule(programs["scaled"])
    sch.split(sch.get_loops("B")[0], [None, 16])
    found = answers(sch, "B", "i_0", n=100)["read", "A"]
    assert found.shape == (100, 64) and found.region == "A[0:16, 0:64]" and found.sweep == ((0, 99), (0, 63))
    assert answers(sch, "B", "i_0")["read", "A"].sizes == (("n", 64),)
    assert answers(sch, "B", None, n=5)["write", "B"].count == 5 * 64


def test_where_the_tile_is_drawn(tiled, parsed, shapes):
    root = parsed(tiled.plot_access("C", "A", tiled.get_loops("C")[0]))
    (box,), (tile,), (sweep,) = (shapes(root, name) for name in ("tir-block", "tir-tile", "tir-sweep"))
    side = float(box.get("width"))
    assert float(box.get("height")) == side  # a square
    assert float(tile.get("height")) == pytest.approx(side * 16 / 64) and float(tile.get("width")) == side
    assert float(sweep.get("height")) == side and "tir-read" in tile.get("class")
    words = [e.text for e in root.iter(SVG + "text")]
    assert words == ["A", "64 × 64", "reads A[0:16, 0:64]", "1,024 elements"]


def test_one_to_four_dimensions(programs, parsed, shapes):
    sch = Schedule(programs["deep"])
    i, j, _ = sch.get_loops("A")
    root = parsed(sch.plot_access("A", "B", i))
    tile = shapes(root, "tir-tile")[0]
    assert tile.tag == SVG + "rect" and float(tile.get("width")) == pytest.approx(168 * 64 / 512)
    root = parsed(sch.plot_access("A", "A", j))
    assert [e.tag for e in shapes(root, "tir-tile")] == [SVG + "polygon"] * 3  # the faces of a box
    words = [e.text for e in parsed(sch.plot_access("A", "D", j)).iter(SVG + "text")]
    assert "reads D[1, 0, 0, 0:64]" in words and "drawn: the last 3 dimensions" in words


def test_all_buffers_of_a_block(tiled, parsed):
    words = [e.text for e in parsed(tiled.plot_access("C")).iter(SVG + "text")]
    assert [w for w in words if w in "ABC"] == ["C", "A", "B"]  # in the order of the loads
    assert "reads and writes C[0:64, 0:64]" in words


def test_an_access_that_is_not_affine(parsed):

    look_up = program("N:4:int32 A:8 B:4", each("B:4", "B[vi] = A[N[vi]]"))
    sch = Schedule(look_up)
    found = answers(sch, "B", "i")["read", "A"]
    assert not found.exact and found.region == "A[0:8]"
    words = [e.text for e in parsed(sch.plot_access("B", "A", sch.get_loops("B")[0])).iter(SVG + "text")]
    assert "at most 8 elements" in words


def test_wrong_arguments(tiled, programs):
    with pytest.raises(ValueError, match="does not access a buffer 'D'; it accesses"):
        tiled.plot_access("C", "D")
    with pytest.raises(ValueError, match="unknown shape variable 'n'; the program has none"):
        tiled.plot_access("C", "A", sizes={"n": 4})
    sch = Schedule(programs["scaled"])
    copied = sch.cache_read("B", 0, "local")
    with pytest.raises(ValueError, match="loop i is not around block A_local"):
        sch.plot_access(copied, "A", sch.get_loops("B")[0])
    with pytest.raises(ValueError, match="the size n must be a nonnegative integer, not '4'"):
        sch.plot_access("B", "A", sizes={"n": "4"})
    steps = len(sch.history)
    sch.plot_access("B", "A_local")
    assert len(sch.history) == steps  # a look is not a step


def test_tiles_that_move_and_tiles_that_change(tiled, programs):
    """Where each iteration has its tile: a step that is proved for all iterations, or the shapes of some."""
    steps = {key[1]: tile.motion for key, tile in answers(tiled, "C", "i_0").items()}
    assert steps == {"C": Motion(0, 3, (16, 0)), "A": Motion(0, 3, (16, 0)), "B": Motion(0, 3, (0, 0))}
    assert answers(tiled, "C", "j_0")["read", "B"].motion == Motion(0, 3, (0, 16))
    rows = answers(Schedule(programs["triangle"]), "B", "i")["write", "B"].motion
    assert rows.step is None and [(n, tile.count) for n, tile in rows.shapes] == [(n, n + 1) for n in range(8)]
