"""The error for pickling or copying compiled code."""

from __future__ import annotations

from typing import NoReturn


def refuse(code: object, protocol: object = None) -> NoReturn:
    """The `__reduce_ex__` of objects that own machine code. Raises TypeError."""
    raise TypeError(
        f"{type(code).__name__} is machine code in this process and cannot be pickled or copied. Pickle the schedule or"
        " the module and build it again there (the code is taken from the cache), or write a shared object:"
        ' lib.export("f.so")'
    )
