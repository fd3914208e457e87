"""Odd index maps, as texts and as lambdas, over odd shapes."""

from __future__ import annotations

from random import Random
from typing import Any

from fuzzing.inputs import texts, values
from fuzzing.inputs.judging import Fault, described, seen, short, tried
from tir_mlir import IndexMap
from tir_mlir.dialect.diagnostics import NotAffine, NotProvable

TEXTS = (
    "lambda i, j: (j, i)", "lambda i, j: (i // 16, j // 16, i % 16, j % 16)", "lambda i: (i // 4, i % 4)",
    "lambda i, j: i * 16 + j", "lambda i, j, k: (k, [i, j])", "lambda i: i + 3", "lambda i, j: (i - j, j)",
    "lambda: 0", "lambda i: (i * 4 // 8, i % 2)",
)  # fmt: skip
ODD = (
    *texts.NUMBERS, "i", "j", "k", "lambda", "lambda i: i", "//", "%", "/", "**", "<<", "*", "(", ")", "[", "]", ",",
    ":", "i()", "i.x", "i[0]", "not", "if", "else", "and", "<", "==", "for", "*i", "**i", "=3", "None", "True",
    '"x"', "print(1)", ":=", "await", "_",
)  # fmt: skip
SHAPES: tuple[Any, ...] = (
    (16, 16), (4,), (8, 4, 2), (1, 1), (0, 3), ("n", 16), ("n", "m"), ("i", "j"), (-1, 4), (1 << 40, 2),
    (1 << 63, 1), (3.5, 2), ("n n", 2), ("", 1), ("1", 2), (None, 2), "ab", 3, None, ((1, 2), 3), (True, 2), [5, 7],
    (1,) * 9, (),
)  # fmt: skip


def case(random: Random) -> str:
    """Make an index map and query it with shapes."""
    if random.random() < 0.6:
        text = random.choice(TEXTS)
        if random.random() < 0.8:
            text = texts.mutated(random, text, ODD, most=2)
        shown, make = short(repr(text)), lambda: IndexMap.from_text(text)
    else:
        given = random.choice(values.LAMBDAS) if random.random() < 0.85 else values.value(random)
        ndim = random.choice((None, None, 1, 2, 3, 0, -1))
        inverse = random.choice((None, None, None, *values.LAMBDAS[:9]))
        shown, make = f"{seen(given, 200)}, {ndim}, {inverse}", lambda: IndexMap.from_func(given, ndim, inverse)
    word, found = tried(shown, make)
    if word != "accepted":
        return word
    text = seen(found, 5000)
    if len(text) < 5000 and text[0] != "<":
        word, again = tried(text, lambda: IndexMap.from_text(text))
        if word != "accepted" or again != IndexMap(found.names, found.terms):
            raise Fault(f"the map {text} parses back as {again}")
    return "accepted" if any([_asked(random, found) for _ in range(3)]) else "refused"


def _asked(random: Random, found: Any) -> bool:
    shape = random.choice(
        SHAPES if random.random() < 0.3 else [s for s in SHAPES[:8] if len(s) == len(found.names)] or SHAPES
    )
    ask = random.choice(("map_shape", "inverse", "non_surjective_inverse", "map_indices", "is_equivalent_to"))
    argument = found if ask == "is_equivalent_to" else shape
    word, answer = tried(f"{seen(found, 2000)}.{ask}({seen(argument, 200)})", lambda: getattr(found, ask)(argument))
    if isinstance(answer, (NotAffine, NotProvable)) and not str(answer):
        raise Fault(described(answer))
    return word == "accepted"
