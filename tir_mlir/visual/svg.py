"""SVG text: shapes, and the Picture that notebooks display."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path

from tir_mlir.dialect.diagnostics import check_type
from tir_mlir.visual import palette

CHARACTER = 7.25  # width of a character at 12 px in the widest common monospaced font
SMALL = 10.5 / 12  # scale of the small text


class Picture:
    """A drawing. Notebooks display it; `.svg` is its text, `.save("nest.svg")` writes it to a file.

        picture = sch.plot()
        picture.save("nest.svg")

    `width` and `height` are in CSS pixels. The SVG is self-contained, without scripts, external
    fonts or images, and follows the system's color scheme.
    """

    def __init__(self, body: str, width: float, height: float, title: str, description: str = ""):
        for name, number in (("width", width), ("height", height)):
            check_type(number, Real, "Picture", name, "a number of pixels")
        self.body = body
        self.width, self.height = round(width, 1), round(height, 1)
        self.title, self.description = title, description

    @property
    def svg(self) -> str:
        """The drawing as SVG text."""
        surface = rectangle(0, 0, self.width, self.height, "tir-surface", radius=6)
        return self._svg_element(f"<style>{palette.standalone_style()}</style>{surface}{self.body}")

    @property
    def inline(self) -> str:
        """The drawing as SVG text without styles, for a page with the style sheet `palette.in_page()`."""
        return self._svg_element(self.body)

    def _svg_element(self, body: str) -> str:
        texts = f"<title>{escape_xml(self.title)}</title>"
        texts += f"<desc>{escape_xml(self.description)}</desc>" if self.description else ""
        size = f'width="{number(self.width)}" height="{number(self.height)}"'
        box = f'viewBox="0 0 {number(self.width)} {number(self.height)}"'
        label = f'role="img" aria-label="{escape_xml(self.title)}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" class="tir-picture" {size} {box} {label}>{texts}{body}</svg>'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the drawing to a file. Returns its path. Errors: ValueError for a name that does not end in .svg."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise ValueError(f"pictures are saved as SVG: use a file name that ends in .svg, not {target.name!r}")
        target.write_text(self.svg + "\n", encoding="utf-8")
        return target

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({self.title!r}, {number(self.width)} x {number(self.height)} px; .svg, .save(path))"


def combine_pictures(pictures: Sequence[Picture], title: str, gap: float = 24, columns: int | None = None) -> Picture:
    """Combine pictures into one, with `columns` in a row."""
    count = columns or max(1, len(pictures))
    parts, width, y = [], 0.0, 0.0
    for start in range(0, len(pictures), count):
        row = pictures[start : start + count]
        x = 0.0
        for picture in row:
            parts.append(group(picture.body, x=x, y=y))
            x += picture.width + gap
        width = max(width, x - gap)
        y += max(p.height for p in row) + gap
    description = "; ".join(p.description or p.title for p in pictures)
    return Picture("".join(parts), width, max(0.0, y - gap), title, description)


# --- shapes -----------------------------------------------------------------------------------------------------------


def escape_xml(text: str) -> str:
    """Escape text for XML content and attributes."""
    return html.escape(text, quote=True)


def number(value: float) -> str:
    """Format a coordinate, with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def width_of(text: str, small: bool = False) -> float:
    """The width of a text, in px."""
    return len(text) * CHARACTER * (SMALL if small else 1)


def rectangle(x: float, y: float, width: float, height: float, style: str, radius: float = 0) -> str:
    corner = f' rx="{number(radius)}"' if radius else ""
    geometry = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
    return f'<rect {geometry}{corner} class="{style}"/>'


def line(x1: float, y1: float, x2: float, y2: float, style: str = "tir-rule") -> str:
    ends = f'x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}"'
    return f'<line {ends} class="{style}"/>'


def polygon(points: Iterable[tuple[float, float]], style: str) -> str:
    return f'<polygon points="{_points(points)}" class="{style}"/>'


def polyline(points: Iterable[tuple[float, float]], style: str) -> str:
    return f'<polyline points="{_points(points)}" class="{style}"/>'


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def circle(x: float, y: float, radius: float, style: str) -> str:
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" class="{style}"/>'


def text(x: float, y: float, content: str, style: str = "tir-ink", anchor: str = "start", angle: float = 0) -> str:
    """A line of text with its baseline at `y`, rotated by `angle` degrees around its anchor."""
    where = f'x="{number(x)}" y="{number(y)}"'
    where += f' text-anchor="{anchor}"' if anchor != "start" else ""
    where += f' transform="rotate({number(angle)} {number(x)} {number(y)})"' if angle else ""
    return f'<text {where} class="{style}">{escape_xml(content)}</text>'


def titled_group(body: str, title: str, attributes: Mapping[str, str]) -> str:
    """A group of shapes with a text that is shown where the mouse is."""
    return group(f"<title>{escape_xml(title)}</title>{body}", attributes=attributes)


def group(body: str, x: float = 0, y: float = 0, attributes: Mapping[str, str] | None = None) -> str:
    """A group of shapes, translated."""
    moved = f' transform="translate({number(x)} {number(y)})"' if x or y else ""
    named = "".join(f' {key}="{escape_xml(value)}"' for key, value in (attributes or {}).items())
    return f"<g{moved}{named}>{body}</g>"
