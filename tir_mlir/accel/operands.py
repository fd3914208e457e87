"""What the parts of a machine are, and the annotations of an instruction's operands."""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.dialect.ir import dtypes


@dataclass(frozen=True)
class MemorySpace:
    """A memory of a machine; as an annotation, a tile of rows in it."""

    name: str
    rows: int
    width: int
    """Elements of a row."""
    dtype: str
    alignment: int
    """Rows to a multiple of which a buffer is aligned."""
    is_shared: bool = False
    """Whether all cores have one together; else each has one of its own."""

    @property
    def row_bytes(self) -> int:
        return self.width * dtypes.bits(self.dtype) // 8

    @property
    def bytes(self) -> int:
        return self.rows * self.row_bytes

    @property
    def scope(self) -> str:
        """The scope of its buffers."""
        return f"global.{self.name}"


@dataclass(frozen=True)
class ExecutionUnit:
    """A unit that executes instructions in order."""

    name: str
    queue: int
    """Instructions that wait for it at most."""
    is_shared: bool = False
    """Whether all cores have one together; else each has one of its own."""


@dataclass(frozen=True)
class Field:
    """A field of a configuration register."""

    register: str
    name: str
    dtype: str

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


@dataclass(frozen=True)
class Number:
    """An operand of an instruction that is a number."""

    name: str
    dtype: str
    high: int | None = None
    """The greatest value of one from 0 on."""


@dataclass(frozen=True)
class Stride:
    """A stride of an operand, in elements."""

    operand: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.operand}.strides[{self.dimension}]"
