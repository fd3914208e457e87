"""Run pieces of code in sequence in one namespace, like a notebook."""

from __future__ import annotations
import __future__

import linecache
import re
from typing import Any

_FUTURE = re.compile(r"^from __future__ import annotations[^\n]*\n", re.M)


class Notebook:
    """A namespace; the text of every cell is in linecache, where the parser looks it up."""

    def __init__(self, name: str):
        self.name = name
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self._flags = 0
        self._cells = 0

    def run(self, text: str, line: int = 1) -> None:
        """Run one cell. A `from __future__` import applies from this cell on, wherever it is in the cell."""
        if _FUTURE.search(text):
            self._flags |= __future__.annotations.compiler_flag
            text = _FUTURE.sub("\n", text)
        self._cells += 1
        filename = f"<{self.name}, cell {self._cells}, line {line}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        code = compile(text, filename, "exec", flags=self._flags, dont_inherit=True)
        exec(code, self.names)

    def __getitem__(self, name: str) -> Any:
        return self.names[name]
