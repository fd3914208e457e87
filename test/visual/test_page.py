"""The data of a history page for each step. Its behavior in a browser: `test_page_in_browser.py`."""

from __future__ import annotations

import html
import json
import re
from importlib import resources

import pytest

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.diagnostics.remarks import ASSERTED
from tir_mlir.visual.history_page import diff_lines


@pytest.fixture
def data(tmp_path):
    """Write the page of a schedule and read its data back."""

    def read(sch: Schedule, **options) -> dict:
        path = sch.history.html(tmp_path / "steps.html", **options)
        text = path.read_text(encoding="utf-8")
        assert "<!-- " not in text and not re.search(r"(src|href)=\"(?!data:|#)", text)  # nothing from elsewhere
        assert "default-src 'none'" in text
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
        assert found is not None
        return json.loads(found[1])

    return read


def program(page: dict, step: int) -> str:
    """The text of the program after a step."""
    lines = [page["lines"][n] for sign, n in page["steps"][step]["program"] if sign != "-"]
    return "\n".join(html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines)


def printed(module) -> str:
    text = module.script()
    return "\n".join(line.removeprefix("    ") for line in text.split("class Module:\n")[1].splitlines())


def test_steps_are_those_that_changed_the_program(tiled, data):
    page = data(tiled)
    changed = [e for e in tiled.history if e.changed]
    assert [s["call"] for s in page["steps"]] == ["the program as written", *(e.call for e in changed)]
    for place, entry in enumerate(changed, 1):
        assert program(page, place) == printed(entry.mod)
    step = page["steps"][1]
    assert step["kind"] == "step" and step["source"].startswith("conftest.py:")
    assert step["line"] == "i_0, i_1 = sch.split(i, [None, 16])" and step["number"] == changed[0].number
    assert (
        step["summary"] == "Split a loop into a nest of loops."
        and "the loop has one start and one end" in step["requires"]
    )
    assert "->" in step["rewrite"]
    assert step["facts"][0] == "`i` runs 64 times, and 4 * 16 = 64 covers it: no iteration is added"
    parallel = page["steps"][-2]
    (fact,) = parallel["facts"]
    assert fact.startswith("the iterations of `i_0` do not conflict in `C`: no two of them access an element")


def test_counts_and_tiles_of_a_step(tiled, data):
    step = data(tiled)["steps"][-1]
    row = {
        "func": "main",
        "buffer": "A",
        "scope": "global",
        "loads": f"{64**3:,}",
        "stores": "0",
        "calls": False,
        "loaded": 64**3,
    }
    assert step["counts"][0] == row
    (block,) = step["tiles"]["blocks"]
    assert [level["loop"] for level in block["levels"]] == ["", "i_0", "j_0", "k", "i_1", "j_1"]
    assert block["levels"][block["level"]]["loop"] == "j_1"  # what the step was about: vectorize(j_1)
    assert [len(level["pictures"]) for level in block["levels"]] == [3] * 6


def test_shared_pictures_are_there_once(tiled, data):
    page = data(tiled)
    assert len(page["pictures"]) == len(set(page["pictures"])) and len(page["lines"]) == len(set(page["lines"]))
    used = {s["nest"] for s in page["steps"]}
    used |= {p for chart in page["charts"] for p in chart["pictures"]}
    used |= {p for s in page["steps"] for b in s["tiles"]["blocks"] for lv in b["levels"] for p in lv["pictures"]}
    assert used == set(range(len(page["pictures"])))


def test_refused_and_chosen_steps(programs, data):
    sch = Schedule(programs["matmul"], seed=1)
    i, _, k = sch.get_loops("C")
    with pytest.raises(ScheduleError):
        sch.parallel(k)
    sch.split(i, sch.sample_perfect_tile(i, 2, decision=[4, 16]))
    with pytest.raises(ScheduleError):
        sch.get_block("D")
    steps = data(sch)["steps"]
    assert [s["kind"] for s in steps] == ["start", "refused", "choice", "step", "refused"]
    assert steps[1]["call"] == "parallel(loop=k)" and "two of its iterations depend on each other" in steps[1]["proof"]
    assert "C(i=0, j=0, k=0) and C(i=0, j=0, k=1)" in steps[1]["example"] and "rfactor" in steps[1]["fix"]
    assert "[4, 16]" in steps[2]["call"] and all(sign == " " for sign, _ in steps[4]["program"])


def test_the_culprit_of_a_refused_step_is_marked(programs, data):
    sch = Schedule(programs["matmul"])
    k = sch.get_loops("C")[2]
    with pytest.raises(ScheduleError):
        sch.parallel(k)
    page = data(sch)
    step = page["steps"][1]
    lines = [re.sub(r"<[^>]*>", "", page["lines"][n]).strip() for sign, n in step["program"] if sign == "!"]
    assert lines == ["for k in range(64):"] and "^^^" not in program(page, 1)
    nest = page["pictures"][step["nest"]]
    assert nest.count("tir-refused ") + nest.count('tir-refused"') == 1 and f'data-loop="{k.id}"' in nest


def test_a_history_records_refusals(programs):
    sch = Schedule(programs["matmul"])
    i, _, k = sch.get_loops("C")
    for _ in range(3):
        with pytest.raises(ScheduleError):
            sch.set_scope("D", 0, "shared")  # the look-up of the name fails, within the step
    assert [r.call for r in sch.history.refused] == ["get_block(name='D', func_name='main')"]  # once
    sch.parallel(i)
    assert not sch.can_parallel(k) and len(sch.history.refused) == 1  # a question is not a step
    with pytest.raises(ScheduleError):
        sch.parallel(k)
    first, second = sch.history.refused
    assert second.line == "sch.parallel(k)" and second.provable and first.after < second.after == len(sch.history)
    sch.undo()
    assert sch.history.refused == (first,)


def test_a_step_that_changes_the_result(programs):
    from tir_mlir.dialect.diagnostics import StepError

    sch = Schedule(programs["matmul"], verify="each step")
    sch.cache_read("C", 0, "local")
    with pytest.raises(StepError):
        sch.unsafe_set_dtype("A_local", 0, "float16")
    assert sch.history.refused[-1].reason.startswith("the step changes what the program computes")


def test_sizes(programs, data):
    sch = Schedule(programs["scaled"])
    sch.split(sch.get_loops("B")[0], [None, 16])
    step = data(sch)["steps"][-1]
    assert step["counts"][0]["loads"] == "64 * n"
    assert step["tiles"]["blocks"][0]["levels"][1]["note"] == "Drawn for n = 64."
    page = data(sch, sizes={"n": 100}, title="a < b")
    assert page["steps"][-1]["counts"][0]["loads"] == "6,400" and page["title"] == "a < b"
    with pytest.raises(ValueError, match="unknown shape variable 'm'; the program has n"):
        data(sch, sizes={"m": 4})


def test_a_schedule_without_steps(programs, data):
    page = data(Schedule(programs["deep"]))
    assert len(page["steps"]) == 1 and page["steps"][0]["kind"] == "start"


def test_the_page_knows_what_was_asserted():
    script = resources.files("tir_mlir.visual").joinpath("page.js").read_text(encoding="utf-8")
    assert f'const ASSERTED = "{ASSERTED}";' in script


def test_changed_words_are_marked():
    found = diff_lines(["for i in range(64):", "    x"], ["for i_0, i_1 in T.grid(4, 16):", "    x"])
    assert [sign for sign, _ in found] == ["-", "+", " "]
    assert "<mark>i</mark>" in found[0][1] and "<mark>64</mark>" not in found[1][1] and found[2][1] == "    x"
    same = diff_lines(["a = b < c"], ["a = b < c"])
    assert same == [(" ", "a = b &lt; c")]
    moved = diff_lines(["for i in range(4):", "    x = y"], ["for i in range(4):", "        x = y"])
    assert [sign for sign, _ in moved] == [" ", "-", "+"] and not any("<mark>" in text for _, text in moved)
    added = diff_lines(["one"], ["one", "quite another"])
    assert added == [(" ", "one"), ("+", "quite another")]


def test_each_step_is_measured_or_says_why_not(programs, data):
    sch = Schedule(programs["scaled"])
    i, j = sch.get_loops("B")
    sch.vectorize(j)
    sch.bind(i, "blockIdx.x")
    page = data(sch, measure=True, sizes={"n": 64})
    times = [step["time"] for step in page["steps"]]
    assert all("a run" in time["long"] and "GFLOP/s" in time["long"] for time in times) and "before" in times[1]["long"]
    assert page["charts"][0]["title"] == "GFLOP/s after each step" and "n = 64" in page["charts"][0]["note"]
    page = data(sch, measure="cuda", sizes={"n": 64})  # the first two have no kernels
    assert [bool(step["time"]["why"]) for step in page["steps"]] == [True, True, True] and len(page["charts"]) == 1
