"""Views, joins, pads and what reads or writes places."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzing.torch_graphs.drawing import INTEGERS, Draw, line
from fuzzing.torch_graphs.program import Line


def view(d: Draw) -> Line | None:
    """A view of x: later updates of one change the other."""
    r = d.random
    options = ["{0}.unsqueeze(0)", f"{{0}}.unsqueeze({d.rank})", "{0}.view_as({0})"]
    if d.rank:
        axis = d.axis()
        size = d.shape[axis]
        start = r.randrange(size + 1)
        length = r.randint(0, size - start)
        order = r.sample(range(d.rank), d.rank)
        options += [
            f"{{0}}.narrow({axis}, {start}, {length})",
            f"{{0}}.permute({tuple(order)})",
            f"{{0}}.transpose({axis}, {d.axis()})",
            f"{{0}}[{', '.join([':'] * (axis % d.rank))}{', ' * bool(axis % d.rank)}{start}::{r.choice([1, 2, 3])}]",
            f"{{0}}.squeeze({axis})",
            "{0}[..., None]",
            f"{{0}}[..., {start if axis % d.rank == d.rank - 1 else 0}:]",
            "{0}.movedim(0, -1)",
            f"{{0}}.expand(2, {', '.join(['-1'] * d.rank)})",
        ]
        if size:
            options += [f"{{0}}.select({axis}, {r.randrange(size)})", f"{{0}}.chunk(2, {axis})[0]",
                        f"{{0}}.unfold({axis}, {r.randint(1, size)}, {r.choice([1, 2])})"]  # fmt: skip
        if size and size % 2 == 0:
            options.append(f"{{0}}.unflatten({axis}, (2, -1))")
    if d.rank > 1:
        options += ["torch.diagonal({0}, 0, 0, 1)", "{0}.flatten(0, 1)"]
    if d.rank == 2:
        options += ["{0}.t()", "{0}.mT"]
    return line("view", r.choice(options), d.x)


def shaped(d: Draw) -> Line | None:
    r = d.random
    options = ["{0}.reshape(-1)" if d.tensor.numel() else "{0}.flatten()", "{0}.contiguous()"]
    if d.rank:
        axis = d.axis()
        options += [
            f"torch.flip({{0}}, [{axis}])", f"torch.roll({{0}}, {r.choice([1, -1, 2])}, {axis})", "torch.roll({0}, 1)",
            f"torch.repeat_interleave({{0}}, 2, dim={axis})",
            f"{{0}}.repeat({', '.join(['1', '2', '1', '1'][-d.rank :])})",
            f"torch.stack([{{0}}, {{0}}], dim={axis})", "{0}.reshape({0}.shape[0], -1)" if d.tensor.numel() else "{0}",
        ]  # fmt: skip
    if d.rank > 1:
        options += [f"torch.tril({{0}}, {r.choice([0, 1, -1])})", f"torch.triu({{0}}, {r.choice([0, 1, -1])})",
                    "torch.rot90({0}, 1, [0, 1])"]  # fmt: skip
    text = r.choice(options)
    return line(text[: text.index("(")].replace("{0}", "x") if "(" in text else "x", text, d.x)


def joined(d: Draw) -> Line | None:
    if not d.rank:
        return None
    axis, text = d.axis(), d.random.choice(["torch.cat([{{0}}, {{1}}], {0})", "torch.stack([{{0}}, {{1}}], {0})"])
    return line(text[6:10], text.format(axis), d.x, d.other())


def padded(d: Draw) -> Line | None:
    if not d.rank or d.dtype == "bool":
        return None
    left, right = d.random.choice([0, 1, 2]), d.random.choice([0, 1, 3])
    if d.random.random() < 0.5 or d.rank not in (2, 3):
        return line("pad", f"F.pad({{0}}, ({left}, {right}), value=2)", d.x)
    mode = d.random.choice(["reflect", "replicate", "circular"])
    return line(f"pad {mode}", f"F.pad({{0}}, ({left}, {right}), mode='{mode}')", d.x)


def _places(d: Draw, size: int) -> tuple[str, list[int]]:
    """Text of a tensor of places below a size, and its operands."""
    given = d.of(INTEGERS, lambda v: v.dim() == 1)
    if given is not None and d.random.random() < 0.5:
        return f"torch.remainder({{1}}, {size}).long()", [given]
    places = [d.random.randrange(size) for _ in range(d.random.choice([1, 2, 3]))]
    return f"torch.tensor({places})", []


def taken(d: Draw) -> Line | None:
    """Reads at places."""
    if not d.rank or not d.shape[axis := d.axis()]:
        return None
    places, more = _places(d, d.shape[axis])
    last = f"torch.full_like({{0}}, {d.shape[axis] - 1}, dtype=torch.int64)"
    text = d.random.choice([
        f"torch.index_select({{0}}, {axis}, {places})",
        f"{{0}}.transpose(0, {axis})[{places}]",
        f"torch.gather({{0}}, {axis}, {last})",
        f"torch.take_along_dim({{0}}, torch.argsort({{0}}, {axis}, stable=True), {axis})",
    ])  # fmt: skip
    return line("taken", text, d.x, *(more if "{1}" in text else ()))


def written(d: Draw) -> Line | None:
    """Writes at places, of a new tensor."""
    if not d.rank or not d.shape[axis := d.axis()] or d.dtype == "bool":
        return None
    places, more = _places(d, d.shape[axis])
    x, at = f"{{0}}.transpose(0, {axis})", f"({places},)"
    text = d.random.choice([
        f"{x}.index_add(0, {places}, {x}[{places}])",
        f"torch.index_put({x}, {at}, {x}[{places}] + 1, accumulate=True)",
        f"torch.index_fill({{0}}, {axis}, {places}, 2)",
        f"torch.scatter_add({{0}}, {axis}, torch.zeros_like({{0}}, dtype=torch.int64), {{0}})",
        f"torch.scatter_reduce({{0}}, {axis}, torch.zeros_like({{0}}, dtype=torch.int64), {{0}}, 'amax')",
    ])  # fmt: skip
    return line("written", text, d.x, *(more if "{1}" in text else ()), adds="add" in text or "accumulate" in text)


def made(d: Draw) -> Line | None:
    """Tensors of no data."""
    text = d.random.choice([
        "torch.zeros_like({0})", "torch.ones_like({0})", "torch.full_like({0}, 3)", "torch.arange({0}.shape[0])",
        "torch.eye(3, dtype={0}.dtype)", "torch.empty_like({0}).fill_(1)", "{0}.new_zeros(2, 3)",
        "torch.linspace(0, 1, 5, dtype=torch.float32)",
    ])  # fmt: skip
    if ("shape" in text and not d.rank) or ("eye" in text and d.dtype == "bool"):
        return None
    return line("made", text, d.x, inexact="linspace" in text)


def update(d: Draw) -> Line | None:
    """A statement that changes x, or part of it, in place."""
    r = d.random
    if not _apart(d.tensor):
        return None
    parts = ["{0}"]
    if d.rank:
        axis = d.axis() % d.rank
        before, size = ":, " * axis, d.shape[axis]
        start = r.randrange(size + 1)
        parts += [f"{{0}}[{before}{start}:]", f"{{0}}[{before}::2]", f"{{0}}.transpose(0, {axis})"]
        parts += [f"{{0}}[{before}{r.randrange(size)}]", "{0}[..., -1]" if d.shape[-1] else "{0}"] if size else []
    if d.rank > 1:
        parts += ["{0}.diagonal()", "{0}.mT"]
    part = r.choice(parts)
    y = d.other()
    if d.dtype == "bool":
        text = r.choice([f"{part}.logical_not_()", f"{part}.fill_(True)"])
    else:
        text = r.choice([
            f"{part}.add_(1)", f"{part}.mul_(2)", f"{part}.fill_(3)", f"{part}.zero_()", f"{part}.copy_({{1}})",
            f"{part}.add_({{1}})", f"{part}.clamp_(0, 2)", f"{part}.add_({part}.flip(0))",
            "{0}[{0} > 0] = 1" if part == "{0}" else f"{part}.sub_(1)", f"{part}.masked_fill_({part} > 1, 1)",
        ])  # fmt: skip
    operands = (d.x, y) if "{1}" in text else (d.x,)
    return Line("update", text, operands, updates=True)


def _apart(x: Any) -> bool:
    """Whether no two elements of a tensor share memory; torch's own traces of writes to others are wrong."""
    offsets = np.zeros((), "int64")
    for size, stride in zip(x.shape, x.stride(), strict=True):
        offsets = offsets[..., None] + np.arange(size) * stride
    return len(np.unique(offsets)) == offsets.size
