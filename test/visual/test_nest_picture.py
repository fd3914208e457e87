"""The drawing of a loop nest: contents of the frames, and changes by a step."""

import itertools

import pytest

from tir_mlir import Schedule
from tir_mlir.examples.matmul import schedule_matmul

SVG = "{http://www.w3.org/2000/svg}"


def frames(root):
    """(x, y, width, height, depth) of each frame: how many frames lie around it."""
    found = [e for e in root.iter(SVG + "g") if e.get("class") == "tir-frame"]
    boxes = []
    for frame in found:
        rect = frame.find(SVG + "rect")
        boxes.append(tuple(float(rect.get(k)) for k in ("x", "y", "width", "height")))
    return found, boxes


def inside(inner, outer):
    return (
        inner[0] > outer[0]
        and inner[1] > outer[1]
        and inner[0] + inner[2] < outer[0] + outer[2]
        and inner[1] + inner[3] < outer[1] + outer[3]
    )


def test_loops_are_nested_frames(tiled, parsed, texts):
    root = parsed(tiled.plot())
    found, boxes = frames(root)
    loops = [f.get("data-loop") for f in found if f.get("data-loop")]
    assert len(loops) == 5 and len(found) == 6  # and the block
    for outer, inner in itertools.pairwise(boxes):
        assert inside(inner, outer)
    words = texts(root)
    assert [w for w in words if w in ("i_0", "j_0", "k", "i_1", "j_1")] == ["i_0", "j_0", "k", "i_1", "j_1"]
    assert [w for w in words if w in ("0..4", "0..64", "0..16")] == ["0..4", "0..4", "0..64", "0..16", "0..16"]
    assert [w for w in words if w in ("parallel", "vectorized", "serial")] == ["parallel", "vectorized"]


def test_a_block_shows_iters_and_regions(tiled, parsed, texts):
    words = texts(parsed(tiled.plot()))
    assert "= i_0 * 16 + i_1" in words and "S 0..64" in words and "R 0..64" in words and "init" in words
    assert words.index("A[vi, vk]") < words.index("B[vk, vj]") < words.index("C[vi, vj]")
    assert {"reads", "writes", "A 64 × 64 float32"} <= set(words)


def test_texts_stay_in_the_picture(parsed):
    picture = schedule_matmul(64, 64, 64).plot(width=340)
    root = parsed(picture)
    for e in root.iter(SVG + "text"):
        size = 10.5 if "tir-small" in (e.get("class") or "") else 12
        assert float(e.get("x")) + 0.602 * size * len(e.text) <= picture.width


def test_calls_guards_and_allocations(programs, parsed, texts):
    words = texts(parsed(schedule_matmul(64, 64, 64).plot(width=800)))
    assert "tmm16" in words and "A_global_A_reg 64 × 64 float32 in global.A_reg" in words
    sch = Schedule(programs["scaled"])
    sch.split(sch.get_loops("B")[0], [None, 16])
    words = texts(parsed(sch.plot()))
    assert "0..(n + 15) // 16" in words and "i_0 * 16 + i_1 < n" in words and "A n × 64 float32" in words


def test_names_are_those_of_the_printed_program():
    sch = schedule_matmul(64, 64, 64)
    text = sch.mod.script()
    for name in ("A_global_A_reg", "vy_o", "vx_i_init", "ax0"):
        assert name in text and name in sch.plot().svg


def test_a_step_before_and_after(tiled, parsed, texts, shapes):
    split = next(e for e in tiled.history if e.call.startswith("split"))
    root = parsed(tiled.plot(step=split.number))
    assert len(shapes(root, "tir-gone")) == 1  # i
    assert len(shapes(root, "tir-new")) == 2  # i_0, i_1
    words = texts(root)
    assert words.count("gone") == 1 and words.count("new") == 2
    parallel = next(e for e in tiled.history if e.call.startswith("parallel"))
    root = parsed(tiled.plot(step=parallel.number))
    assert not shapes(root, "tir-gone") and not shapes(root, "tir-new") and len(shapes(root, "tir-changed")) == 1


@pytest.mark.parametrize("step", [0, 99, True])
def test_a_step_that_is_not_there(tiled, step):
    with pytest.raises(ValueError, match="step must be from 1 to"):
        tiled.plot(step=step)


def test_save(tiled, tmp_path):
    picture = tiled.plot()
    path = picture.save(tmp_path / "nest.svg")
    assert path.read_text() == picture.svg + "\n" and picture._repr_svg_() == picture.svg
    with pytest.raises(ValueError, match=r"ends in .svg, not 'nest.png'"):
        picture.save(tmp_path / "nest.png")


def test_there_is_a_text_description(tiled, parsed):
    told = parsed(tiled.plot()).find(SVG + "desc").text
    assert told.splitlines()[0] == "function main" and "  loop i_0 0..4 parallel" in told.splitlines()
