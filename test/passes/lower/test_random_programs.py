"""Random programs: lowered with every pass they compute what a plain interpreter computes.

A program is a tree of loops over stores `t[..] = f(loads)`; only those that read nothing uninitialized are used.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from harness.lowered import passed, run

SIZE = 6


@dataclass
class Access:
    """`name[a0 * i + c0, a1 * j + c1]`, each index a variable (or none), a factor and a constant."""

    name: str
    index: list[tuple[str | None, int, int]]

    def at(self, env: dict[str, int]) -> tuple[int, ...]:
        return tuple((env[v] * a if v else 0) + c for v, a, c in self.index)

    def text(self) -> str:
        return ", ".join(f"%{v} * {a} + {c}" if v else str(c) for v, a, c in self.index)


@dataclass
class Store:
    target: Access
    sources: list[Access]
    add: bool


@dataclass
class For:
    var: str
    extent: int
    kind: str
    body: list[For | If | Store] = field(default_factory=list)


@dataclass
class If:
    var: str
    bound: int
    equal: bool
    body: list[For | If | Store] = field(default_factory=list)

    def holds(self, env: dict[str, int]) -> bool:
        return env[self.var] == self.bound if self.equal else env[self.var] >= self.bound


class Uninitialized(Exception):
    pass


def interpret(body: list[For | If | Store], env: dict[str, int], memory: dict[str, np.ndarray]) -> None:
    for node in body:
        if isinstance(node, For):
            for value in range(node.extent):
                interpret(node.body, env | {node.var: value}, memory)
        elif isinstance(node, If):
            if node.holds(env):
                interpret(node.body, env, memory)
        else:
            values = [memory[s.name][s.at(env)] for s in node.sources]
            if any(np.isnan(v) for v in values):
                raise Uninitialized
            memory[node.target.name][node.target.at(env)] = sum(values, start=np.float64(node.add))


def emit(body: list[For | If | Store], types: dict[str, str]) -> str:
    lines = []
    for node in body:
        if isinstance(node, For):
            mark = f' {{tir.kind = "{node.kind}"}}' if node.kind else ""
            lines += [f"affine.for %{node.var} = 0 to {node.extent} {{", emit(node.body, types), "}" + mark]
        elif isinstance(node, If):
            test = f"d0 - {node.bound} {'==' if node.equal else '>='} 0"
            lines += [f"affine.if affine_set<(d0) : ({test})>(%{node.var}) {{", emit(node.body, types), "}"]
        else:
            lines.append(emit_store(node, types))
    return "\n".join(lines)


counter = iter(range(10**9))


def emit_store(node: Store, types: dict[str, str]) -> str:
    n = next(counter)
    lines = [f"%s{n}_0 = arith.constant {float(node.add)} : f64"]
    for number, source in enumerate(node.sources):
        lines.append(f"%l{n}_{number} = affine.load %{source.name}[{source.text()}] : {types[source.name]}")
        lines.append(f"%s{n}_{number + 1} = arith.addf %s{n}_{number}, %l{n}_{number} : f64")
    target = node.target
    last = f"%s{n}_{len(node.sources)}"
    return "\n".join([*lines, f"affine.store {last}, %{target.name}[{target.text()}] : {types[target.name]}"])


class Maker:
    """Programs over inputs X (SIZE x SIZE), the output Y, and temporaries t, u, of two dimensions each."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.count = 0

    def access(self, name: str, loops: list[For]) -> Access:
        index: list[tuple[str | None, int, int]] = []
        for _ in range(2):
            choices = [(None, 0, self.random.randrange(3))]
            for loop in loops:
                choices += [(loop.var, 1, 0)] * 3 + [
                    (loop.var, 1, 1),
                    (loop.var, -1, loop.extent - 1),
                    (loop.var, 2, 0),
                ]
            index.append(self.random.choice(choices))
        return Access(name, index)

    def body(self, loops: list[For], depth: int) -> list[For | If | Store]:
        found: list[For | If | Store] = []
        for _ in range(self.random.choice([1, 2, 2, 3])):
            roll = self.random.random()
            if depth < 3 and (roll < 0.6 or not loops):
                kind = self.random.choice(["", "", "", "unrolled", "vectorized", "threadIdx.x"])
                loop = For(f"i{self.count}", self.random.choice([1, 2, 3, 4]), kind)
                self.count += 1
                loop.body = self.body([*loops, loop], depth + 1)
                found.append(loop)
            elif roll < 0.7 and loops and depth < 4:
                test = If(self.random.choice(loops).var, self.random.randrange(3), self.random.random() < 0.5)
                test.body = self.body(loops, 4)
                found.append(test)
            elif loops:
                target = self.access(self.random.choice("ttuY"), loops)
                sources = [self.access(self.random.choice("XXttuY"), loops) for _ in range(self.random.randrange(3))]
                found.append(Store(target, sources, self.random.random() < 0.5))
        return found


def program(seed: int) -> tuple[str, dict[str, np.ndarray]] | None:
    """The text of a program and its memory after the run; None when it reads what nobody wrote."""
    shape = (2 * SIZE, 2 * SIZE)
    body = Maker(seed).body([], 0)
    x = np.random.default_rng(seed).random(shape)
    memory = {"X": x, "Y": np.zeros(shape), "t": np.full(shape, np.nan), "u": np.full(shape, np.nan)}
    try:
        interpret(body, {}, memory)
    except (Uninitialized, IndexError):
        return None
    types = dict.fromkeys("XYtu", f"memref<{shape[0]}x{shape[1]}xf64>")
    plain = types["X"]
    text = f"""func.func @main(%X: {plain}, %Y: {plain}) attributes {{tir.id = 0 : i64}} {{
  %t = memref.alloc() {{tir.name = "t"}} : {plain}
  %u = memref.alloc() {{tir.name = "u"}} : {plain}
{emit(body, types)}
  return
}}"""
    return text, memory


def usable(number: int) -> tuple[str, dict[str, np.ndarray]]:
    """The first program from seed 1000 * `number` on in which a temporary is read."""
    for seed in range(1000 * number, 1000 * (number + 1)):
        made = program(seed)
        if made is not None and ("load %t" in made[0] or "load %u" in made[0]):
            return made
    raise AssertionError("no usable program in 1000 seeds")


@pytest.mark.few(12)
@pytest.mark.filterwarnings("ignore:.* serially")  # kinds of loops are drawn at random
@pytest.mark.parametrize("number", range(40))
def test_lowered_as_written(number):
    text, memory = usable(number)
    x, y = memory["X"].copy(), np.zeros_like(memory["Y"])
    run(text, x, y)
    np.testing.assert_allclose(y, memory["Y"], rtol=1e-12, err_msg=text)


def test_some_of_them_get_smaller_buffers():
    """Otherwise the test above shows nothing about compaction."""
    texts = [usable(number)[0] for number in range(40)]
    lowered = [passed(t, "tir-lower-blocks", "tir-lower-conditions", "tir-lower-compact") for t in texts]
    assert sum('alloc() {tir.name = "t"} : memref<12x12xf64>' not in t for t in lowered) > 10
    assert sum(t.index("memref.alloc") > t.index("affine.for") for t in lowered if "memref.alloc" in t) > 3
