"""`T.macro` for pyright, see the file of this name beside `tir.py`."""

from collections.abc import Callable
from typing import Any

def no_type_check(func: Callable[..., Any] = ..., /, *, hygienic: bool = True) -> Any:
    """A function of statements that a program calls; its body is inlined at the call.

        @T.macro
        def scale(A, B, i, j, factor): ...

    hygienic: names mean what they mean where the macro is defined; else names that it does not define are those of the
    caller.
    """
