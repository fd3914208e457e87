"""Tensor expressions of mismatched operands, and prim_funcs made of them."""

from __future__ import annotations

import operator
from random import Random
from typing import Any

from fuzzing.inputs import values
from fuzzing.inputs.judging import Fault, described, seen, tried
from tir_mlir import te
from tir_mlir.dialect.diagnostics import ScriptError

OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "neg",
    "lt",
    "eq",
    "and_",
    "lshift",
    "invert",
    "matmul",
    "getitem",
)
WORDS = sorted(n for n in te.__all__ if n[0].islower() and n not in ("comm_reducer", "create_prim_func"))
DTYPES = (
    "float32",
    "float32",
    "float32",
    "int32",
    "int8",
    "float16",
    "bool",
    "int64",
    "uint8",
    "float31",
    "",
    None,
    3,
    "handle",
    "bfloat16",
)
EXTENTS: tuple[Any, ...] = (4, 4, 4, 8, 1, 0, -1, 1 << 31, 1 << 63, 2.5, None, "n", True, (4,))
NAMES = ("A", "B", "C", "i", "T", "", "a b", "é", "for", "main", "n", "x" * 3000, None, 3)


class Making:
    """Builds expressions over earlier ones."""

    def __init__(self, random: Random):
        self.random = random
        self.sizes: list[Any] = [te.var("n")] if random.random() < 0.4 else []
        self.tensors: list[Any] = []
        self.axes: list[Any] = []
        self.said: list[str] = []

    def shape(self) -> Any:
        random = self.random
        if random.random() < 0.04:
            return values.value(random)
        return tuple(self.extent() for _ in range(random.choice((1, 2, 2, 3))))

    def extent(self) -> Any:
        random = self.random
        if self.sizes and random.random() < 0.2:
            return random.choice(self.sizes)
        return random.choice(EXTENTS[:4] if random.random() < 0.85 else EXTENTS)

    def dtype(self) -> Any:
        return self.random.choice(DTYPES if self.random.random() < 0.2 else DTYPES[:4])

    def name(self) -> Any:
        return f"t{len(self.said)}" if self.random.random() < 0.9 else self.random.choice(NAMES)

    def add(self) -> None:
        """Add a tensor, axis or size."""
        random = self.random
        match random.randrange(5):
            case 0 | 1:
                shape, dtype, name = self.shape(), self.dtype(), self.name()
                self.said.append(f"te.placeholder({seen(shape)}, {dtype!r}, {seen(name, 50)})")
                self.tensors.append(te.placeholder(shape, dtype, name))
            case 2:
                dom = (0, random.choice(EXTENTS)) if random.random() < 0.9 else values.value(random)
                self.said.append(f"te.reduce_axis({seen(dom)})")
                self.axes.append(te.reduce_axis(dom, self.name()))
            case _:
                shape, name, seed = self.shape(), self.name(), random.getrandbits(40)
                self.said.append(f"te.compute({seen(shape)}, {seed})")
                body = (
                    self.body(seed)
                    if random.random() < 0.93
                    else random.choice((*values.LAMBDAS, values.plain(random)))
                )
                made = te.compute(shape, body, name=name)
                self.tensors += made if isinstance(made, (list, tuple)) else [made]

    def body(self, seed: int) -> Any:
        """Return a function of indices; every call builds the same expression."""

        def body(*indices: Any) -> Any:
            inner = Making(Random(seed))
            inner.tensors, inner.axes, inner.sizes = list(self.tensors), list(self.axes), list(self.sizes)
            return inner.expression(list(indices), 3)

        return body

    def expression(self, indices: list[Any], depth: int) -> Any:
        random = self.random
        if depth == 0 or random.random() < 0.25:
            return self.leaf(indices)
        a, b = self.expression(indices, depth - 1), self.expression(indices, depth - 1)
        match random.randrange(6):
            case 0 | 1 | 2:
                name = random.choice(OPERATORS[:3] if random.random() < 0.7 else OPERATORS)
                return getattr(operator, name)(*([a] if name in ("neg", "invert") else [a, b]))
            case 3:
                word = getattr(te, random.choice(WORDS))
                return word(a) if random.random() < 0.6 else word(a, b)
            case 4 if self.axes:
                return random.choice((te.sum, te.max, te.min))(a, axis=random.choice(self.axes))
            case _:
                return te.if_then_else(random.choice((a, indices[0] < 3 if indices else a)), a, b)

    def leaf(self, indices: list[Any]) -> Any:
        random = self.random
        if self.tensors and random.random() < 0.7:
            tensor = random.choice(self.tensors)
            picked = [random.choice([*indices, *self.axes, 0]) for _ in range(tensor.ndim)]
            if random.random() < 0.06:
                picked.append(values.plain(random))
            return tensor[tuple(picked)]
        return random.choice(
            (*indices, 1.0, 2, 0.5, values.plain(random) if random.random() < 0.2 else 3.0, *self.axes)
        )


def case(random: Random) -> str:
    """Build tensors, and the function of some of them."""
    making = Making(random)

    def work() -> Any:
        for _ in range(random.randint(1, 5)):
            making.add()
        args = random.sample(making.tensors, min(len(making.tensors), random.randint(1, 4)))
        if random.random() < 0.7:
            args = [t for t in making.tensors if isinstance(t.op, te.PlaceholderOp)] + making.tensors[-1:]
            args = list({id(a): a for a in args}.values()) + making.sizes
        if random.random() < 0.05:
            args.append(values.value(random))
        making.said.append("te.create_prim_func(...)")
        return te.create_prim_func(args)

    try:
        word, got = tried("", work)
    except Fault as fault:
        raise Fault(f"{fault}{'; '.join(making.said)}") from fault
    if word == "accepted":
        word, printed = tried("; ".join(making.said), got.script)
        if word != "accepted":
            raise Fault(f"a function does not print: {described(printed)}\n{'; '.join(making.said)}")
    elif not isinstance(got, (ScriptError, TypeError, ValueError, ZeroDivisionError, IndexError)):
        raise Fault(f"refused by {described(got)}\n{'; '.join(making.said)}")
    return word
