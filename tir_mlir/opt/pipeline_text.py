"""Parsing of pass pipelines, which may mix passes of this package and upstream passes.

builtin.module(tir-split{loop=i factors=4,32}, tir-lower, func.func(canonicalize,cse))
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.passes.linalg import CONVERSIONS
from tir_mlir.passes.lower import LOWERINGS, pipeline
from tir_mlir.passes.module_pass import ModulePass
from tir_mlir.passes.schedule import PRIMITIVES

LOWER_TO_LLVM = "tir-lower-to-llvm"
LOWER_TIR = "tir-lower"
TO_GPU = "tir-lower-gpu"
VERIFY = "tir-verify"
DRIVER_PASSES = {
    LOWER_TIR: "Lower TensorIR to affine, scf, memref, arith and vector (all tir-lower-* module passes in order)",
    TO_GPU: "Lower TensorIR to kernels of the gpu dialect, and functions that launch them (all its passes in order)",
    LOWER_TO_LLVM: "Lower TensorIR to the LLVM dialect (tir-lower, then upstream passes)",
    VERIFY: "Verify the rules of the TensorIR encoding",
}
GRAPH_PREFIX = "tir-graph-"
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_OPEN, _CLOSE = "([{", ")]}"
_ANY_ANCHOR = ("builtin.module", "any")


class PipelineError(TirError):
    """An invalid pipeline; has the position in the text."""

    def __init__(self, message: str, text: str, offset: int):
        super().__init__(message)
        self.text = text
        self.offset = offset


@dataclass(frozen=True)
class PassInstance:
    """A pass with its options.

    anchors: the ops that it is nested in.
    kind: primitive, module, driver or upstream.

    A pass of kind module is one of this package that rewrites a whole module.
    """

    kind: str
    name: str
    options: str
    anchors: tuple[str, ...]
    source: str
    offset: int

    @property
    def text(self) -> str:
        """The pass as an element of a pipeline."""
        text = f"{self.name}{{{self.options}}}" if self.options else self.name
        for anchor in reversed(self.anchors):
            text = f"{anchor}({text})"
        return text

    def error(self, message: str) -> PipelineError:
        return PipelineError(message, self.source, self.offset)


def parse(text: str) -> list[PassInstance]:
    """Parse a pipeline, with or without `builtin.module(...)`. Raises PipelineError."""
    scanner = _Scanner(text)
    steps = scanner.elements(())
    if scanner.remaining_text():
        raise scanner.error(f"unexpected {scanner.remaining_text()[0]!r}")
    return [expanded for step in steps for expanded in _expand_pass(step)]


def _expand_pass(step: PassInstance) -> list[PassInstance]:
    names = {LOWER_TIR: pipeline.MODULE_PASSES, TO_GPU: pipeline.GPU_PASSES}.get(step.name)
    if names is None:
        return [step]
    return [PassInstance("module", name, "", (), step.source, step.offset) for name in names]


def primitive_name(pass_name: str) -> str:
    """`tir-cache-read` -> `cache_read`."""
    return pass_name.removeprefix("tir-").replace("-", "_")


def pass_name(primitive: str) -> str:
    return "tir-" + primitive.replace("_", "-")


def module_passes() -> dict[str, ModulePass]:
    """The passes on programs other than schedule primitives, by name: linalg conversions and lowering."""
    return {**CONVERSIONS, **LOWERINGS}


def graph_passes() -> dict[str, ModulePass]:
    """The passes on graphs, by name; what they stand on is loaded at the first call."""
    return importlib.import_module("tir_mlir.opt.graph_passes").GRAPH_PASSES


def module_pass(name: str) -> ModulePass | None:
    """The pass of this package that rewrites a whole module, of this name."""
    return (graph_passes() if name.startswith(GRAPH_PREFIX) else module_passes()).get(name)


def our_passes() -> dict[str, str]:
    """All passes of this package, with the first sentence of their documentation."""
    steps = {
        pass_name(p.name): p.doc.split("\n\n")[0].replace("\n", " ").strip() for p in PRIMITIVES.values() if not p.pure
    }
    on_modules = {**module_passes(), **graph_passes()}
    return {**steps, **DRIVER_PASSES, **{name: pass_.help for name, pass_ in on_modules.items()}}


class _Scanner:
    def __init__(self, text: str):
        self.text = text
        self.at = 0

    def remaining_text(self) -> str:
        self.space()
        return self.text[self.at :]

    def space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def error(self, message: str, offset: int | None = None) -> PipelineError:
        return PipelineError(message, self.text, self.at if offset is None else offset)

    def elements(self, anchors: tuple[str, ...]) -> list[PassInstance]:
        """Comma-separated elements, up to a closing parenthesis or the end."""
        steps: list[PassInstance] = []
        while self.remaining_text() and not self.remaining_text().startswith(")"):
            steps += self.element(anchors)
            if not self.remaining_text().startswith(","):
                break
            self.at += 1
            if not self.remaining_text() or self.remaining_text().startswith(")"):
                raise self.error("expected a pass after the comma")
        return steps

    def element(self, anchors: tuple[str, ...]) -> list[PassInstance]:
        self.space()
        start = self.at
        match = _NAME.match(self.text, start)
        if match is None:
            raise self.error(f"expected the name of a pass, not {self.remaining_text()[:1]!r}")
        self.at = match.end()
        tail = self.remaining_text()
        if tail.startswith("("):
            return self.nested_passes(match.group(), anchors)
        options = self.group() if tail.startswith("{") else ""
        return [_step(match.group(), options, anchors, self.text, start)]

    def nested_passes(self, anchor: str, anchors: tuple[str, ...]) -> list[PassInstance]:
        """The passes inside `anchor(...)`."""
        self.at += 1
        inner = anchors if anchor in _ANY_ANCHOR and not anchors else (*anchors, anchor)
        steps = self.elements(inner)
        if not self.remaining_text().startswith(")"):
            is_open = f"the parenthesis of {anchor}( is not closed"
            raise self.error("expected a comma or )" if self.remaining_text() else is_open)
        self.at += 1
        return steps

    def group(self) -> str:
        """The text inside balanced braces; quoted braces are ignored."""
        start, depth, quote = self.at, 0, ""
        for offset in range(start, len(self.text)):
            char = self.text[offset]
            if quote:
                quote = "" if char == quote else quote
            elif char in "'\"":
                quote = char
            elif char in _OPEN:
                depth += 1
            elif char in _CLOSE:
                depth -= 1
                if depth == 0:
                    self.at = offset + 1
                    return self.text[start + 1 : offset].strip()
        raise self.error("the brace is not closed", start)


def _step(name: str, options: str, anchors: tuple[str, ...], text: str, offset: int) -> PassInstance:
    kind = _kind(name, text, offset)
    if kind != "upstream" and anchors:
        raise PipelineError(f"{name} works on a whole module: write it outside {anchors[-1]}(...)", text, offset)
    if kind == "driver" and options:
        raise PipelineError(f"{name} has no options", text, offset)
    return PassInstance(kind, name, options, anchors, text, offset)


def _kind(name: str, text: str, offset: int) -> str:
    if name in DRIVER_PASSES:
        return "driver"
    if module_pass(name) is not None:
        return "module"
    if not name.startswith("tir-"):
        return "upstream"
    primitive = PRIMITIVES.get(primitive_name(name))
    if primitive is not None and not primitive.pure:
        return "primitive"
    raise PipelineError(f"unknown pass {name}{suggestion(name, our_passes())}; --list-passes shows all", text, offset)


def suggestion(word: str, names: Sequence[str] | dict[str, str]) -> str:
    """`; did you mean ...?` if a known name is similar, else ""."""
    matches = difflib.get_close_matches(word, list(names), 1, 0.6)
    return f"; did you mean {matches[0]}?" if matches else ""
