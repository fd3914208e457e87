"""Fourier transforms by factors: stages of small transforms, each of which reads and writes rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tir_mlir import te
from tir_mlir.topi.operands import floats, one_of, one_type, refuse
from tir_mlir.topi.sizes import number
from tir_mlir.topi.small_transforms import Complex, Statements, transform

__all__ = ["fft", "irfft", "rfft"]

FACTORS = (8, 4, 5, 3, 2)
"""The sizes of the transforms that are written out, in the order of the stages: the first one fills vectors."""


@dataclass(frozen=True)
class FourierStage:
    """Transforms of `factor` numbers each: x[q + done * (p + rest * j)] -> y[q + done * (factor * p + k)].

    done: the product of the factors before it; rest: of those behind it; root: the position of its first root.
    """

    factor: int
    done: int
    rest: int
    root: int

    @property
    def size(self) -> int:
        """Of the whole transform."""
        return self.factor * self.done * self.rest

    @property
    def powers(self) -> NDArray[np.complex128]:
        """Those of a root of unity that its results are multiplied by."""
        turns = np.outer(np.arange(self.factor), np.arange(self.rest)) / (self.factor * self.rest)
        return np.exp(-2j * np.pi * turns).ravel()


def fft_factors(size: int) -> list[int] | None:
    """The factors of the stages of a transform; None for a size that has others."""
    factors: list[int] = []
    for factor in FACTORS:
        while size > 1 and size % factor == 0:
            factors.append(factor)
            size //= factor
    return factors if size == 1 and len(factors) > 1 and factors[0] in (8, 4) else None


def _stages(op: str, size: int) -> list[FourierStage]:
    factors = fft_factors(size)
    if factors is None:
        raise refuse(op, f"a transform of {size} complex numbers", "take 4 * n of them, n > 1 a product of 2, 3 and 5")
    stages, done, root = list[FourierStage](), 1, 0
    for factor in factors:
        stages.append(stage := FourierStage(factor, done, size // (done * factor), root))
        done, root = done * factor, root + factor * stage.rest
    return stages


def fft_roots(size: int) -> np.ndarray:
    """What the stages of `fft` multiply by: (2, m), real and imaginary parts of roots of unity."""
    roots = np.concatenate([stage.powers for stage in _stages("fft_roots", size)[:-1]])
    return np.stack([roots.real, roots.imag])


def rfft_roots(size: int) -> np.ndarray:
    """What `rfft` multiplies by: `fft_roots` of half the size, and those that put its halves together."""
    last = -0.5j * np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    return np.concatenate([fft_roots(size // 2), [last.real, last.imag]], 1)


def irfft_roots(size: int) -> np.ndarray:
    """What `irfft` multiplies by: `fft_roots` of half the size, behind them those that take its halves apart."""
    first = 1j * np.exp(2j * np.pi * np.arange(size // 2) / size)
    return np.concatenate([fft_roots(size // 2), [first.real, first.imag]], 1)


def fft(real: te.Tensor, imaginary: te.Tensor, roots: te.Tensor) -> list[te.Tensor]:
    """The transform of complex numbers along the last axis, without a scale: its real and its imaginary part. With both
    parts exchanged, of the operands and of the results, it is the inverse one.

    roots: `fft_roots` of the size, 4 * n with n > 1 a product of 2, 3 and 5.
    """
    re, im = floats("fft", "real", real), floats("fft", "imaginary", imaginary)
    one_type("fft", real=re, imaginary=im, roots=roots)
    rows, stages = _Rows(re, roots), _stages("fft", _size("fft", re))
    return rows.stages([re, im], stages, lambda at: (rows.element("X0", at), rows.element("X1", at)), parts=True)


def rfft(x: te.Tensor, roots: te.Tensor, layout: str = "parts") -> list[te.Tensor]:
    """The first n // 2 + 1 numbers of the transform of real ones along the last axis, by one of n // 2 complex ones.

    roots: `rfft_roots` of the size, 8 * n with n > 1 a product of 2, 3 and 5. layout: "parts", the real and the
    imaginary part, or "joined", one tensor (.., n // 2 + 1, 2).
    """
    operand = floats("rfft", "x", x)
    one_type("rfft", x=operand, roots=roots)
    one_of("rfft", "layout", layout, ["parts", "joined"])
    size, rows = _size("rfft", operand), _Rows(operand, roots)
    stages = _stages("rfft", size // 2 if size % 2 == 0 else size)
    pairs = rows.stages(
        [operand], stages, lambda at: (rows.element("X0", f"2 * ({at})"), rows.element("X0", f"2 * ({at}) + 1"))
    )
    done = rows.halves(pairs, size // 2, stages[-1].root, parts=layout == "parts")
    return done if layout == "parts" else [rows.join_parts(done[0])]


def irfft(real: te.Tensor, imaginary: te.Tensor, roots: te.Tensor) -> te.Tensor:
    """The real numbers, without a scale, whose transform along the last axis begins with n + 1 complex ones: the even
    and the odd ones, (.., n, 2). The first and the last imaginary part count as 0.

    roots: `irfft_roots` of the size 2 * n, 8 * m with m > 1 a product of 2, 3 and 5.
    """
    re, im = floats("irfft", "real", real), floats("irfft", "imaginary", imaginary)
    one_type("irfft", real=re, imaginary=im, roots=roots)
    half, rows = _size("irfft", re) - 1, _Rows(re, roots)
    stages = _stages("irfft", half)
    pairs = rows.pairs([re, im], half, stages[-1].root)
    (done,) = rows.stages(pairs, stages, lambda at: (rows.element("X0", 0, at), rows.element("X0", 1, at)))
    return te.compute((*re.shape[:-1], half, 2), lambda *i: done(*i[:-2], 1 - i[-1], i[-2]), name="T_joined")


def _size(op: str, x: te.Tensor) -> int:
    size = number(x.shape[-1]) if x.ndim else None
    if size is None:
        raise refuse(op, f"{x.ndim} dimensions, the last one without a number", "transform a number of elements")
    return size


class _Rows:
    """Blocks that transform rows: results are a tensor (.., 2, n), or parts, the real and the imaginary one (.., n)."""

    def __init__(self, x: te.Tensor, roots: te.Tensor):
        self.outer, self.dtype, self.roots = x.shape[:-1], x.dtype, roots
        self.indices = [f"o{n}" for n in range(len(self.outer))]

    def element(self, buffer: str, *index: object) -> str:
        """An element of a row."""
        return f"{buffer}[{', '.join([*self.indices, *map(str, index)])}]"

    def stages(
        self,
        operands: Sequence[te.Tensor],
        stages: Sequence[FourierStage],
        number_at: Callable[[str], Complex],
        parts: bool = False,
    ) -> list[te.Tensor]:
        """All stages. number_at: an element of the operands; parts: of the results, else their first ones come once
        more behind them."""
        first, *others = stages
        shape = (2, first.factor, first.rest)
        (rows,) = self._block("stage", self._first(first, number_at), {"p": first.rest}, operands, [shape])
        x = [self._swap_axes(rows, "T_columns")]
        for stage in others:
            ends, second = stage is others[-1], stage is others[0]
            shapes = [(stage.size,)] * 2 if parts and ends else [(2, stage.size + ends * stage.done)]
            domain = {"p": stage.rest, "q": stage.done} if stage.rest > 1 else {"q": stage.done}
            x = self._block("stage", self._later(stage, second, parts and ends), domain, x, shapes)
        return x

    def _first(self, stage: FourierStage, number_at: Callable[[str], Complex]) -> list[str]:
        s = Statements(self.dtype)
        texts = [number_at(f"p + {stage.rest * j}") for j in range(stage.factor)]
        for k, value in enumerate(self._results(s, stage, texts)):
            s.lines += [f"{self.element('Y0', part, k, 'p')} = {text}" for part, text in enumerate(value)]
        return s.lines

    def _later(self, stage: FourierStage, of_columns: bool, parts: bool) -> list[str]:
        """The statements of a stage that is not the first one."""
        s, group = Statements(self.dtype), "p + " if stage.rest > 1 else ""
        texts = []
        for j in range(stage.factor):
            row = f"{group}{stage.rest * j}"
            index = [row, "q"] if of_columns else [f"{stage.done} * ({row}) + q"]
            texts.append((self.element("X0", 0, *index), self.element("X0", 1, *index)))
        results = self._results(s, stage, texts)
        if stage.rest == 1 and not parts:
            results.append(results[0])  # behind the last one, for halves
        start = f"{stage.done * stage.factor} * p + q" if stage.rest > 1 else "q"
        for k, value in enumerate(results):
            s.lines += self._stores(f"{start} + {stage.done * k}", value, parts)
        return s.lines

    def _results(self, s: Statements, stage: FourierStage, texts: Sequence[Complex]) -> list[Complex]:
        """The transform of some numbers, times its roots of unity."""
        results = transform(s, [(s.let(real), s.let(imaginary)) for real, imaginary in texts])
        if stage.rest > 1:
            for k in range(1, stage.factor):
                root = stage.root + stage.rest * k
                results[k] = s.product(results[k], (s.let(f"W[0, {root} + p]"), s.let(f"W[1, {root} + p]")))
        return results

    def _stores(self, index: str, value: Complex, parts: bool) -> list[str]:
        places = [self.element(f"Y{n}", index) if parts else self.element("Y0", n, index) for n in (0, 1)]
        return [f"{place} = {text}" for place, text in zip(places, value, strict=True)]

    def halves(self, x: Sequence[te.Tensor], half: int, root: int, parts: bool) -> list[te.Tensor]:
        """The transform of real numbers from that of the complex numbers that pairs of them are.

        The even ones' is the half sum of z[k] and the conjugate of z[half - k], the odd ones' the half difference.
        """
        s = Statements(self.dtype)
        read, turns = self.element("X0", "0:2", f"0:{x[0].shape[-1]}"), f"W[0:2, {root} + k]"
        written = [self.element(f"Y{n}", "k") for n in (0, 1)] if parts else [self.element("Y0", "0:2", "k")]
        s.lines += [f"T.reads({read}, {turns})", f"T.writes({', '.join(written)})"]
        (a, b), (c, d) = ([s.let(self.element("X0", n, at)) for n in (0, 1)] for at in ("k", f"{half} - k"))
        odd = s.product(
            (s.let(f"{a} - {c}"), s.let(f"{b} + {d}")), (s.let(f"W[0, {root} + k]"), s.let(f"W[1, {root} + k]"))
        )
        half_of = s.constant(0.5)
        value = f"{odd[0]} + {half_of} * ({a} + {c})", f"{odd[1]} + {half_of} * ({b} - {d})"
        s.lines += self._stores("k", value, parts)
        shapes = [(half + 1,)] * 2 if parts else [(2, half + 1)]
        return self._block("halves", s.lines, {"k": half + 1}, x, shapes)

    def pairs(self, x: Sequence[te.Tensor], half: int, root: int) -> list[te.Tensor]:
        """The transform of the complex numbers that pairs of real ones are, from that of the real ones. Imaginary parts
        come first, so that a transform of it is the inverse one."""
        s = Statements(self.dtype)
        s.lines += [
            f"T.reads({self.element('X0', f'0:{half + 1}')}, {self.element('X1', f'0:{half + 1}')}, W[0:2, {root} + k])"
        ]
        s.lines += [f"T.writes({self.element('Y0', '0:2', 'k')})"]
        a, c = (s.let(self.element("X0", at)) for at in ("k", f"{half} - k"))
        b, d = (s.let(f"T.Select(k > 0, {self.element('X1', at)}, {s.constant(0.0)})") for at in ("k", f"{half} - k"))
        odd = s.product(
            (s.let(f"{a} - {c}"), s.let(f"{b} + {d}")), (s.let(f"W[0, {root} + k]"), s.let(f"W[1, {root} + k]"))
        )
        s.lines += self._stores("k", (f"{odd[1]} + ({b} - {d})", f"{odd[0]} + ({a} + {c})"), False)
        return self._block("pairs", s.lines, {"k": half}, x, [(2, half)])

    def join_parts(self, x: te.Tensor) -> te.Tensor:
        """The parts of each number side by side."""
        return self._swap_axes(x, "T_joined")

    def _swap_axes(self, x: te.Tensor, name: str) -> te.Tensor:
        """The last two axes exchanged."""
        *outer, rows, columns = x.shape
        return te.compute((*outer, columns, rows), lambda *i: x(*i[:-2], i[-1], i[-2]), name=name)

    def _block(
        self,
        name: str,
        lines: Sequence[str],
        domain: Mapping[str, int],
        operands: Sequence[te.Tensor],
        shapes: Sequence[tuple[int, ...]],
    ) -> list[te.Tensor]:
        """A block at each point of the rows and of a domain. shapes: of a row of its results."""
        results = [((*self.outer, *shape), self.dtype) for shape in shapes]
        names = [*(f"X{n}" for n in range(len(operands))), "W", *(f"Y{n}" for n in range(len(results)))]
        if not any("W[" in line for line in lines):
            names.remove("W")
        given = [*operands, self.roots] if "W" in names else list(operands)
        text = "\n    ".join([f"def {name}({', '.join([*self.indices, *domain, *names])}):", *lines])
        made = te.statements((*self.outer, *domain.values()), given, results, text, name=f"T_{name}")
        return list(made) if isinstance(made, tuple) else [made]
