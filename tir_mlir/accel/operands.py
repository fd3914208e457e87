"""What the parts of a machine are, and the annotations of an instruction's operands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from tir_mlir.dialect.diagnostics import IntrinError, short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.dialect.symbolic import IntExpr


@dataclass(frozen=True)
class MemorySpace:
    """A memory of a machine; as an annotation, a tile of rows in it."""

    name: str
    rows: int
    row: tuple[int, ...]
    """The shape of a row: most often so many elements."""
    dtype: str
    alignment: int
    """Rows to a multiple of which a buffer is aligned."""
    is_shared: bool = False
    """Whether all cores have one together; else each has one of its own."""
    banks: int = 1
    interleaved: bool = False
    """Whether rows go round the banks; else a bank has rows that follow each other."""
    ports: int = 0
    """Operands that use a bank at once; 0: any number."""
    refuses_conflicts: bool = False
    """Whether hardware has no way to wait for a bank."""
    immediate: bool = False
    """Whether the code of an instruction has the number of a row: a program names each by a number."""
    renamed: bool = False
    """Whether what is written does not wait for those that use what was there before."""
    declared: str = ""
    """The C that declares a row, where rows are variables: `float z{row}`."""

    @property
    def bank_rows(self) -> int:
        """The rows of a bank."""
        return -(-self.rows // self.banks)

    @property
    def width(self) -> int:
        """Elements of a row."""
        return prod(self.row)

    @property
    def row_bytes(self) -> int:
        return self.width * dtypes.bits(self.dtype) // 8

    def of(self, dtype: str, *row: int) -> RowsOf:
        """The annotation of a tile whose rows are elements of another type, or have another shape, of as many bytes:
        `tiles.of("int8", 16, 4)`. Errors: IntrinError."""
        if dtype not in dtypes.NAMES:
            raise IntrinError(f"memory {self.name}: {short_repr(dtype)} is not a type")
        shape = row or (self.row_bytes * 8 // dtypes.bits(dtype),)
        if prod(shape) * dtypes.bits(dtype) != 8 * self.row_bytes:
            raise IntrinError(
                f"a row of {self.name} has {self.row_bytes} bytes; {' x '.join(map(str, shape))} of {dtype} have not"
            )
        return RowsOf(self, dtype, shape)

    @property
    def bytes(self) -> int:
        return self.rows * self.row_bytes

    @property
    def scope(self) -> str:
        """The scope of its buffers."""
        return f"global.{self.name}"


@dataclass(frozen=True)
class RowsOf:
    """As an annotation, a tile of rows in a memory, with elements of a type."""

    memory: MemorySpace
    dtype: str
    row: tuple[int, ...]


@dataclass(frozen=True)
class ExecutionUnit:
    """A unit that executes instructions in order."""

    name: str
    queue: int
    """Instructions that wait for it at most."""
    is_shared: bool = False
    """Whether all cores have one together; else each has one of its own."""
    interlocks: str = "all"
    """For the rows of which memories other units wait, and it waits: "all", "memories" (of the machine), "none"."""
    bandwidth: float = 0
    """Bytes that it moves in a cycle; 0: its instructions say how long they take."""
    refuses_overflow: bool = False
    """Whether an instruction is lost that is issued while the queue is full."""

    @property
    def is_interlocked(self) -> bool:
        return self.interlocks == "all"


@dataclass(frozen=True)
class TokenQueue:
    """A queue of tokens, which one unit puts into it and another one takes, one for one."""

    producer: ExecutionUnit
    consumer: ExecutionUnit
    depth: int
    """Tokens that it holds at most."""
    by_flags: bool = False
    """Whether flags of the units' instructions put and take tokens; else instructions of their own."""

    @property
    def name(self) -> str:
        return f"{self.producer.name}_to_{self.consumer.name}"


FLAGS = "{flags}"
"""What stands in a call for the flags that pass tokens."""


@dataclass(frozen=True)
class Field:
    """A field of a configuration register."""

    register: str
    name: str
    dtype: str
    limits: Between | None = None
    """The values that it may have; None: all of its type."""

    def __str__(self) -> str:
        return f"{self.register}.{self.name}"


class Register:
    """A configuration register; its fields are attributes."""

    def __init__(self, name: str, fields: dict[str, Field]):
        self.name, self.fields = name, fields

    def __getattr__(self, name: str) -> Field:
        if name in self.__dict__.get("fields", {}):
            return self.fields[name]
        raise AttributeError(f"register {self.__dict__.get('name')} has no field {name}")


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, by steps from `low` on if `step` is not 0."""

    low: float
    high: float
    step: float = 0

    @property
    def dtype(self) -> str:
        """An integer if all three are."""
        return "int32" if all(isinstance(n, int) for n in (self.low, self.high, self.step)) else "float32"

    def holds(self, value: float) -> bool:
        """Whether a number is one of them."""
        inside = self.low <= value <= self.high
        return inside and (not self.step or (value - self.low) / self.step % 1 == 0)

    def __str__(self) -> str:
        steps = f" by steps of {self.step}" if self.step else ""
        return f"from {self.low} to {self.high}{steps}"


def between(low: float, high: float, step: float = 0) -> Between:
    """The annotation of a number from `low` to `high`, in steps of `step` from `low` on: what a field of an instruction
    or of a register holds. It is an int32 if all are integers, else a float32. Errors: IntrinError."""
    if not (low <= high and step >= 0):
        raise IntrinError(f"between({low}, {high}, {step}): no number is in it")
    return Between(low, high, step)


@dataclass(frozen=True)
class HostOperand:
    """An operand in the memory of the CPU."""

    dtype: str


@dataclass(frozen=True)
class UpTo:
    """A number from 0 to `high`."""

    high: int


def upto(high: int) -> UpTo:
    """The annotation of a number from 0 to `high`: how many rows or columns an instruction works on."""
    return UpTo(high)


@dataclass(frozen=True)
class Tile:
    """An operand of an instruction that is a tile."""

    name: str
    memory: MemorySpace | None
    """None: that of the CPU."""
    dtype: str
    shape: tuple[int, ...]
    access: str
    """"r", "w" or "rw"."""
    row: tuple[int, ...] = ()
    """The last dimensions, which are a row of the memory of a machine."""
    free: tuple[int, ...] = ()
    """The dimensions whose strides a program chooses: those of an operand of the CPU but the last, and those that a
    call or an assumption of the instruction names."""

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """The dimensions before those that are a row: how many rows there are at most."""
        return self.shape[: len(self.shape) - len(self.row)]

    def strides_in_rows(self, strides: Sequence[int]) -> list[int]:
        """Rows from one index to the next in each dimension of the grid, with numbers for those that are free."""
        made: list[int] = []
        for dimension in reversed(range(len(self.grid))):
            inner = dimension + 1 < len(self.grid)
            packed = self.grid[dimension + 1] * made[0] if inner else 1
            made.insert(0, strides[dimension] if dimension in self.free else packed)
        return made


@dataclass(frozen=True)
class Number:
    """An operand of an instruction that is a number."""

    name: str
    dtype: str
    high: int | None = None
    """The greatest value of one from 0 on."""
    limits: Between | None = None
    """The values that an instruction has a field for; None: all of its type."""


@dataclass(frozen=True)
class Stride:
    """A stride of an operand, in elements."""

    operand: str
    dimension: int
    factor: int = 1
    """What it is multiplied by."""

    def __str__(self) -> str:
        times = f" * {self.factor}" if self.factor != 1 else ""
        return f"{self.operand}.strides[{self.dimension}]{times}"


@dataclass(frozen=True)
class Assumption:
    """What has to hold of strides and numbers: a comparison of expressions, whose names are "D.strides[0]" or those of
    numbers."""

    text: str
    symbol: str
    """"==", "<=" or ">="."""
    left: IntExpr
    right: IntExpr
