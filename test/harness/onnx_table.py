"""The wide table: every operator of ONNX, its cases in every version and element type, ours against ONNX Runtime.

`PYTHONPATH=test python -m harness.onnx_table [operators] [models] [--jobs N]` prints what does not pass, and how many
cases do. Each case is run by a process that may die or hang: that is a verdict, too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from harness.onnx_cases import CASES, Case
from harness.onnx_models import MODELS, proto
from harness.onnx_operators import compared, onnx_runtime, report, schemas, tell, verdict
from harness.onnx_types import NUMPY, element_type, in_types
from harness.onnx_wide_cases import WIDE_CASES

from tir_mlir import onnx_backend
from tir_mlir.dialect.diagnostics import GraphError

SECONDS = 120
"""The longest that a case may take."""

MODEL = "model: "
Key = tuple[str, int, int, str]
"""A case: operator, opset, number, and "" or a type parameter with its type."""


def keys(names: list[str]) -> Iterator[Key]:
    """The cases of the tests in each version of the operator, and in other types in the newest; more in the newest."""
    for name, opsets in schemas().items():
        if names and name not in names:
            continue
        for number, case in enumerate(cases(name)):
            for opset in opsets:
                until = min((v for v in opsets if v > opset), default=10**6) - 1
                if case.since <= until and case.until >= opset and (in_all(name, number) or opset == opsets[-1]):
                    yield name, max(case.since, opset), number, ""
            newest = max(case.since, opsets[-1])
            for typed, *_ in in_types(name, case, newest) if in_all(name, number) and case.until >= opsets[-1] else ():
                yield name, newest, number, typed


def model_keys(names: list[str]) -> Iterator[Key]:
    """The models of several nodes, in the newest opset that ONNX Runtime has in full and in an old one."""
    for name, (text, inputs) in MODELS.items():
        for opset in (13, 17, 21) if not names or "models" in names else ():
            for number in range(len(inputs)):
                if not (opset < 17 and "SequenceMap" in text) and not (opset < 15 and "CastLike" in text):
                    yield MODEL + name, opset, number, ""


def judged_model(key: Key) -> tuple[str, str]:
    """The verdict of a model of several nodes, run by the interface of onnx.backend: sequences are its results, too."""
    name, opset, number, _ = key
    made, values = proto(name.removeprefix(MODEL), opset), MODELS[name.removeprefix(MODEL)][1][number]
    inputs = dict(zip((x.name for x in made.graph.input), values, strict=False))
    try:
        wanted = onnx_runtime(made, inputs)
    except Exception as error:
        return "no reference", f"{type(error).__name__}: {error}"
    try:
        ran = list(onnx_backend.run_model(made, inputs, threads=1, optimize="fast"))
    except GraphError as error:
        return "refused", str(error)
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {error}"
    flat = [[a for x in results for a in (x if isinstance(x, list) else [x])] for results in (ran, wanted)]
    return compared(*flat)


def cases(name: str) -> list[Case]:
    """The cases of an operator: those of the tests, then more."""
    return [*CASES.get(name, []), *WIDE_CASES.get(name, [])]


def in_all(name: str, number: int) -> bool:
    """Whether a case is run in all versions and types: those of the tests."""
    return number < len(CASES.get(name, []))


def judged(key: Key) -> tuple[str, str]:
    """The verdict of a case."""
    if key[0].startswith(MODEL):
        return judged_model(key)
    name, opset, number, typed = key
    case, casts, kind = cases(name)[number], (), 0
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


def verdicts(wanted: list[Key], jobs: int) -> Iterator[tuple[str, str]]:
    """The verdict of each case, in order, by several processes."""
    idle: queue.SimpleQueue[Judge] = queue.SimpleQueue()
    judges = [Judge() for _ in range(jobs)]
    for judge in judges:
        idle.put(judge)

    def one(key: Key) -> tuple[str, str]:
        judge = idle.get()
        try:
            return judge.verdict(key)
        finally:
            idle.put(judge)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, wanted)
    for judge in judges:
        judge.close()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", help="operators, or models; default: all")
    options.add_argument("--jobs", type=int, default=1)
    given = options.parse_args()
    wanted = [*keys(given.names), *model_keys(given.names)]
    tables: dict[str, Counter[str]] = {}
    for (name, opset, number, typed), (kind, why) in zip(wanted, verdicts(wanted, given.jobs), strict=True):
        tables.setdefault(name, Counter())[kind] += 1
        where = f"{name} opset {opset} case {number} {typed}".rstrip()
        tell(where, kind, why, silent=["no reference", "undefined"])
    report(tables)


if __name__ == "__main__":
    main()
