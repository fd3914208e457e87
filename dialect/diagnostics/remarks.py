"""What a step proves, and what it takes from its caller: sentences about its own loops, blocks and buffers."""

from __future__ import annotations

from contextvars import ContextVar

ASSERTED = "not proved, the caller asserts it: "
"""The start of a sentence that no check has decided."""

_REMARKS: ContextVar[list[str] | None] = ContextVar("facts", default=None)


def redirect_remarks(facts: list[str] | None) -> list[str] | None:
    """Add what is proved from now on to a list, in order; None: to no list. Returns the list of before."""
    before = _REMARKS.get()
    _REMARKS.set(facts)
    return before


def emit_remark(fact: str) -> None:
    """A check has succeeded: what holds, with the names of this program. Once is enough."""
    facts = _REMARKS.get()
    if facts is not None and fact not in facts:
        facts.append(fact)


def emit_assertion(fact: str) -> None:
    """What the caller asserts, where no check decides it; pages show it apart from what is proved."""
    emit_remark(ASSERTED + fact)
