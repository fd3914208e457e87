"""CSS of the drawings, light and dark: for stand-alone pictures and for pictures in a page."""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: dict[str, str] = {
    "surface": "#ffffff",
    "panel": "#f6f6f3",
    "ink": "#1f2328",
    "muted": "#626873",
    "line": "#d3d3cd",
    "parallel": "#1d5fd0",
    "vectorized": "#a14a08",
    "unrolled": "#6d3fc4",
    "thread": "#0b6e66",
    "read": "#1d5fd0",
    "write": "#b8410c",
    "new": "#17753a",
    "gone": "#b3261e",
    "changed": "#8a5a00",
}
DARK: dict[str, str] = {
    "surface": "#15171b",
    "panel": "#1d2026",
    "ink": "#e7e6e2",
    "muted": "#a0a5ae",
    "line": "#3d424b",
    "parallel": "#82aaff",
    "vectorized": "#e5ab63",
    "unrolled": "#c0a0ff",
    "thread": "#62c9bb",
    "read": "#82aaff",
    "write": "#f0956a",
    "new": "#7fd596",
    "gone": "#ff948b",
    "changed": "#dfb45c",
}
_LOOPS = ("parallel", "vectorized", "unrolled", "thread")
_MARKS = ("new", "gone", "changed")

SERIES = ("parallel", "write", "new", "unrolled", "thread", "changed", "gone", "muted")
"""The colors of the series of a chart, in order."""

# class of a shape: (property, color name), ...
RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "tir-surface": (("fill", "surface"),),
    "tir-loop": (("fill", "surface"), ("stroke", "line")),
    "tir-block": (("fill", "panel"), ("stroke", "line")),
    "tir-halo": (("stroke", "surface"),),
    "tir-rule": (("stroke", "line"),),
    "tir-serial": (("fill", "line"),),
    "tir-ink": (("fill", "ink"),),
    "tir-muted": (("fill", "muted"),),
    **{f"tir-{kind}": (("fill", kind),) for kind in (*_LOOPS, "read", "write")},
    **{f"tir-{mark}-text": (("fill", mark),) for mark in _MARKS},
    **{f"tir-{mark}": (("stroke", mark),) for mark in _MARKS},
    "tir-refused": (("stroke", "gone"),),
    "tir-refused-text": (("fill", "gone"),),
    **{f"tir-{kind}-line": (("stroke", kind),) for kind in ("read", "write")},
    **{f"tir-series-{n}": (("fill", color),) for n, color in enumerate(SERIES)},
    **{f"tir-series-{n}-line": (("stroke", color),) for n, color in enumerate(SERIES)},
}
# properties that do not depend on the theme
SHAPES = """
.tir-picture text { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", \
monospace; font-size: 12px; white-space: pre }
.tir-picture .tir-small { font-size: 10.5px }
.tir-picture .tir-strong { font-weight: 600 }
.tir-picture .tir-rule, .tir-picture .tir-read-line, .tir-picture .tir-write-line { fill: none }
.tir-picture .tir-roof { stroke-width: 1.8; fill: none }
.tir-picture .tir-halo { paint-order: stroke; stroke-width: 4px; stroke-linejoin: round }
.tir-picture .tir-gone { stroke-dasharray: 4 3 }
.tir-picture .tir-sweep { fill-opacity: .16 }
.tir-picture .tir-tile { fill-opacity: .72 }
"""


def series_of(number: int) -> str:
    """The class of the marks of a series."""
    return f"tir-series-{number % len(SERIES)}"


def line_of(number: int) -> str:
    """The class of the curve of a series."""
    return f"{series_of(number)}-line"


def standalone_style() -> str:
    """The style sheet of a stand-alone picture, which follows the system's color scheme.

    Without CSS variables, which many SVG viewers do not support.
    """
    return f"{SHAPES}{_rules(LIGHT)}@media (prefers-color-scheme: dark) {{\n{_rules(DARK)}}}\n"


def page_style() -> str:
    """The style sheet of pictures in a page, in terms of the CSS variables of `variables`."""
    return SHAPES + _rules({name: f"var(--{name})" for name in LIGHT})


def variables(colors: Mapping[str, str]) -> str:
    """The declarations `--ink: #1f2328; ...`."""
    return " ".join(f"--{name}: {color};" for name, color in colors.items())


def _rules(colors: Mapping[str, str]) -> str:
    lines = []
    for name, properties in RULES.items():
        body = "; ".join(f"{key}: {colors[color]}" for key, color in properties)
        lines.append(f".tir-picture .{name} {{ {body} }}\n")
    return "".join(lines)
