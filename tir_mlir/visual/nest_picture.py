"""Draw the loop nest of a program as nested frames."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tir_mlir.visual import svg
from tir_mlir.visual.nest import BlockNode, BranchNode, FuncNode, LoopNode, NestNode
from tir_mlir.visual.svg import Picture

PAD = 8.0
GAP = 6.0
HEAD = 24.0
LINE = 16.0
BAR = 3.0
NEW, GONE, CHANGED, REFUSED = "new", "gone", "changed", "refused"
_LEAST = 20  # the minimum line width in characters, at any depth
_KINDS = ("serial", "parallel", "vectorized", "unrolled")

Runs = tuple[tuple[str, str], ...]  # pieces of a line: (text, style)


@dataclass
class _NestFrame:
    """A frame: a head, lines, inner frames; `end` is the right-aligned text of the head."""

    head: Runs
    style: str
    end: Runs = ()
    bar: str = ""
    mark: str = ""
    lines: list[Runs] = field(default_factory=list)
    inner: list[_NestFrame] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def height(self) -> float:
        body = LINE * len(self.lines) + (4 if self.lines else 0)
        body += sum(f.height + GAP for f in self.inner)
        return HEAD + body + (PAD - (GAP if self.inner else 2) if body else 0) + (GAP / 2 if self.inner else 0)

    @property
    def width(self) -> float:
        """The minimum width for its texts."""
        head = sum(_width(run) for run in self.head) + sum(_width(run) for run in self.end) + 2 * PAD + 16
        lines = [sum(_width(run) for run in line) + 2 * PAD for line in self.lines]
        return max([head, *lines, *(f.width + 2 * PAD for f in self.inner)])

    def render(self, x: float, y: float, width: float) -> str:
        parts = [svg.rectangle(x, y, width, self.height, f"{self.style} tir-{self.mark}".removesuffix(" tir-"), 5)]
        if self.bar:
            parts.append(svg.rectangle(x + 2, y + 5, BAR, HEAD - 9, self.bar, 1.5))
        parts.append(_runs(x + PAD + (2 if self.bar else 0), y + 16.5, self.head))
        parts.append(_runs(x + width - PAD - sum(_width(r) for r in self.end), y + 16.5, self.end))
        top = y + HEAD
        for line in self.lines:
            parts.append(_runs(x + PAD, top + 11, line))
            top += LINE
        top += 4 if self.lines else 0
        for frame in self.inner:
            parts.append(frame.render(x + PAD, top, width - 2 * PAD))
            top += frame.height + GAP
        return svg.group("".join(parts), attributes=self.attributes)


def draw(nests: Sequence[FuncNode], title: str, width: float = 560, marks: Mapping[int, str] | None = None) -> Picture:
    """Draw the loop nests of a module, one below the other.

    Lines wrap at about `width` px. `marks`: by id of a loop or block, `new`, `gone`, `changed` or `refused`, which sets
    the color and the label of its frame.
    """
    labels = marks or {}
    frames = [_frame(nest, labels, int((width - 2 * PAD) / svg.CHARACTER)) for nest in nests]
    widest = max([f.width for f in frames], default=120.0)
    parts, y = [], PAD
    for frame in frames:
        parts.append(frame.render(PAD, y, widest))
        y += frame.height + PAD
    return Picture("".join(parts), widest + 2 * PAD, y, title, "\n".join(_description(n) for n in nests))


def changes(old_nests: Sequence[FuncNode], new_nests: Sequence[FuncNode]) -> tuple[dict[int, str], dict[int, str]]:
    """The marks of the nests before a step (`gone`) and after it (`new`; `changed`: different parent, bound, kind,
    binding or region), by id."""
    old, new = _facts(old_nests), _facts(new_nests)
    gone = {number: GONE for number in old if number not in new}
    changed = {number: NEW if number not in old else CHANGED for number in new if old.get(number) != new[number]}
    return gone, changed


def _facts(nests: Sequence[FuncNode]) -> dict[int, object]:
    """By id, the contents of a frame and the id of its parent."""
    by_id: dict[int, object] = {}

    def look(node: NestNode, above: int) -> None:
        fields = {k: v for k, v in vars(node).items() if k != "children"}
        if node.id >= 0 and not isinstance(node, FuncNode):
            by_id[node.id] = (above, fields)
        for child in node.children:
            look(child, node.id if node.id >= 0 else above)

    for nest in nests:
        look(nest, -1)
    return by_id


# --- frames -----------------------------------------------------------------------------------------------------------


def _frame(node: NestNode, marks: Mapping[int, str], room: int) -> _NestFrame:
    frame = _node_frame(node, room)
    frame.mark = marks.get(node.id, "") if node.id >= 0 else ""
    if frame.mark:
        frame.end = ((f"{frame.mark} ", f"tir-{frame.mark}-text tir-small"), *frame.end)
    frame.inner = [_frame(child, marks, max(_LEAST, room - 2)) for child in node.children]
    return frame


def _node_frame(node: NestNode, room: int) -> _NestFrame:
    if isinstance(node, FuncNode):
        lines = [*_item_lines("", map(str, node.params), room), *_item_lines("alloc ", map(str, node.allocs), room)]
        return _NestFrame(((node.name, "tir-ink tir-strong"),), "tir-loop", lines=lines)
    if isinstance(node, LoopNode):
        return _loop(node, room)
    if isinstance(node, BlockNode):
        return _block(node, room)
    assert isinstance(node, BranchNode)
    return _NestFrame(((node.name, "tir-muted"),), "tir-loop")


def _loop(node: LoopNode, room: int) -> _NestFrame:
    kind = node.kind if node.kind in _KINDS else "thread"
    head = ((node.name, "tir-ink tir-strong"), (f"  {node.span}", "tir-ink"))
    end = () if kind == "serial" else ((node.kind, f"tir-{kind}"),)
    attributes = {"data-loop": str(node.id), "class": "tir-frame"}
    notes = _item_lines("", node.annotations, room)
    return _NestFrame(head, "tir-loop", end, f"tir-{kind}", lines=notes, attributes=attributes)


def _block(node: BlockNode, room: int) -> _NestFrame:
    lines: list[Runs] = []
    wide = max((len(it.name) for it in node.iters), default=0)
    for it in node.iters:
        lines += _wrap_text(f"{it.name:{wide}} ", f"= {it.binding}", "tir-ink", room, f"  {it.kind} {it.domain}")
    if node.where:
        lines += _wrap_text("where ", node.where, "tir-ink", room)
    lines += _item_lines("reads  ", node.reads, room, "tir-read") + _item_lines(
        "writes ", node.writes, room, "tir-write"
    )
    lines += _item_lines("alloc  ", map(str, node.allocs), room)
    lines += _item_lines("calls  ", node.calls, room, "tir-thread") + _item_lines("", node.annotations, room)
    end: Runs = (("init", "tir-muted"),) if node.has_init else ()
    attributes = {"data-block": str(node.id), "class": "tir-frame"}
    return _NestFrame(
        ((node.name or "block", "tir-ink tir-strong"),), "tir-block", end, lines=lines, attributes=attributes
    )


def _item_lines(word: str, items, room: int, style: str = "tir-muted") -> list[Runs]:
    """One line per item, with the word before the first one."""
    lines: list[Runs] = []
    for position, item in enumerate(items):
        lines += _wrap_text(word if not position else " " * len(word), item, style, room)
    return lines


def _wrap_text(word: str, content: str, style: str, room: int, end: str = "") -> list[Runs]:
    """`word content end`, wrapped with a hanging indent."""
    cut = _cut(content, max(_LEAST - 4, room - len(word)))
    lines: list[Runs] = [((word if not n else " " * len(word), "tir-muted"), (c, style)) for n, c in enumerate(cut)]
    if end and len(word) + len(cut[-1]) + len(end) <= room:
        lines[-1] = (*lines[-1], (end, "tir-muted"))
    elif end:
        lines.append(((" " * len(word) + end, "tir-muted"),))
    return lines


def _cut(content: str, room: int) -> list[str]:
    """Wrap a text after commas if that is enough, else at any space."""
    joined = re.sub(r"(?<!,) ", "\N{NO-BREAK SPACE}", content)
    lines = textwrap.wrap(joined, room, break_long_words=False, break_on_hyphens=False)
    if any(len(line) > room for line in lines):
        lines = textwrap.wrap(content, room, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines] or [""]


def _width(run: tuple[str, str]) -> float:
    return svg.width_of(run[0], "tir-small" in run[1])


def _runs(x: float, y: float, runs: Runs) -> str:
    parts = []
    for content, style in runs:
        if content.strip():
            lead = len(content) - len(content.lstrip())
            parts.append(svg.text(x + svg.width_of(content[:lead]), y, content.strip(), style))
        x += _width((content, style))
    return "".join(parts)


def _description(node: NestNode, depth: int = 0) -> str:
    """The nest as text, for screen readers."""
    word = {FuncNode: "function", LoopNode: "loop", BlockNode: "block"}.get(type(node), "")
    suffix = f" {node.span} {node.kind}" if isinstance(node, LoopNode) else ""
    lines = [f"{'  ' * depth}{word} {node.name}{suffix}".rstrip(), *(_description(c, depth + 1) for c in node.children)]
    return "\n".join(lines)
