"""A self-contained HTML page for stepping through a schedule, with the lines that each step changes."""

from __future__ import annotations

import html
import itertools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable, tokens
from tir_mlir.dialect.ir import (
    Block,
    Func,
    Loop,
    all_blocks,
    enter_context,
    freeze_modules,
    func_of,
    funcs,
    is_init,
    parents,
)
from tir_mlir.dialect.ir.op_views import AffineLoopOp, isa
from tir_mlir.script.display import truncate_lines
from tir_mlir.script.printer import script
from tir_mlir.visual import counts, nest_picture, sizes, step_charts, tiles
from tir_mlir.visual.accessed_regions import accessed_regions, enclosing_loops
from tir_mlir.visual.document import document, read
from tir_mlir.visual.nest import FuncNode, buffer_names, nests
from tir_mlir.visual.page_step import PageStep
from tir_mlir.visual.svg import Picture

NEST_WIDTH = 348.0  # fits on a phone
MOST_BLOCKS = 8  # the maximum number of blocks per step whose tiles are drawn
T = TypeVar("T")


def write(
    steps: Sequence[PageStep],
    path: str | os.PathLike[str],
    title: str | None = None,
    given: Mapping[str, int] | None = None,
) -> Path:
    """Write the page of some steps. Returns its path. Errors: ValueError for a name that is not a shape variable."""
    target = Path(path)
    target.write_text(page(steps, title, given), encoding="utf-8")
    return target


def page(steps: Sequence[PageStep], title: str | None = None, given: Mapping[str, int] | None = None) -> str:
    """The page as HTML text."""
    with enter_context():
        start = steps[0].after
        assert start is not None
        functions = funcs(start)
        sizes.check_names(given, functions)
        heading = title or f"{', '.join(f.name for f in functions) or 'a module'}, step by step"
        data = _PageData(given or {}).page_facts(steps, heading)
    plain = html.escape("\n".join(_program(steps[-1].after)))
    body = read("page.html").replace("<!-- plain -->", plain)
    return document(heading, body, "call", read("page.css"), read("page.js"), data)


def _mark_culprit(step: PageStep) -> list[tuple[str, str]]:
    """The program of a refused step, with the line of the culprit marked."""
    lines: list[tuple[str, str]] = []
    for text in _program(step.after, dict.fromkeys(step.focus, "here")):
        if text.strip() and not text.strip().removesuffix("# here").strip("^ "):  # underlines the previous line
            lines[-1] = (HERE, lines[-1][1])
        else:
            lines.append((SAME, text))
    return lines


def _program(module: ir.Module | None, mark: Mapping[int, str] | None = None) -> list[str]:
    """The printed functions of a program, without the class around them."""
    assert module is not None
    lines = truncate_lines(script(module, mark=mark)).splitlines()
    first = next((n for n, line in enumerate(lines) if line.startswith("class ")), -1)
    return [line.removeprefix("    ") for line in lines[first + 1 :]]


class _PageData:
    """The data for the script of the page. Lines and pictures shared by steps are stored once."""

    def __init__(self, fixed_sizes: Mapping[str, int]):
        self.given = fixed_sizes
        self.lines: dict[str, int] = {}
        self.pictures: dict[str, int] = {}
        self.known: dict[tuple[str, int], Any] = {}
        self.drawn: dict[tuple[Any, ...], list[dict[str, Any]]] = {}

    def page_facts(self, steps: Sequence[PageStep], title: str) -> dict[str, Any]:
        step_facts = [self.step(step) for step in steps]
        charts = self.charts(steps, step_facts)
        facts = {"title": title, "steps": step_facts, "lines": list(self.lines), "pictures": list(self.pictures)}
        return facts | {"sizes": dict(self.given), "charts": charts, "last": max(step.number for step in steps)}

    def step(self, step: PageStep) -> dict[str, Any]:
        assert step.before is not None and step.after is not None
        with freeze_modules():
            old_nests, new_nests = self.nests(step.before), self.nests(step.after)
            _, marks = nest_picture.changes(old_nests, new_nests)
            marks |= dict.fromkeys(step.focus, nest_picture.REFUSED) if step.is_refused else {}
            nest = nest_picture.draw(new_nests, f"loop nest after {step.call}", NEST_WIDTH, marks)
            facts: dict[str, Any] = {"nest": self.picture(nest), "program": self.program(step)}
            facts["tiles"] = self.tiles(step)
            facts["counts"] = self.get_cached("counts", step.after, self.counts)
        texts = ("kind", "name", "call", "number", "summary", "rewrite", "requires", "proof", "example", "fix", "line")
        facts |= {key: getattr(step, key) for key in texts} | {"facts": list(step.facts), "proves": step.proves}
        return facts | {"ms": round(step.ms, 1), "source": _short_location(step.source), "place": step.source}

    def get_cached(self, what: str, module: ir.Module, ask: Callable[[ir.Module], T]) -> T:
        """Cache a result for a module, as most modules belong to two adjacent steps."""
        if (what, id(module)) not in self.known:
            self.known[what, id(module)] = ask(module)
        return self.known[what, id(module)]

    def nests(self, module: ir.Module) -> list[FuncNode]:
        return self.get_cached("nests", module, nests)

    def program(self, step: PageStep) -> list[list[Any]]:
        """The lines of the diff, each as [sign, index of its text]."""
        assert step.before is not None and step.after is not None
        if step.is_refused:
            pairs = [(sign, line_html(text)) for sign, text in _mark_culprit(step)]
        else:
            pairs = diff_lines(*(self.get_cached("program", m, _program) for m in (step.before, step.after)))
        return [[sign, self.lines.setdefault(text, len(self.lines))] for sign, text in pairs]

    def charts(self, steps: Sequence[PageStep], facts: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The curves over the steps, each as a picture for phones and a wide one."""
        points = step_charts.points(steps)
        drawn = [step_charts.loads(points, [fact["counts"] for fact in facts])]
        if any(step.measured for step in steps):
            start = steps[0].after
            assert start is not None
            texts, timed = step_charts.times(points, steps, start)
            drawn.insert(0, timed)
            for fact, text in zip(facts, texts, strict=True):
                fact["time"] = text
        present = [chart for chart in drawn if chart is not None]
        return [{"title": c.title, "note": c.note, "pictures": [self.picture(p) for p in c.pictures]} for c in present]

    def picture(self, picture: Picture) -> int:
        return self.pictures.setdefault(picture.inline, len(self.pictures))

    def counts(self, module: ir.Module) -> list[dict[str, Any]]:
        rows = []
        for func in funcs(module):
            for traffic in counts.traffic(func, self.given):
                texts = {"loads": str(traffic.loads), "stores": str(traffic.stores), "loaded": traffic.loads.value}
                by_calls = traffic.loads.by_calls or traffic.stores.by_calls
                rows.append(
                    {"func": func.name, "buffer": traffic.buffer, "scope": traffic.scope, "calls": by_calls} | texts
                )
        return rows

    # --- tiles ----------------------------------------------------------------------------------------------------

    def tiles(self, step: PageStep) -> dict[str, Any]:
        """By block, then by enclosing loop: the pictures of the buffers that the block accesses."""
        assert step.after is not None
        leaves = [b for func in funcs(step.after) for b in _leaves(func)]
        focus = next((n for number in step.focus for n, b in enumerate(leaves) if number in _ids(b)), 0)
        first = max(0, min(focus, len(leaves) - MOST_BLOCKS))
        blocks = leaves[first : first + MOST_BLOCKS]
        facts = {"blocks": [self.block(b, step.focus) for b in blocks], "focus": focus - first}
        return facts | {"more": len(leaves) - len(blocks)}

    def block(self, block: Block, focus: Sequence[int]) -> dict[str, Any]:
        loops = enclosing_loops(block)
        nest = parents(block.op)[-2] if len(parents(block.op)) > 1 else block.op
        names = tuple(buffer_names(func_of(block.op)).values())
        key = block.id, names, str(nest)  # most nests are unchanged by most steps
        if key not in self.drawn:
            self.drawn[key] = [self.level(block, loop) for loop in (None, *loops)]
        levels = self.drawn[key]
        return {"name": block.name, "id": block.id, "levels": levels, "level": _level(loops, focus)}

    def level(self, block: Block, loop: Loop | None) -> dict[str, Any]:
        facts = {"loop": "" if loop is None else loop.name, "id": -1 if loop is None else loop.id}
        try:
            regions = accessed_regions(block, loop, self.given)
        except NotProvable as error:
            return facts | {"pictures": [], "note": str(error), "at": ""}
        drawn = [self.picture(p) for p in tiles.draw(regions, moving=True)]
        at = regions[0].at if regions else ()
        moves = [t.motion for t in regions if t.motion is not None]
        if moves:
            facts |= {"first": min(m.first for m in moves), "last": max(m.last for m in moves)}
        iteration = ", ".join(f"{name} = {value}" for name, value in (at[:-1] if moves else at))
        chosen = regions[0].sizes if regions else ()
        note = f"Drawn for {', '.join(f'{n} = {v}' for n, v in chosen)}." if chosen else ""
        return facts | {"pictures": drawn, "note": note, "at": iteration}


def _leaves(func: Func) -> list[Block]:
    """The leaf blocks, without inits."""
    blocks = [b for b in all_blocks(func.op) if not any(is_init(p) for p in parents(b.op))]
    return [b for b in blocks if not any(b.op in parents(inner.op) for inner in blocks)]


def _ids(block: Block) -> list[int]:
    """The ids of a block and of the blocks and loops around it."""
    return [block.id, *(Block(p).id for p in parents(block.op) if isa(p, AffineLoopOp))]


def _level(loops: Sequence[Loop], focus: Sequence[int]) -> int:
    """The initially selected loop around a block (0: none): one in the focus of the step, else the middle one."""
    focused = [n for n, loop in enumerate(loops, 1) if loop.id in focus]
    if 0 < len(focused) <= 2:
        return focused[0]
    if focused:
        return focused[len(focused) // 2 - 1]
    return (len(loops) + 1) // 2


def _short_location(source: str) -> str:
    """`matmul.py:96` for a long path; `notebook cell:3` for the temporary file of a notebook cell."""
    *folders, name = source.replace("\\", "/").split("/")
    of_notebook = bool(folders) and folders[-1].startswith("ipykernel_")
    return f"notebook cell:{name.rpartition(':')[2]}" if of_notebook else name


# --- diff of two programs as HTML lines, with changed words highlighted -----------------------------------------------


SAME, GONE, NEW, HERE = " ", "-", "+", "!"
_WORD = re.compile(r"\w+|\s+|.")
_ALIKE = 0.55  # minimum similarity of two lines for a diff by words

Ranges = Sequence[tuple[int, int]]


def diff_lines(old_lines: Sequence[str], new_lines: Sequence[str]) -> list[tuple[str, str]]:
    """The lines of the diff in order, each as (sign, HTML)."""
    lines: list[tuple[str, str]] = []
    for tag, i0, i1, j0, j1 in SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [(SAME, line_html(text)) for text in new_lines[j0:j1]]
            continue
        old, new = old_lines[i0:i1], new_lines[j0:j1]
        marks = _marks(old, new)
        lines += [(GONE, line_html(text, marks[0].get(n, ()))) for n, text in enumerate(old)]
        lines += [(NEW, line_html(text, marks[1].get(n, ()))) for n, text in enumerate(new)]
    return lines


def _marks(old: Sequence[str], new: Sequence[str]) -> tuple[dict[int, Ranges], dict[int, Ranges]]:
    """Pair similar lines; the ranges of their changed words, by line number."""
    gone: dict[int, Ranges] = {}
    added: dict[int, Ranges] = {}
    start = 0
    for n, text in enumerate(old):
        scores = [(SequenceMatcher(None, text, candidate).ratio(), m) for m, candidate in enumerate(new) if m >= start]
        score, m = max(scores, key=lambda s: (s[0], -s[1]), default=(0.0, -1))
        if score >= _ALIKE:
            gone[n], added[m] = _changed_words(text, new[m])
            start = m + 1
    return gone, added


def _changed_words(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The ranges where the words of two lines differ, ignoring indentation."""
    old_words, new_words = _WORD.findall(old.lstrip()), _WORD.findall(new.lstrip())
    shifts = len(old) - len(old.lstrip()), len(new) - len(new.lstrip())
    gone, added = [], []
    for tag, i0, i1, j0, j1 in SequenceMatcher(None, old_words, new_words, autojunk=False).get_opcodes():
        if tag != "equal":
            gone.append((shifts[0] + len("".join(old_words[:i0])), shifts[0] + len("".join(old_words[:i1]))))
            added.append((shifts[1] + len("".join(new_words[:j0])), shifts[1] + len("".join(new_words[:j1]))))
    return gone, added


def line_html(text: str, marked: Ranges = ()) -> str:
    """A program line as HTML: a span per token, `<mark>` around marked ranges."""
    parts, column = [], 0
    for kind, part in tokens(text):
        for piece, is_marked in _pieces(part, column, marked):
            markup = html.escape(piece, quote=False)
            markup = f"<mark>{markup}</mark>" if is_marked else markup
            parts.append(f'<span class="{kind}">{markup}</span>' if kind else markup)
        column += len(part)
    return "".join(parts)


def _pieces(part: str, column: int, marked: Ranges) -> Iterator[tuple[str, bool]]:
    """Cut a part of a line, which starts at column `column`, at the ends of marked ranges."""
    cuts = sorted(
        {column, column + len(part), *(c for span in marked for c in span if column < c < column + len(part))}
    )
    for low, high in itertools.pairwise(cuts):
        yield part[low - column : high - column], any(start <= low and high <= end for start, end in marked)
