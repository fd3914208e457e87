"""What became of the annotations of loops: a warning for each loop whose annotation lowering does not honor."""

from __future__ import annotations

from tir_mlir.dialect.ir import Loop, attrs, func_of
from tir_mlir.passes.lower.registry import location_text, warn

Key = tuple[int, str]
_HONORED = "tir.honored"
"""Attribute of a function during lowering: the ids of loops that earlier passes have replaced as asked."""


class Outcomes:
    """Why annotations are not honored, by loop. Lowering cuts loops into pieces: a loop is honored if one piece is."""

    def __init__(self) -> None:
        self._said: dict[Key, str] = {}

    @staticmethod
    def key(loop: Loop, text: str) -> Key:
        """The key of a loop, equal for its pieces; `text` says what happens if its annotation is not honored."""
        return loop.id, f"{location_text(loop.op)}: {text}"

    def add(self, key: Key, why: str) -> None:
        """Record why the annotation of one piece is not honored; empty if it is."""
        self._said[key] = why and self._said.get(key, why)

    def add_piece(self, loop: Loop, key: Key, why: str) -> None:
        """The same for a piece of a loop that an earlier pass may have honored in part."""
        self.add(key, "" if loop.id in attrs.get(func_of(loop.op).op, _HONORED, []) else why)

    def warn(self) -> None:
        """Warn about each loop without an honored piece."""
        for (_, text), why in self._said.items():
            if why:
                warn(f"{text}: {why}")


def set_honored(*loops: Loop) -> None:
    """Record, for later passes, that these loops are about to be replaced as their annotations ask."""
    func = func_of(loops[0].op).op
    attrs.put(func, _HONORED, sorted({*attrs.get(func, _HONORED, []), *(loop.id for loop in loops if loop.id >= 0)}))
