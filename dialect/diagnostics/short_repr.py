"""A user's value in a message: its repr, abbreviated if long or deeply nested."""

from __future__ import annotations

from reprlib import Repr


class _Repr(Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = 120

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > 4096:  # Python refuses to write those out
            return f"an integer of {x.bit_length():,} bits"
        return super().repr_int(x, level)


short_repr = _Repr().repr
