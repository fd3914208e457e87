"""One random function of PyTorch: drawn line by line, imported, built, run, and compared with PyTorch."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import tir_mlir
from fuzzing.graphs.rounding import differs
from fuzzing.kinds import Fault, Record
from fuzzing.tape import parts
from fuzzing.torch_graphs import elementwise, layers, shapes
from fuzzing.torch_graphs.drawing import INTEGERS, Draw, Drawer
from fuzzing.torch_graphs.program import Program
from tir_mlir.errors import BuildError, TirError

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 16, 17)
DTYPES = ("float32",) * 8 + ("float64", "float16", "bfloat16", "int64", "int32", "uint8")
LENGTH, SHAKEN = 8, 6
"""Lines of a program; evaluations with other last bits, which tell how far a result may be off."""
LARGEST, MOST = 1e4, 1 << 14
"""A value above it is not computed with; the most elements of a value."""
TABLE: tuple[Drawer, ...] = (
    *(elementwise.unary, elementwise.binary, elementwise.binary, elementwise.scalar, elementwise.promoted),
    *(elementwise.chosen, elementwise.cast, elementwise.reduction, elementwise.reduction, elementwise.whole),
    *(elementwise.along, elementwise.ordered, shapes.view, shapes.view, shapes.view, shapes.shaped, shapes.joined),
    *(shapes.padded, shapes.taken, shapes.written, shapes.made, layers.product, layers.product, layers.norm),
    *(layers.window, layers.window, layers.convolution, layers.convolution, layers.attention, layers.embedded),
    layers.counted,
)


@dataclass
class Drawn:
    """A program and its inputs; the values that its lines make."""

    program: Program
    inputs: list[Any]
    values: list[Any] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)


def case(random: Random) -> Record:
    """Draw, import, build and run a program. Errors: Fault with the program, for a wrong result and for an error that
    is not a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = _drawn(random)
        text = f"{_told(drawn.inputs)}\n{drawn.program.source()}"
        dynamic = random.random() < 0.2
        try:
            word = _checked(drawn, random, dynamic)
        except Exception as error:
            word = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            raise Fault(f"{word}\n{'sizes from the call' * dynamic}\n{text}") from error
    return Record(word, drawn.counts, lambda: text)


def _checked(drawn: Drawn, random: Random, dynamic: bool) -> str:
    try:
        model = _built(drawn, dynamic)
    except TirError as error:
        if isinstance(error, BuildError):  # no refusal: what compiles has crashed or failed
            raise
        drawn.counts["torch graphs refused", _first(error)] += 1
        return "refused"
    _compare(drawn.program, model, drawn.inputs)
    if dynamic:
        other = random.choice([n for n in SIZES if n > 1])
        longer = [_tensor(random, (other, *x.shape[1:]) if x.dim() else (), x.dtype) for x in drawn.inputs]
        try:
            drawn.program.evaluate(longer)
            model(*(x.clone() for x in longer))
        except (TirError, RuntimeError, IndexError) as error:
            drawn.counts["torch graphs of one size", type(error).__name__] += 1
            return "compared"
        _compare(drawn.program, model, longer)
    return "compared"


def _first(error: Exception) -> str:
    """What a refusal says of the first operator, without the name of the node."""
    lines = [line.strip() for line in str(error).splitlines() if "fix:" not in line]
    return (lines[1] if len(lines) > 1 else lines[0]).partition(": ")[2][:120] or lines[0][:120]


def _built(drawn: Drawn, dynamic: bool) -> Any:
    import torch

    sizes = None
    if dynamic:
        own = {f"x{n}": x for n, x in enumerate(drawn.inputs)}
        sizes = {name: {0: torch.export.Dim.AUTO} if x.dim() and x.shape[0] > 1 else None for name, x in own.items()}
    given = tuple(x.clone() for x in drawn.inputs)
    graph = tir_mlir.from_torch(drawn.program.module(), given, dynamic=sizes, cache=False)
    return tir_mlir.build(graph, threads=1, cache=False, optimize="fast")


def _drawn(random: Random) -> Drawn:
    import torch

    few = [random.choice(SIZES) for _ in range(3)]
    inputs = []
    for _ in range(random.choice([1, 2, 2, 3])):
        rank = random.choice([0, 1, 2, 2, 3, 3, 4])
        shape = tuple(random.choice([*few, *few, 1]) for _ in range(rank))
        inputs.append(_tensor(random, shape, getattr(torch, random.choice(DTYPES))))
    program = Program(len(inputs), cloned=random.random() < 0.4)
    drawn = Drawn(program, inputs)
    _run(drawn)
    for _ in parts(random, "operator", LENGTH):
        _add(drawn, random)
    used = {n for line in program.lines for n in line.operands if not line.updates}
    own = range(len(inputs), len(drawn.values))
    program.results = [n for n in own if n not in used][-4:] or [len(drawn.values) - 1]
    return drawn


def _run(drawn: Drawn) -> None:
    """Evaluate all values."""
    program = drawn.program
    made = program.count + sum(not line.updates for line in program.lines)
    program.results = list(range(made))
    drawn.values = program.evaluate(drawn.inputs)


def _add(drawn: Drawn, random: Random) -> None:
    """Add one line, if torch takes it."""
    count = len(drawn.values)
    x = random.choice([*range(count), *range(count)[-3:]])
    alike = [n for n, v in enumerate(drawn.values) if v.dtype == drawn.values[x].dtype]
    draw = Draw(random, drawn.values, x, alike)
    updating = drawn.program.cloned and random.random() < 0.3
    line = (shapes.update if updating else random.choice(TABLE))(draw)
    if line is None:
        return
    drawn.program.lines.append(line)
    kept = drawn.values
    try:
        _run(drawn)
        fine = all(_usable(v) for v in drawn.values)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, ZeroDivisionError):
        fine = False
    drawn.counts["torch graphs apply" if fine else "torch refuses", line.operator] += 1
    if not fine:
        drawn.program.lines.pop()
        drawn.values = kept


def _usable(x: Any) -> bool:
    if str(x.dtype).removeprefix("torch.") not in ("float32", "float64", "float16", "bfloat16", "bool", *INTEGERS):
        return False
    if x.numel() > MOST:
        return False
    numbers = x.double()
    finite = numbers[numbers.isfinite()].abs()
    return not finite.numel() or bool(finite.max() <= LARGEST)


def _tensor(random: Random, shape: tuple[int, ...], dtype: Any) -> Any:
    """Random numbers of a type; one of eight arrays of floats has one that is infinite or NaN."""
    import torch

    rng = np.random.default_rng(random.randrange(1 << 30))
    if not dtype.is_floating_point:
        return torch.from_numpy(np.asarray(rng.integers(0 if dtype == torch.uint8 else -9, 10, shape))).to(dtype)
    array = np.asarray(rng.standard_normal(shape) * 2)
    if random.random() < 0.125 and array.size:
        array.flat[rng.integers(array.size)] = rng.choice([np.inf, -np.inf, np.nan])
    return torch.from_numpy(array).to(dtype)


def _told(inputs: Sequence[Any]) -> str:
    return "\n".join(f"x{n}: {str(x.dtype)[6:]} {tuple(x.shape)}" for n, x in enumerate(inputs))


def _held(x: Any) -> np.ndarray:
    """A tensor as the judge has it: floats in float64."""
    import torch

    x = torch.as_tensor(x)
    return x.double().numpy() if x.is_floating_point() else x.numpy()


def _compare(program: Program, model: Any, inputs: Sequence[Any]) -> None:
    exact = program.evaluate(inputs)
    found = model(*(x.clone() for x in inputs))
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    others = [[_held(v) for v in program.evaluate(inputs, seed)] for seed in range(SHAKEN)]
    for number, (ours, wanted) in enumerate(zip(results, exact, strict=True)):
        name = f"v{program.results[number]}"
        ours, dtype = _as_tensor(ours), str(wanted.dtype).removeprefix("torch.")
        assert ours.dtype == wanted.dtype, f"{name} is {ours.dtype}, not {wanted.dtype}"
        assert ours.shape == wanted.shape, f"{name} has shape {tuple(ours.shape)}, not {tuple(wanted.shape)}"
        a, b = _held(ours), _held(wanted)
        if differs(a, b, [o[number] for o in others], dtype).any():
            others += [[_held(v) for v in program.evaluate(inputs, seed)] for seed in range(SHAKEN, 40)]
            wrong = np.atleast_1d(differs(a, b, [o[number] for o in others], dtype))
            at = tuple(int(i[0]) for i in np.nonzero(wrong)) if wrong.any() else None
            assert at is None, (
                f"{name} of {dtype} differs: at {at} it is {np.atleast_1d(a)[at]}, and torch has {np.atleast_1d(b)[at]}"
            )


def _as_tensor(x: Any) -> Any:
    import torch

    return x if isinstance(x, torch.Tensor) else torch.from_numpy(np.asarray(x))
