"""Text that is made when it is first read: printing a large program takes longer than refusing a step."""

from __future__ import annotations

from collections.abc import Callable


class LateText:
    """A text, as the function that makes it. `str()` calls it once and keeps the result."""

    def __init__(self, make: Callable[[], str]):
        self._make: Callable[[], str] | None = make
        self._text = ""

    def __str__(self) -> str:
        make = self._make
        if make is not None:
            self._text = make()
            self._make = None  # frees what the text was made of
        return self._text

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)
