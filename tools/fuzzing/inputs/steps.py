"""Schedule primitives with invalid arguments: refused, with the schedule unchanged."""

from __future__ import annotations

import inspect
from random import Random
from typing import Any

from fuzzing.inputs import corpus, values
from fuzzing.inputs.judging import Fault, seen, tried
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule import BlockHandle, LoopHandle

NAMES = sorted(PRIMITIVES)
OTHERS = ("get", "explain", "explain_tensorize", "undo", "work_on", "remove_rv", "seed", "get_sref", "verify", "copy")
LISTS: tuple[Any, ...] = ([None, 4], [4, None], [2, 2], [1, None, 2], [None, None], [0, 2], [None], [], [16], [-1,
    None], [4, "x"],
                          [1 << 40, None], [1 << 63], [None, 1 << 62, 1 << 62], (None, 2), [[4]], [None, 2.0], [True,
                          None])  # fmt: skip
WORDS = (
    "global", "shared", "local", "wmma.matrix_a", "threadIdx.x", "blockIdx.x", "vthread", "read", "write", "float16",
    "int8", "float99", "dot_4x4", "nobody", "", "pragma_import_llvm", "buffer_dim_align", "warp_execution",
)  # fmt: skip


class Things:
    """Candidates for arguments of a schedule: its handles, dead ones, those of another schedule."""

    def __init__(self, random: Random, sch: Schedule):
        self.random, self.sch = random, sch
        todo = [sch.get_block("root")]
        self.blocks: list[Any] = []
        while todo:
            self.blocks.append(todo.pop())
            todo += sch.get_child_blocks(self.blocks[-1])
        self.loops = [loop for b in self.blocks[1:] for loop in sch.get_loops(b)]
        self.dead: list[Any] = []
        try:
            if self.loops and random.random() < 0.5:
                loop = random.choice(self.loops)
                self.loops += sch.split(loop, [None, 2])
                self.loops.remove(loop)
                self.dead.append(loop)
        except TirError:
            pass

    def argument(self, parameter: inspect.Parameter) -> Any:
        """Return a value for a parameter, mostly of its type."""
        random = self.random
        if random.random() < 0.22:
            return values.value(random)
        if random.random() < 0.06:
            return self.other()
        word = f"{parameter.name} {parameter.annotation}".lower()
        if "loop" in word and self.loops and ("block" not in word or random.random() < 0.5):
            return random.choice(self.loops)
        if "block" in word or "target" in word:
            block = random.choice(self.blocks[1:] or self.blocks) if random.random() < 0.95 else self.blocks[0]
            return block if random.random() < 0.8 else self.sch.get(block).name
        if "map" in word or "pad_value" in word or "ranges" in word:
            return random.choice(values.LAMBDAS)
        if "bool" in word:
            return random.random() < 0.5
        if "sequence" in word or "list" in word or "factors" in word:
            return random.choice(LISTS)
        if "str" in word:
            return random.choice(WORDS)
        if "int" in word or "buffer" in word:
            return random.choice(
                (0, 0, 0, 1, 1, 2, -1, 3, 4, 8, 100, 1 << 40, "A", "AB", "P0", "T1", ("read", 0), ("write", 0))
            )
        return values.value(random)

    def other(self) -> Any:
        """Return a handle that is invalid here."""
        random = self.random
        foreign = _foreign()
        return random.choice(
            (
                *self.dead,
                *foreign,
                LoopHandle(99, 0),
                BlockHandle(-1, 0),
                [foreign[0]],
                *self.loops[:1],
                *self.blocks[:1],
            )
        )


def _foreign() -> list[Any]:
    sch = Schedule(corpus.matmul(), seed=1)
    block = sch.get_block("C")
    return [block, *sch.get_loops(block)]


def case(random: Random) -> str:
    """Call a few primitives on one schedule."""
    sch = corpus.schedule(random)
    things = Things(random, sch)
    word = "refused"
    for _ in range(random.randint(1, 5)):
        if _call(random, sch, things):
            word = "accepted"
            things = Things(random, sch)
    return word


def _call(random: Random, sch: Schedule, things: Things) -> bool:
    name = random.choice(NAMES if random.random() < 0.93 else OTHERS)
    if name in OTHERS:
        args, kwargs = (
            [values.value(random) if random.random() < 0.5 else things.other() for _ in range(random.randrange(3))],
            {},
        )
        if name == "verify":
            args = args or ["x"]
        if name == "seed":
            args = args or [0]
    else:
        args, kwargs = _arguments(random, name, things)
    shown = f"sch.{name}({_shown(args, kwargs)}) on\n{sch.mod.script()}"
    before, text, steps = sch.executor.module, sch.mod.text(), len(sch.trace)
    known, state = set(sch.executor._known), sch.executor.random.state
    word, got = tried(shown, lambda: getattr(sch, name)(*args, **kwargs))
    after = sch.mod.text()
    if word == "refused":
        if sch.executor.module is not before or after != text or len(sch.trace) != steps:
            raise Fault(f"a refused step changed the schedule: {got}\n{shown}")
        if sch.executor._known != known or sch.executor.random.state != state:
            raise Fault(f"a refused step changed handles or the random state: {got}\n{shown}")
    elif str(before) != text and name not in ("undo",):
        raise Fault(f"the step modified the previous module: {shown}")
    elif random.random() < 0.2:
        tried(shown, lambda: (str(sch.trace), sch.trace.as_json(), sch.mod.script(), str(sch.history)))
    return word == "accepted"


def _arguments(random: Random, name: str, things: Things) -> tuple[list[Any], dict[str, Any]]:
    parameters = [p for n, p in inspect.signature(getattr(Schedule, name)).parameters.items() if n != "self"]
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args += [things.argument(parameter) for _ in range(random.choice((0, 1, 2, 2, 3)))]
        elif parameter.default is not inspect.Parameter.empty:
            if random.random() < 0.3:
                kwargs[parameter.name] = things.argument(parameter)
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            args.append(things.argument(parameter))
    if random.random() < 0.03:
        args = args[:-1] if random.random() < 0.5 else [*args, values.value(random)]
    if random.random() < 0.02:
        kwargs["nobody"] = values.value(random)
    return args, kwargs


def _shown(args: list[Any], kwargs: dict[str, Any]) -> str:
    return ", ".join([*map(seen, args), *(f"{k}={seen(v)}" for k, v in kwargs.items())])
