"""The programs of layers, as machines compute them: sums of products that begin with a bias, and what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from mlir import ir

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.dialect.computation import Tree, TreeEmitter, leaves
from tir_mlir.dialect.computation.scalar_tree import replace_scalars
from tir_mlir.dialect.ir import edit, enter_context, ops
from tir_mlir.dialect.ir.op_views import ElementLoadOp, ElementStoreOp, StoreOp, isa
from tir_mlir.script.module import PrimFunc
from tir_mlir.script.parser import parse

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Stored:
    """What an instruction stores of sums, of a type: a computation whose leaf is the sum."""

    payload: Tree
    dtype: str
    instruction: MachineInstruction
    numbers: tuple[tuple[str, float], ...]
    """Those that programs may differ in though they are mapped as one: scales."""

    @property
    def tree(self) -> Tree:
        """The computation with its numbers (call inside `enter_context`)."""
        positions = {o.name: position for position, o in enumerate(self.instruction.operands)}
        return replace_scalars(self.payload, {positions[name]: number for name, number in self.numbers})

    def with_scales(self, scale: float) -> Stored:
        """The same with one scale for all."""
        return replace(self, numbers=tuple((name, scale) for name, _ in self.numbers))


@dataclass(frozen=True)
class ProductProgram:
    """`Y[b, i, j] = stored(D[j] + sum over k of X[b, i, k] * W[b, k, j])`, without b where there is no batch."""

    batch: Shape
    """Empty, or one size."""
    rows: int
    columns: int
    depth: int
    dtypes: tuple[str, str, str]
    """Of both operands, and of the sums."""
    has_bias: bool = False
    stored: Stored | None = None
    """None: the sums."""

    @property
    def title(self) -> str:
        return f"product_{'x'.join(map(str, (*self.batch, self.rows, self.columns, self.depth)))}"

    @property
    def result_shape(self) -> Shape:
        """The shape of the result."""
        return (*self.batch, self.rows, self.columns)

    @property
    def terms(self) -> int:
        """The products that are added up for one element."""
        return self.depth

    @property
    def channels(self) -> Shape:
        """The shape of a bias."""
        return (self.columns,)

    def func(self, name: str) -> PrimFunc:
        """Its function of TensorIR."""
        axes = [f"b{n}" for n in range(len(self.batch))]
        left, right, _ = self.dtypes
        x, w = (_params(n, (*self.batch, *s), t) for n, s, t in (
            ("X", (self.rows, self.depth), left), ("W", (self.depth, self.columns), right)))  # fmt: skip
        reads = f"X[{_index(axes, 'i', 'k')}]", f"W[{_index(axes, 'k', 'j')}]"
        spatial = dict(zip((*axes, "i", "j"), self.result_shape, strict=True))
        return _program(name, [x, w], spatial, {"k": self.depth}, reads, self)


@dataclass(frozen=True)
class ConvolutionProgram:
    """A convolution of an image (n, height, width, channels) with a kernel (height, width, channels, outputs); in parts
    that share no channels, of (n, height, width, parts, channels) with (parts, height, width, channels, outputs)."""

    image: Shape
    kernel: Shape
    strides: Shape
    dilation: Shape
    dtypes: tuple[str, str, str]
    has_bias: bool = False
    stored: Stored | None = None

    @property
    def parts(self) -> Shape:
        """Empty, or one size."""
        return self.kernel[:-4]

    @property
    def result_shape(self) -> Shape:
        """The shape of the result."""
        windows = zip(self.image[1:3], self.kernel[-4:-2], self.dilation, self.strides, strict=True)
        sizes = ((size - (taps - 1) * dilation - 1) // stride + 1 for size, taps, dilation, stride in windows)
        return (self.image[0], *sizes, *self.channels)

    @property
    def title(self) -> str:
        window = f"{self.kernel[-4]}x{self.kernel[-3]}"
        return f"convolution_{'x'.join(map(str, self.image[1:]))}_{window}_{self.kernel[-1]}"

    @property
    def terms(self) -> int:
        """The products that are added up for one element."""
        return prod(self.kernel[-4:-1])

    @property
    def channels(self) -> Shape:
        """The shape of a bias."""
        return (*self.parts, self.kernel[-1])

    def func(self, name: str) -> PrimFunc:
        """Its function of TensorIR."""
        left, right, _ = self.dtypes
        params = [_params("X", self.image, left), _params("W", self.kernel, right)]
        parts = [f"p{n}" for n in range(len(self.parts))]
        spatial: dict[str, int] = dict(zip(("n", "y", "x", *parts, "o"), self.result_shape, strict=True))
        rows, columns = (
            f"v{axis} * {stride} + v{tap} * {dilation}"
            for axis, tap, stride, dilation in zip("yx", ("ry", "rx"), self.strides, self.dilation, strict=True)
        )
        reads = f"X[vn, {rows}, {columns}, {_index(parts, 'c')}]", f"W[{_index(parts, 'ry', 'rx', 'c', 'o')}]"
        taps: dict[str, int] = dict(zip(("ry", "rx", "c"), self.kernel[-4:-1], strict=True))
        return _program(name, params, spatial, taps, reads, self)


Program = ProductProgram | ConvolutionProgram


def largest_sum(program: Program) -> int:
    """The largest absolute value of its sums of integers, without the bias."""
    left, right = (max(-int(np.iinfo(d).min), int(np.iinfo(d).max)) for d in program.dtypes[:2])
    return program.terms * left * right


def _program(
    name: str,
    params: list[str],
    spatial: Mapping[str, int],
    reduced: Mapping[str, int],
    reads: tuple[str, str],
    program: Program,
) -> PrimFunc:
    """A function that sums products of two reads, and stores the sums."""
    shape, sums = tuple(spatial.values()), program.dtypes[2]
    index = ", ".join(f"v{axis}" for axis in spatial)
    total = "Y" if program.stored is None else "S"
    first = f"D[{_index(list(spatial)[-len(program.channels) :])}]" if program.has_bias else f"T.{sums}(0)"
    factors = " * ".join(
        r if d == sums else f'T.Cast("{sums}", {r})' for r, d in zip(reads, program.dtypes, strict=False)
    )
    body = ["with T.init():", f"    {total}[{index}] = {first}", f"{total}[{index}] = {total}[{index}] + {factors}"]
    lines = _block(total, spatial, reduced, body)
    params = [*params, *([_params("D", program.channels, sums)] if program.has_bias else [])]
    if program.stored is not None:
        lines = [f'S = T.alloc_buffer({shape}, "{sums}")', *lines]
        lines += _block("Y", spatial, {}, [f'Y[{index}] = T.Cast("{program.stored.dtype}", S[{index}])'])
    params.append(_params("Y", shape, sums if program.stored is None else program.stored.dtype))
    text = [f"@T.prim_func\ndef {name}({', '.join(params)}):", *(f"    {line}" for line in lines)]
    func = parse("\n".join(text), {})[name]
    if program.stored is not None:
        _store_computed(func, program.stored)
    return func


def _store_computed(func: PrimFunc, stored: Stored) -> None:
    """Let a function store what an instruction computes of the sums.

    Y[i, j] = T.Cast("int8", S[i, j])    -->    Y[i, j] = f(S[i, j])
    """
    with enter_context():
        store = [op for op in ops(func.func.op) if isa(op, ElementStoreOp)][-1]
        sums = [op for op in ops(func.func.op) if isa(op, ElementLoadOp)][-1].results[0]
        with ir.InsertionPoint(store), store.location:
            (leaf,) = {*leaves(stored.payload)}
            value = TreeEmitter({leaf: sums}, []).value(stored.tree)
        cast = StoreOp(store).value
        edit.set_operand(store, 0, value)
        if cast != sums:
            edit.erase(cast.owner.operation)


def _block(name: str, spatial: Mapping[str, int], reduced: Mapping[str, int], body: Sequence[str]) -> list[str]:
    """A block in loops."""
    axes = {**spatial, **reduced}
    kinds = "S" * len(spatial) + "R" * len(reduced)
    names = ", ".join(axes)
    return [
        f"for {names} in T.grid({', '.join(map(str, axes.values()))}):",
        f'    with T.block("{name}"):',
        f'        {", ".join(f"v{a}" for a in axes)} = T.axis.remap("{kinds}", [{names}])',
        *(f"        {line}" for line in body),
    ]


def _params(name: str, shape: Shape, dtype: str) -> str:
    single = "," if len(shape) == 1 else ""
    return f'{name}: T.Buffer(({", ".join(map(str, shape))}{single}), "{dtype}")'


def _index(batch: Sequence[str], *axes: str) -> str:
    return ", ".join(f"v{axis}" for axis in (*batch, *axes))
