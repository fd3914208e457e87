"""What a step proves, and what it takes from its caller: sentences about its own loops, blocks and buffers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ASSERTED = "not proved, the caller asserts it: "
"""The start of a sentence that no check has decided."""

_REMARKS: ContextVar[list[str] | None] = ContextVar("facts", default=None)


@contextmanager
def collect_remarks() -> Iterator[list[str]]:
    """Collect what is proved inside, in order."""
    facts: list[str] = []
    token = _REMARKS.set(facts)
    try:
        yield facts
    finally:
        _REMARKS.reset(token)


def emit_remark(fact: str) -> None:
    """A check has succeeded: what holds, with the names of this program. Once is enough."""
    facts = _REMARKS.get()
    if facts is not None and fact not in facts:
        facts.append(fact)


def emit_assertion(fact: str) -> None:
    """What the caller asserts, where no check decides it; pages show it apart from what is proved."""
    emit_remark(ASSERTED + fact)
