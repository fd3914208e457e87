"""The records: `MlirOp`, what is known of an op of MLIR; `ScalarFunction`, a function or an operator of `T`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto


class Trait(Flag):
    """One property of an op."""

    RETYPED = auto()  # a view whose type follows another layout or memory space of its memref
    PURE = auto()  # no side effects, and no scalar op (see `is_pure`); a load counts as pure
    FREE = auto()  # no side effects, but no op of an expression
    ASSOCIATIVE = auto()  # a declared reduction may reassociate it, floats too; all of these commute
    TRAPS = auto()  # an integer division: it traps on zero
    CONTRACTS = auto()  # of floats: may become a part of a fused multiply-add
    TO_FLOAT = auto()  # integer to float
    FOLDS = auto()  # `read_map` reads the expression of the value, not the value
    SIZE = auto()  # may define a shape variable
    WIDENS = auto()  # a cast to a type that may have all values of the operand
    ROUNDS = auto()  # a step function of floats: a small change of the operand may change the result by 1
    ZERO = auto()  # zero if all operands are
    SIGNLESS = auto()  # on integers: the result has the sign of the operands
    JOINS = auto()  # the lanes of its operands, one after the other
    LANES = auto()  # the elements of its vector are those of its operands
    CHEAP = auto()  # of functions: a few instructions
    SLOW = auto()  # of functions: so many instructions that a sum over it is not bound by the latency of additions


NONE = Trait(0)


@dataclass(frozen=True)
class MlirOp:
    """What is known of an op of MLIR."""

    name: str
    traits: Trait = NONE
    view: str = "TypedOp"
    """The class that names its operands, in `dialect.ir.op_views` or `lowering_op_views`."""
    algebra: str = ""
    """Of operators: the operation that it is on any kind of number, "sum"."""
    unsigned: str = ""
    """The op on unsigned integers, if it is another one."""
    sign: str = ""
    """The operator of Python, "+"."""
    python: Callable[..., float] | None = None
    """The function of Python's floats. ValueError stands for NaN, OverflowError for infinity."""
    atomic: str = ""
    """The kind of `memref.atomic_rmw` that GPUs have for it, "addf"; of a float sum, of no other operator of floats."""
    c: str = ""
    """The operator of C, "+", or the function of CUDA C and OpenCL C for doubles, "exp"."""
    javascript: bool = False
    """Whether a module of WebAssembly may call the C function: its loader takes it from JavaScript's `Math`."""
    field: str = ""
    """In the field of the exact check: the function that computes it, "opaque" or "predicate" for an unknown one."""
    llvm: str = ""
    """LLVM's intrinsics that are this op, without `llvm.`, separated by spaces; the first one is written."""
    gpu: str = ""
    """Of functions: "instruction" if the intrinsic is one of a GPU, "upstream" if MLIR's own conversion is used."""


@dataclass(frozen=True)
class ScalarFunction:
    """A function or an operator of numbers. `T`, `te`, `topi`, graphs, the parser and the printer are made from it."""

    name: str
    """The function of `T`; "" for an op that only MLIR programs have."""
    doc: str
    """What it computes, in terms of `params`."""
    params: tuple[str, ...] = ("x",)
    takes: str = "floats"
    """The operands, of one type: "floats", "integers", "numbers", "bools" or "values"."""
    predicate: bool = False
    """Whether the result is a bool; else it has the type of the operands."""
    on_floats: MlirOp | None = None
    on_integers: MlirOp | None = None
    """The op on signed integers."""
    by: str = ""
    """A function without an op, by operators, numbers and other functions of `T`: "1.0 / (1.0 + T.exp(-x))"."""
    symbol: str = ""
    """The operator of Python with the same meaning."""
    infix: bool = False
    """Whether it is printed as `x symbol y`, not as `T.name(x, y)`."""
    synonym: str = ""
    """The function that it is printed as, if that is another one."""
    aliases: str = ""
    """Other names in `T`, separated by spaces."""
    te: str | None = None
    """The names in `te`, separated by spaces; None: that in `T`."""
    topi: str = ""
    """The operator of `topi` and of graphs that is this function of each element."""
    linalg: str | None = None
    """The named op of MLIR on tensors, "linalg.exp"."""
    torch: str = ""
    """PyTorch's operators that are this one, separated by spaces."""
    onnx: str = ""
    """ONNX's operator that is this one."""
    ulps: float = 1.0
    """The greatest error of compiled code in float32, in units of the last digit."""

    @property
    def float_op(self) -> str | None:
        return self.on_floats and self.on_floats.name

    @property
    def int_op(self) -> str | None:
        return self.on_integers and self.on_integers.name

    @property
    def ops(self) -> tuple[str, ...]:
        """The names of its ops of MLIR."""
        return tuple(dict.fromkeys(op for op in (self.float_op, self.int_op) if op))

    @property
    def te_names(self) -> tuple[str, ...]:
        return (self.name,) if self.te is None else tuple(self.te.split())
