"""Refuse arguments of the wrong kind."""

from __future__ import annotations

from tir_mlir.dialect.diagnostics.short_repr import short_repr


def check_type(value: object, kinds: type | tuple[type, ...], where: str, parameter: str, wanted: str) -> None:
    """Refuse an argument of the wrong kind. `wanted`: what is wanted, in words, and how to get it.

    Errors: TypeError.
    """
    if not isinstance(value, kinds):
        raise TypeError(f'In "{where}", "{parameter}" has wrong type. Expected {wanted}, but gets: {short_repr(value)}')
