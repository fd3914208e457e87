"""Draw tiles: the elements that a loop iteration accesses, to scale in the box of their buffer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from tir_mlir.visual import svg
from tir_mlir.visual.accessed_regions import AccessedRegion, Box, region_text
from tir_mlir.visual.svg import Picture

PAD = 10.0
LONGEST, SHORTEST = 168.0, 30.0  # sides of a buffer's box, in px
LEAST = 4.0  # the minimum size of a tile, in px
DEPTH = 0.42  # foreshortening of the third dimension
RANKS = 3  # the number of dimensions drawn: the last ones


def draw(regions: Sequence[AccessedRegion], moving: bool = False) -> list[Picture]:
    """One picture per buffer, with its read and its written elements.

    moving: with what the script of a page needs to show other iterations.
    """
    ordered = sorted(regions, key=lambda t: [u.buffer for u in regions].index(t.buffer))
    return [_buffer(list(group), moving) for _, group in groupby(ordered, key=lambda t: t.buffer)]


def _buffer(group: Sequence[AccessedRegion], moving: bool) -> Picture:
    first = group[0]
    rank = len(first.shape)
    shape = first.shape[-RANKS:] if rank > RANKS else first.shape
    canvas = _Box3D(shape) if len(shape) == RANKS else _Box2D(shape)
    shapes = [canvas.frame()]
    for touched in group:
        if touched.sweep != touched.hull:
            shapes.append(canvas.box(_cut(touched.sweep), f"tir-{touched.kind} tir-sweep"))
    for touched in group:
        shapes.append(_tile(canvas, touched, moving))
    lines = _captions(group, moving)
    top = PAD + 34
    title = f"{first.buffer} {' × '.join(map(str, first.shape)) or 'scalar'}"
    parts = [svg.text(PAD, PAD + 10, first.buffer, "tir-ink tir-strong")]
    sizes = " × ".join(map(str, first.shape)) or "scalar"
    parts.append(svg.text(PAD, PAD + 25, sizes, "tir-muted tir-small"))
    parts.append(svg.group("".join(shapes), x=PAD, y=top))
    bottom = top + canvas.height + 18
    for position, (words, style, attributes) in enumerate(lines):
        line = svg.text(PAD, bottom + 14 * position, words, style)
        parts.append(svg.group(line, attributes=attributes) if attributes else line)
    widths = [svg.width_of(first.buffer), svg.width_of(sizes, True), canvas.width]
    widths += [svg.width_of(words, True) for words, _, _ in lines]
    height = bottom + 14 * (len(lines) - 1) + PAD
    return Picture("".join(parts), max(widths) + 2 * PAD, height, title, description(group))


def _cut(box: Box) -> Box:
    return box[-RANKS:]


def _tile(canvas: _Box2D | _Box3D, touched: AccessedRegion, moving: bool) -> str:
    """The tile of the first iteration; if moving, also where it is in others."""

    def shape(boxes: Sequence[Box]) -> str:
        return "".join(canvas.box(_cut(box), f"tir-{touched.kind} tir-tile") for box in boxes)

    motion = touched.motion
    if not moving or motion is None or motion.first == motion.last:
        return shape(touched.tile)
    span = {"data-first": str(motion.first), "data-last": str(motion.last)}
    if motion.step is None:
        frames = [
            svg.group(shape(tile.boxes), attributes={"data-at": str(at)} | ({} if not n else {"display": "none"}))
            for n, (at, tile) in enumerate(motion.shapes)
        ]
        return svg.group("".join(frames), attributes=span)
    moves = motion.last - motion.first
    end = tuple((a + moves * by, b + moves * by) for (a, b), by in zip(touched.hull, motion.step, strict=True))
    (x, y), (last_x, last_y) = (canvas.corner(_cut(box)) for box in (touched.hull, end))
    by = {"data-x": svg.number(last_x - x), "data-y": svg.number(last_y - y)}
    return svg.group(shape(touched.tile), attributes=span | by)


def _caption_motion(touched: AccessedRegion, word: str, moving: bool) -> dict[str, str]:
    """What the caption of a region needs to follow the tile."""
    motion = touched.motion
    if not moving or motion is None or motion.first == motion.last:
        return {}
    named = {"data-words": f"{word} {touched.buffer}", "data-first": str(motion.first), "data-last": str(motion.last)}
    if motion.step is not None:
        return named | {"data-hull": json.dumps(touched.hull), "data-step": json.dumps(motion.step)}
    texts = {at: f"{word} {region_text(touched.buffer, tile.hull)}" for at, tile in motion.shapes}
    return named | {"data-texts": json.dumps(texts)}


Line = tuple[str, str, dict[str, str]]  # words, style, attributes for the script of a page


def _captions(group: Sequence[AccessedRegion], moving: bool) -> list[Line]:
    """The caption lines: each region and its number of elements."""
    lines: list[Line] = []
    same = len(group) == 2 and group[0].tile == group[1].tile
    for touched in group[:1] if same else group:
        word = "reads and writes" if same else f"{touched.kind}s"
        style = "tir-write" if same else f"tir-{touched.kind}"
        lines.append((f"{word} {touched.region}", f"{style} tir-small", _caption_motion(touched, word, moving)))
        lines.append((elements(touched), "tir-muted tir-small", {}))
    if len(group[0].shape) > RANKS:
        lines.append((f"drawn: the last {RANKS} dimensions", "tir-muted tir-small", {}))
    return lines


def elements(touched: AccessedRegion) -> str:
    """`256 elements`, qualified if the tile is not a full box or not exact."""
    count = f"{touched.count:,} element{'s' if touched.count != 1 else ''}"
    if not touched.exact:
        return f"at most {count}"
    return count if touched.is_box else f"{count} of the box"


def description(group: Sequence[AccessedRegion]) -> str:
    """The picture as text, for screen readers."""
    first = group[0]
    when = f"in one iteration of {first.loop}" if first.loop else "in the whole run"
    parts = [f"{touched.kind}s {touched.region}, {elements(touched)}" for touched in group]
    return f"block {first.block}, {when}: {'; '.join(parts)}"


# --- boxes of buffers -------------------------------------------------------------------------------------------------


class _Box2D:
    """One or two dimensions: a rectangle, rows from top to bottom."""

    def __init__(self, shape: Sequence[int]):
        self.rows, self.columns = (1, *shape)[-2:] if shape else (1, 1)
        self.flat = len(shape) < 2
        self.width, self.height = _sides(self.columns, self.rows)
        if self.flat:
            self.width, self.height = LONGEST, 22.0

    def frame(self) -> str:
        return svg.rectangle(0, 0, self.width, self.height, "tir-block")

    def box(self, box: Box, style: str) -> str:
        rows, columns = ((0, 0), *box)[-2:] if box else ((0, 0), (0, 0))
        x, w = _part(columns, self.columns, self.width)
        y, h = _part(rows, self.rows, self.height)
        return svg.rectangle(x, y, w, h, style)

    def corner(self, box: Box) -> tuple[float, float]:
        """The first corner of a box."""
        rows, columns = ((0, 0), *box)[-2:] if box else ((0, 0), (0, 0))
        return _part(columns, self.columns, self.width)[0], _part(rows, self.rows, self.height)[0]


class _Box3D:
    """Three dimensions: the last to the right, the second down, the first into the page."""

    def __init__(self, shape: Sequence[int]):
        self.shape = shape
        self.across, self.down = _sides(shape[2], shape[1])
        self.deep = max(SHORTEST, min(LONGEST, LONGEST * shape[0] / max(shape))) * DEPTH
        self.width, self.height = self.across + self.deep, self.down + self.deep

    def frame(self) -> str:
        return self._faces((0.0, self.deep), (0.0, self.down), (0.0, self.across), "tir-block")

    def box(self, box: Box, style: str) -> str:
        spans = []
        for span, extent, side in zip(box, self.shape, (self.deep, self.down, self.across), strict=True):
            low, length = _part(span, extent, side)
            spans.append((low, low + length))
        return self._faces(spans[0], spans[1], spans[2], style)

    def corner(self, box: Box) -> tuple[float, float]:
        """The first corner of a box."""
        sides = zip(box, self.shape, (self.deep, self.down, self.across), strict=True)
        deep, down, across = (_part(span, extent, side)[0] for span, extent, side in sides)
        return self._project(deep, down, across)

    def _project(self, deep: float, down: float, across: float) -> tuple[float, float]:
        return across + deep, down + self.deep - deep

    def _faces(
        self, deep: tuple[float, float], down: tuple[float, float], across: tuple[float, float], style: str
    ) -> str:
        """The front, the top and the right side of a box."""
        (d0, d1), (y0, y1), (x0, x1) = deep, down, across
        front_face = [self._project(d0, y, x) for y, x in ((y0, x0), (y0, x1), (y1, x1), (y1, x0))]
        top = [self._project(d, y0, x) for d, x in ((d0, x0), (d1, x0), (d1, x1), (d0, x1))]
        side = [self._project(d, y, x1) for d, y in ((d0, y0), (d1, y0), (d1, y1), (d0, y1))]
        return "".join(svg.polygon(face, style) for face in (front_face, top, side))


def _sides(across: int, down: int) -> tuple[float, float]:
    """The sides of a rectangle in px: to scale, with a minimum length."""
    longest = max(across, down, 1)
    return tuple(max(SHORTEST, LONGEST * side / longest) for side in (across, down))  # type: ignore[return-value]


def _part(span: tuple[int, int], extent: int, side: float) -> tuple[float, float]:
    """The start and length in px of a span of indices on a side, with a minimum length."""
    scale = side / max(extent, 1)
    length = max(LEAST, (span[1] - span[0] + 1) * scale)
    return min(span[0] * scale, side - length), length
