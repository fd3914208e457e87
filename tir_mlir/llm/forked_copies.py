"""Texts that are made side by side, by forked copies of this process, which have what it imported."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.runtime.tools.child_limits import die_with_parent
from tir_mlir.target.host import cores

Work = Callable[[], str]


def side_by_side(works: Sequence[Work]) -> list[str]:
    """The texts, in order: this process makes the first, and a copy for each further core one more at a time. Raises
    the first TirError. What a copy leaves out, because it ended early, is made here."""
    count = max(1, min(cores(), len(works)))
    copies = [_ForkedCopy(works[start::count]) for start in range(1, count)]
    own = [work() for work in works[::count]]
    shares = [own, *(copy.texts() for copy in copies)]
    return [shares[number % count][number // count] for number in range(len(works))]


class _ForkedCopy:
    def __init__(self, works: Sequence[Work]):
        self._works = works
        context = multiprocessing.get_context("fork")
        self._answers, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_answer, args=(works, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def texts(self) -> list[str]:
        """What the copy made. Raises TirError."""
        found: list[str] = []
        with self._answers:
            for work in self._works:
                try:
                    text = self._answers.recv()
                except EOFError:
                    text = work()
                if isinstance(text, TirError):
                    raise text
                found.append(text)
        self._process.join()
        return found


def _answer(works: Sequence[Work], answers: Connection) -> None:
    die_with_parent()
    for work in works:
        try:
            answers.send(work())
        except TirError as error:
            answers.send(error)
            return
