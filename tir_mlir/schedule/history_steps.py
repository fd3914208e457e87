"""Convert a history to the steps of its HTML page: without lookups, with refusals in order, with preconditions."""

from __future__ import annotations

from typing import Any

from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.history import Entry, History, Refusal
from tir_mlir.schedule.trace.instruction import handles_in
from tir_mlir.visual.page_step import PageStep

_REQUIRES = "Requires:"


def page_steps(history: History) -> list[PageStep]:
    """The initial program, each step that changed it or sampled a value, and each refusal."""
    first = history[0].before if history else history.start
    if first is None:
        raise ValueError("this history has no program; use sch.history")
    steps = [PageStep("start", "the program as written", before=first, after=first)]
    for place in range(len(history) + 1):
        steps += [_refused(r) for r in history.refused if r.after == place]
        if place < len(history) and (history[place].changed or history[place].decision is not None):
            steps.append(_done(history[place]))
    return steps


def _done(entry: Entry) -> PageStep:
    name = entry.instruction.name
    call = f"{entry.call} = {entry.decision!r}" if entry.decision is not None else entry.call
    handles = (*handles_in(entry.instruction.outputs), *handles_in(list(entry.instruction.arguments.values())))
    focus = tuple(dict.fromkeys(h.id for h in handles))
    facts = {"before": entry.before, "after": entry.after, "source": entry.source, "line": entry.line, "focus": focus}
    summary, rewrite, requires = described(name)
    if not entry.changed:
        return PageStep("choice", call, summary=summary, proof="The program is unchanged.", **facts)
    return PageStep("step", call, entry.number, entry.ms, summary, rewrite, _proof(requires), **facts)


def _refused(refusal: Refusal) -> PageStep:
    verdict = "refused" if refusal.provable else "not provable"
    name = refusal.call.partition("(")[0]
    summary, rewrite, _ = described(name) if name in PRIMITIVES else ("", "", "")
    facts: dict[str, Any] = {
        "before": refusal.version.shown(),
        "after": refusal.version.shown(),
        "source": refusal.source,
        "line": refusal.line,
    }
    texts = {"proof": refusal.reason, "example": refusal.example, "fix": refusal.fix}
    if refusal.culprit is not None:
        facts["focus"] = (refusal.culprit,)
    return PageStep(verdict, refusal.call, summary=summary, rewrite=rewrite, **texts, **facts)


def described(name: str) -> tuple[str, str, str]:
    """The summary, the before -> after rewrite and the preconditions of a primitive, from its docstring."""
    parts = PRIMITIVES[name].doc.split("\n\n")
    summary = " ".join(parts[0].split())
    rewrite = next((p for p in parts[1:] if _is_code(p)), "")
    requires = next((p for p in parts if _REQUIRES in p), "")
    return summary, _dedented(rewrite), " ".join(requires.partition(_REQUIRES)[2].partition("Errors:")[0].split())


def _is_code(paragraph: str) -> bool:
    return paragraph.startswith("    ")


def _dedented(paragraph: str) -> str:
    return "\n".join(line.removeprefix("    ") for line in paragraph.splitlines())


def _proof(requires: str) -> str:
    checked = f"Preconditions, all checked: {requires}" if requires else "The step has no preconditions."
    return f"{checked} The resulting program passed the verifier."
