"""The wide table: every operator of ONNX, its cases in every version and element type, ours against ONNX Runtime.

`PYTHONPATH=test python -m harness.onnx_table [operators]` prints what does not pass, and how many cases do. Each case
is run by a process that may die or hang: that is a verdict, too.
"""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness.onnx_cases import CASES
from harness.onnx_operators import onnx_runtime, report, schemas, tell, verdict
from harness.onnx_types import NUMPY, element_type, in_types

SECONDS = 120
"""The longest that a case may take."""

Key = tuple[str, int, int, str]
"""A case: operator, opset, number, and "" or a type parameter with its type."""


def keys(names: list[str]) -> Iterator[Key]:
    """The cases as they are, in each version of the operator; then in other types, in the newest."""
    for name, opsets in schemas().items():
        if names and name not in names:
            continue
        for number, case in enumerate(CASES.get(name, [])):
            for opset in opsets:
                until = min((v for v in opsets if v > opset), default=10**6) - 1
                if case.since <= until and case.until >= opset:
                    yield name, max(case.since, opset), number, ""
            newest = max(case.since, opsets[-1])
            for typed, *_ in in_types(name, case, newest) if case.until >= opsets[-1] else ():
                yield name, newest, number, typed


def judged(key: Key) -> tuple[str, str]:
    """The verdict of a case."""
    name, opset, number, typed = key
    case, casts, kind = CASES[name][number], (), 0
    for text, converted, places in in_types(name, case, opset) if typed else ():
        if text == typed:
            case, dtype = converted, typed.partition("=")[2]
            small = dtype not in NUMPY
            casts, kind = (places, element_type(dtype)) if small else ((), 0)
    return verdict(name, case, opset, onnx_runtime, casts, kind)


def _serve(channel: Any) -> None:
    warnings.simplefilter("ignore")
    while (key := channel.recv()) is not None:
        channel.send(judged(key))


class Judge:
    """A process that judges cases; a new one after one that died."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.channel, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def verdict(self, key: Key) -> tuple[str, str]:
        """The verdict of a case; "crashed" where the process dies of it, or takes too long."""
        self.channel.send(key)
        try:
            if self.channel.poll(SECONDS):
                return self.channel.recv()
            why = f"no result in {SECONDS} s"
        except EOFError:
            why = "the process died"
        self.process.kill()
        self._start()
        return "crashed", why

    def close(self) -> None:
        """End the process."""
        self.channel.send(None)
        self.process.join()


def main() -> None:
    tables: dict[str, Counter[str]] = {}
    judge = Judge()
    for key in keys(sys.argv[1:]):
        name, opset, number, typed = key
        kind, why = judge.verdict(key)
        tables.setdefault(name, Counter())[kind] += 1
        tell(f"{name} opset {opset} case {number} {typed}".rstrip(), kind, why, silent=["no reference", "undefined"])
    judge.close()
    report(tables)


if __name__ == "__main__":
    main()
