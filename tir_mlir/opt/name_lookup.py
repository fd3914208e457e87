"""Lookup of loops and blocks by name: `i_0`, `matmul:i_0`, `#7`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Block, Func, Loop, View, funcs, is_block, is_init, is_loop, walk
from tir_mlir.opt.pipeline_text import suggestion
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule


class NotFound(TirError):
    """A name without a match, or with several; `culprit` is the function searched."""

    def __init__(self, message: str, culprit: Func | None = None):
        super().__init__(message)
        self.culprit = culprit


class HandleLookup:
    """Resolves names in the functions of a schedule."""

    def __init__(self, sch: Schedule, func_name: str | None):
        self.module: ir.Module = sch.mod.mlir
        self.functions = _functions(self.module, func_name)
        self.owner = sch.get_block("root", self.functions[0].name).owner

    def find(self, text: str, allowed: Sequence[type]) -> LoopHandle | BlockHandle:
        """The handle of a loop or block. Raises NotFound with the candidates."""
        wants_loop, wants_block = Loop in allowed, Block in allowed or Func in allowed
        candidates: list[View] = [Func(f.op) for f in self.functions if text == "root" and wants_block]
        if text.startswith("#"):
            candidates = self._by_id(text)
        elif ":" in text:
            block, _, loop = text.rpartition(":")
            owner = self._require_one(self._blocks(block), "block", block, self._all_blocks())
            candidates = [lp for lp in _enclosing_loops(owner.op) if lp.name == loop]
            return self._handle(
                self._require_one(candidates, "loop", loop, _enclosing_loops(owner.op), f' above block "{block}"')
            )
        else:
            candidates += self._blocks(text) if wants_block else []
            candidates += [lp for lp in self._all_loops() if _name(lp) == text] if wants_loop else []
        candidates = [v for v in candidates if isinstance(v, tuple(allowed))]
        word = " or ".join(w for w, is_allowed in (("block", wants_block), ("loop", wants_loop)) if is_allowed)
        choices = [*(self._all_blocks() if wants_block else []), *(self._all_loops() if wants_loop else [])]
        return self._handle(self._require_one(candidates, word, text, choices))

    def _handle(self, view: View) -> LoopHandle | BlockHandle:
        return (LoopHandle if isinstance(view, Loop) else BlockHandle)(view.id, self.owner)

    def _require_one(
        self, candidates: Sequence[View], word: str, text: str, choices: Sequence[View], where: str = ""
    ) -> View:
        function = self.functions[0]
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            raise NotFound(f"{text} is ambiguous: {', '.join(_describe_view(v) for v in candidates)}", function)
        scope = where or f" in {', '.join(f.name for f in self.functions)}"
        names = list(dict.fromkeys(_name(v) for v in choices))
        listed = ", ".join(names) or "none"
        raise NotFound(f"no {word} {text}{scope}{suggestion(text, names)} ({word}s there: {listed})", function)

    def _by_id(self, text: str) -> list[View]:
        op = walk.find(self.module, int(text[1:])) if text[1:].isdigit() else None
        if op is None:
            return []
        return [Loop(op) if is_loop(op) else Block(op) if is_block(op) else Func(op)]

    def _blocks(self, name: str) -> list[View]:
        return [b for b in self._all_blocks() if _name(b) == name]

    def _all_blocks(self) -> list[View]:
        return [Block(op) for f in self.functions for op in walk.ops(f.op, skip=is_init) if is_block(op)]

    def _all_loops(self) -> list[View]:
        return [Loop(op) for f in self.functions for op in walk.ops(f.op, skip=is_init) if is_loop(op)]


def _functions(module: ir.Module, name: str | None) -> list[Func]:
    """The named function, else `main`, else all."""
    every = funcs(module)
    if not every:
        raise NotFound("the module has no function with a body")
    chosen = [f for f in every if f.name == (name or "main")]
    if name is not None and not chosen:
        names = [f.name for f in every]
        raise NotFound(
            f"the module has no function {name}{suggestion(name, names)} (it has {', '.join(names)})", every[0]
        )
    return chosen or every


def _enclosing_loops(op: ir.Operation) -> list[Loop]:
    return [Loop(p) for p in walk.parents(op) if is_loop(p)][::-1]


def _name(view: Any) -> str:
    return view.name


def _describe_view(view: View) -> str:
    """`C:i (#3)`: a loop by the block under it."""
    if not isinstance(view, Loop):
        return f"block {_name(view)} (#{view.id})"
    below = walk.blocks_below(view.op)
    return f"{below[0].name}:{view.name} (#{view.id})" if below else f"{view.name} (#{view.id})"
