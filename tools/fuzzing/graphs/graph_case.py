"""One random graph: drawn operator by operator, built, run for several sizes, and compared with NumPy."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

import tir_mlir
from fuzzing.graphs.operators import ONE, TWO, Call, Operand
from fuzzing.graphs.rounding import FLOATS, INTEGERS, differs, drawn, passed, returned, rounded, shaken_bits
from fuzzing.kinds import Fault, Record
from fuzzing.tape import parts
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import GraphBuilder, Value

SIZES: tuple[int | str, ...] = ("n", "n", "m", 4, 4, 3, 1, 0, 17, 33)
VALUES = (0, 1, 2, 3, 5, 17, 40)
"""The sizes of named dimensions when a graph runs."""
LENGTH, RUNS, SHAKEN = 9, 3, 6
"""Operators of a graph; runs with other sizes; evaluations with other last bits, which tell how far a result may be
off."""
LARGEST = 1e4
"""A value above it is not computed with: float16 and sums in float32 would overflow."""


@dataclass
class Drawn:
    """A graph that is drawn: its values, the call that makes each, None for inputs, and the results."""

    builder: GraphBuilder = field(default_factory=GraphBuilder)
    values: list[Value] = field(default_factory=list)
    calls: list[Call | None] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def inputs(self) -> list[Value]:
        return [v for v, call in zip(self.values, self.calls, strict=True) if call is None]

    def operand(self, number: int) -> Operand:
        return Operand(number, self.values[number].dtype, self.values[number].shape)

    def evaluate(self, arrays: Sequence[np.ndarray], shaken: np.random.Generator | None = None) -> list[np.ndarray]:
        """The values for inputs; `shaken`: with the last bits of inexact results changed at random."""
        found: list[np.ndarray] = []
        given = iter(arrays)
        with np.errstate(all="ignore"):
            for value, call in zip(self.values, self.calls, strict=True):
                if call is None:
                    found.append(next(given))
                    continue
                operands = [found[n] for n in call.operands]
                if shaken is not None and call.adds:
                    operands = [shaken_bits(v, min(FLOATS.get(value.dtype, 53), 24) + 2, shaken) for v in operands]
                result = np.asarray(call.meaning(*operands))
                if shaken is not None and call.inexact:
                    result = shaken_bits(result, FLOATS.get(value.dtype, 53) - 1, shaken)
                found.append(rounded(result, value.dtype))
        return found


def case(random: Random) -> Record:
    """Draw, build and run a graph. Errors: Fault with the graph for a wrong result, or if it is not built."""
    graph, sizes = _drawn(random)
    text = ""
    try:
        built = graph.builder.finish()
        text = built.script()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = tir_mlir.build(built, threads=1, cache=False)
        for run in range(RUNS):
            if run:
                sizes = {name: random.choice(VALUES) for name in sizes}
            _compare(graph, model, sizes, random)
    except Exception as error:
        word = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        raise Fault(f"{word}\nsizes {sizes}\n{text}") from error
    return Record("compared", graph.counts, lambda: text)


def _drawn(random: Random) -> tuple[Drawn, dict[str, int]]:
    graph, sizes = Drawn(), {"n": random.choice(VALUES), "m": random.choice(VALUES)}
    dtype = random.choice([*FLOATS, *FLOATS, *INTEGERS])
    for number in range(random.choice([1, 2, 2, 3])):
        rank = random.choice([1, 2, 2, 3, 4])
        shape = [random.choice(SIZES) for _ in range(rank)]
        own = dtype if random.random() < 0.8 else random.choice([*FLOATS, *INTEGERS, "bool"])
        graph.values.append(graph.builder.input(f"x{number}", shape, own))
        graph.calls.append(None)
    arrays = _arrays(graph, sizes, random)
    for _ in parts(random, "operator", LENGTH):
        _add(graph, random, arrays)
    made = [n for n, call in enumerate(graph.calls) if call is not None] or [0]
    used = {n for call in graph.calls if call is not None for n in call.operands}
    graph.results = [n for n in made if n not in used][:4] or made[-1:]
    graph.builder.output(*(graph.values[n] for n in graph.results))
    return graph, sizes


def _add(graph: Drawn, random: Random, arrays: Sequence[np.ndarray]) -> None:
    """Add one operator, if it takes what is drawn for it."""
    usable = range(len(graph.values))
    x = graph.operand(random.choice([*usable, *usable[-3:]]))
    if random.random() < 0.55:
        call = random.choice(ONE)(random, x)
    else:
        alike = [n for n in usable if graph.values[n].dtype == x.dtype]
        call = random.choice(TWO)(random, x, graph.operand(random.choice(alike)))
    if call is None:
        return
    try:
        value = graph.builder.op(call.operator, *(graph.values[n] for n in call.operands), **call.attributes)
    except GraphError:
        graph.counts["graphs refuse", call.operator] += 1
        return
    graph.values.append(value)
    graph.calls.append(call)
    last = graph.evaluate(arrays)[-1]
    finite = np.abs(last[np.isfinite(last)]) if last.dtype.kind == "f" else np.abs(last.astype("float64"))
    if (finite.size and finite.max() > LARGEST) or last.size > 1 << 16:
        graph.values.pop()
        graph.calls.pop()
        return
    graph.counts["graphs apply", call.operator] += 1


def _arrays(graph: Drawn, sizes: dict[str, int], random: Random) -> list[np.ndarray]:
    return [drawn(random, tuple(sizes[n] if isinstance(n, str) else n for n in v.shape), v.dtype) for v in graph.inputs]


def _compare(graph: Drawn, model: object, sizes: dict[str, int], random: Random) -> None:
    arrays = _arrays(graph, sizes, random)
    given = [passed(a, v.dtype) for a, v in zip(arrays, graph.inputs, strict=True)]
    exact = graph.evaluate(arrays)
    if any(v.size > 1 << 18 for v in exact):
        return
    found = model(*given)  # type: ignore[operator]
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    rng = np.random.default_rng(0)
    others = [graph.evaluate(arrays, rng) for _ in range(SHAKEN)]
    for number, result in zip(graph.results, results, strict=True):
        dtype = graph.values[number].dtype
        ours = returned(np.asarray(result), dtype)
        assert ours.shape == exact[number].shape, f"result {number} has shape {ours.shape}, not {exact[number].shape}"
        if differs(ours, exact[number], [o[number] for o in others], dtype).any():
            others += [graph.evaluate(arrays, rng) for _ in range(40)]  # a step of a function may be near
            wrong = differs(ours, exact[number], [o[number] for o in others], dtype)
            at = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong))) if wrong.any() else None
            assert at is None, (
                f"result {number} of {dtype} differs: at {at} it is {np.atleast_1d(ours)[at]}, and NumPy has "
                f"{np.atleast_1d(exact[number])[at]}"
            )
