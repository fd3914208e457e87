"""A user's value in a message, abbreviated if long or deeply nested; the refusal of one of the wrong kind."""

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


def check_type(value: object, kinds: type | tuple[type, ...], where: str, parameter: str, wanted: str) -> None:
    """Refuse an argument of the wrong kind. `wanted`: what is wanted, in words, and how to get it.

    Errors: TypeError.
    """
    if not isinstance(value, kinds):
        raise TypeError(f'In "{where}", "{parameter}" has wrong type. Expected {wanted}, but gets: {short_repr(value)}')
