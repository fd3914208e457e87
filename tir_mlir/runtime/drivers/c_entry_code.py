"""The code of a C function of an exported library, in the llvm dialect."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

from tir_mlir.dialect.diagnostics import RECORD, CheckedSite
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, Dim, ScalarParam

_BYTES = {"64": 8, "32": 4, "16": 2, "8": 1}
_FLOATS = {"float64": "f64", "float32": "f32"}


class Number:
    """An i64 of the code: arithmetic on it is written down. Operands may be Python's numbers."""

    def __init__(self, code: EntryCode, name: str):
        self.code, self.name = code, name

    def _made(self, op: str, operand: Any, swapped: bool = False) -> Number:
        pair = (self.code.number(operand), self) if swapped else (self, self.code.number(operand))
        return self.code.op(f"llvm.{op} {pair[0].name}, {pair[1].name} : i64")

    def __add__(self, rhs: Any) -> Number:
        return self._made("add", rhs)

    def __mul__(self, rhs: Any) -> Number:
        return self._made("mul", rhs)

    def __sub__(self, rhs: Any) -> Number:
        return self._made("sub", rhs)

    def __mod__(self, rhs: Any) -> Number:
        """Rounded as in Python, for a positive divisor: ((x rem y) + y) rem y."""
        return (self._made("srem", rhs) + rhs)._made("srem", rhs)

    def __floordiv__(self, rhs: Any) -> Number:
        return (self - self % rhs)._made("sdiv", rhs)

    def __neg__(self) -> Number:
        return self._made("sub", 0, swapped=True)

    __radd__, __rmul__ = __add__, __mul__


class EntryCode:
    """Writes one function: the checks, a descriptor for each buffer, the call."""

    def __init__(self, signature: CallSignature, name: str, sizes: Sequence[str], sites: Sequence[CheckedSite] | None):
        self.signature, self.name, self.sites = signature, name, sites
        self.numbers = itertools.count()
        self.lines: list[str] = []
        self.globals: list[str] = []
        self.known: dict[str, Any] = {size: Number(self, f"%s{n}") for n, size in enumerate(sizes)}
        self.arguments = [f"%s{n}: i64" for n in range(len(sizes))]
        for n, p in enumerate(signature.params):
            self.arguments.append(f"%a{n}: {_kind(p)}")
            if isinstance(p, ScalarParam) and p.is_index:
                self.known[p.name] = Number(self, f"%a{n}")

    def text(self) -> str:
        """The module: the function, the one that tells why it refused, what both need."""
        self._checks()
        record = self._clear_record()
        kinds, values = self._passed()
        callee = f'@"{PREFIX}{self.signature.name}"'
        self.lines.append(f"llvm.call {callee}({', '.join(values)}) : ({', '.join(kinds)}) -> ()")
        if record:
            self._look_at_record(record)
        error = f'@"{self.name}.error"'
        declared = f"llvm.func {callee}({', '.join(kinds)})"
        outside = (
            f"llvm.mlir.global external @{RECORD}() : !llvm.array<{self._record_length()} x i64>" if record else ""
        )
        return "\n".join([
            declared, outside, *self.globals,
            f"llvm.mlir.global internal thread_local {error}() : !llvm.ptr {{",
            "  %none = llvm.mlir.zero : !llvm.ptr", "  llvm.return %none : !llvm.ptr", "}",
            f'llvm.func @"{self.name}_error"() -> !llvm.ptr {{',
            f"  %place = llvm.mlir.addressof {error} : !llvm.ptr",
            "  %why = llvm.load %place : !llvm.ptr -> !llvm.ptr", "  llvm.return %why : !llvm.ptr", "}",
            *(self._outside() if record else ()),
            f'llvm.func @"{self.name}"({", ".join(self.arguments)}) -> i32 {{',
            *self.lines,
            "  %done = llvm.mlir.constant(0 : i32) : i32", "  llvm.return %done : i32",
            "^refuse(%why: !llvm.ptr):",
            f"  %place = llvm.mlir.addressof {error} : !llvm.ptr",
            "  llvm.store %why, %place : !llvm.ptr, !llvm.ptr",
            "  %refused = llvm.mlir.constant(-1 : i32) : i32", "  llvm.return %refused : i32", "}",
        ])  # fmt: skip

    # --- values -------------------------------------------------------------------------------------------------------

    def op(self, text: str) -> Number:
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"{name} = {text}")
        return Number(self, name)

    def number(self, value: Any) -> Number:
        return value if isinstance(value, Number) else self.op(f"llvm.mlir.constant({value} : i64) : i64")

    def extent(self, param: BufferParam, number: int) -> Any:
        """An extent: a number of Python where it is constant."""
        dim = param.dims[number]
        return self.known[f"{param.name}_size_{number}"] if dim.text == "?" else self.value(dim)

    def value(self, dim: Dim) -> Any:
        return dim.value(self.known)

    def strides(self, param: BufferParam) -> list[Any]:
        """In elements."""
        extents = [self.extent(param, n) for n in range(len(param.dims))]
        if param.strides is None:
            return [prod(extents[n + 1 :]) for n in range(len(extents))]
        names = (f"{param.name}_stride_{n}" for n in range(len(extents)))
        return [self.known[name] if s is None else s for name, s in zip(names, param.strides, strict=True)]

    def num_elements(self, param: BufferParam) -> Any:
        """How many elements from its start a buffer reaches; of a row-major one, its elements."""
        extents = [self.extent(param, n) for n in range(len(param.dims))]
        if param.strides is None:
            return prod(extents)
        return sum(((e + -1) * s for e, s in zip(extents, self.strides(param), strict=True)), param.offset + 1)

    # --- checks -------------------------------------------------------------------------------------------------------

    def _refuse_if(self, condition: str, why: str) -> None:
        """End the function where a condition, an i1, holds."""
        number = next(self.numbers)
        text = f"{self.name}: {why}".encode() + b"\0"
        quoted = "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:02X}" for c in text)
        self.globals.append(f'llvm.mlir.global internal constant @"{self.name}.why{number}"("{quoted}")')
        self.lines += [
            f'%w{number} = llvm.mlir.addressof @"{self.name}.why{number}" : !llvm.ptr',
            f"llvm.cond_br {condition}, ^refuse(%w{number} : !llvm.ptr), ^next{number}",
            f"^next{number}:",
        ]

    def _compared(self, how: str, lhs: Any, rhs: Any) -> str:
        return self.op(f'llvm.icmp "{how}" {self.number(lhs).name}, {self.number(rhs).name} : i64').name

    def _both(self, *conditions: str) -> str:
        conjunction = conditions[0]
        for condition in conditions[1:]:
            conjunction = self.op(f"llvm.and {conjunction}, {condition} : i1").name
        return conjunction

    def _checks(self) -> None:
        for name, value in self.known.items():
            if "_stride_" not in name:
                self._refuse_if(self._compared("slt", value, 0), f"{name} is negative")
        buffers = [(n, p) for n, p in enumerate(self.signature.params) if isinstance(p, BufferParam)]
        for _, p in buffers:
            for number, dim in enumerate(p.dims):
                if dim.symbols and dim.text != dim.symbols[0]:
                    negative = self._compared("slt", self.value(dim), 0)
                    self._refuse_if(negative, f"{p.name} has a negative extent, {dim.text}, in dimension {number}")
        for promise in self.signature.promises:
            wrong = self._compared("ne" if promise.is_eq else "slt", self.value(promise.value), 0)
            self._refuse_if(wrong, f"the sizes do not satisfy {promise.text}")
        addresses = {n: self.op(f"llvm.ptrtoint %a{n} : !llvm.ptr to i64") for n, _ in buffers}
        for n, p in buffers:
            count, missing = self.num_elements(p), self._compared("eq", addresses[n], 0)
            if isinstance(count, Number):
                missing = self._both(missing, self._compared("sgt", count, 0))
            if isinstance(count, Number) or count > 0:
                self._refuse_if(missing, f"{p.name} is NULL")
            if (size := item_bytes(p.dtype)) > 1:
                apart = self.op(f"llvm.and {addresses[n].name}, {self.number(size - 1).name} : i64")
                self._refuse_if(self._compared("ne", apart, 0), f"{p.name} is not at a multiple of {size} bytes")
        if self.signature.noalias:
            for (n, p), (m, q) in itertools.combinations(buffers, 2):
                if p.written or q.written:
                    self._check_distinct(addresses[n], p, addresses[m], q)

    def _check_distinct(self, start_p: Number, p: BufferParam, start_q: Number, q: BufferParam) -> None:
        """Refuse arrays that overlap: each starts before the other's end."""
        bytes_p, bytes_q = (self.num_elements(x) * item_bytes(x.dtype) for x in (p, q))
        conditions = [
            self._compared("ult", start_p, start_q + bytes_q),
            self._compared("ult", start_q, start_p + bytes_p),
        ]
        conditions += [self._compared("sgt", size, 0) for size in (bytes_p, bytes_q) if isinstance(size, Number)]
        if not any(size == 0 for size in (bytes_p, bytes_q)):
            self._refuse_if(self._both(*conditions), f"{p.name} and {q.name} overlap")

    # --- the call -----------------------------------------------------------------------------------------------------

    def _passed(self) -> tuple[list[str], list[str]]:
        """The types and the values that the compiled function takes: a pointer to a descriptor for each buffer."""
        kinds = [_kind(p) for p in self.signature.params]
        values = [
            self._descriptor(n, p) if isinstance(p, BufferParam) else f"%a{n}"
            for n, p in enumerate(self.signature.params)
        ]
        return kinds, values

    def _descriptor(self, number: int, param: BufferParam) -> str:
        rank = len(param.dims)
        arrays = f", array<{rank} x i64>, array<{rank} x i64>" if rank else ""
        kind = f"!llvm.struct<(ptr, ptr, i64{arrays})>"
        count = self.op("llvm.mlir.constant(1 : i32) : i32").name
        descriptor = self.op(f"llvm.alloca {count} x {kind} : (i32) -> !llvm.ptr").name

        def store(value: str, type_: str, *indices: int) -> None:
            field = self.op(
                f"llvm.getelementptr {descriptor}[0, {', '.join(map(str, indices))}] : (!llvm.ptr) -> !llvm.ptr, {kind}"
            )
            self.lines.append(f"llvm.store {value}, {field.name} : {type_}, !llvm.ptr")

        store(f"%a{number}", "!llvm.ptr", 0)
        store(f"%a{number}", "!llvm.ptr", 1)
        store(self.number(param.offset).name, "i64", 2)
        for n, stride in enumerate(self.strides(param)):
            store(self.number(self.extent(param, n)).name, "i64", 3, n)
            store(self.number(stride).name, "i64", 4, n)
        return descriptor

    def _record_length(self) -> int:
        return 1 + 2 * max(s.rank for s in self.sites or ())

    def _outside(self) -> list[str]:
        """The function that gives the record of the first access outside."""
        return [
            f'llvm.func @"{self.name}_outside"() -> !llvm.ptr {{',
            f"  %place = llvm.mlir.addressof @{RECORD} : !llvm.ptr", "  llvm.return %place : !llvm.ptr", "}",
        ]  # fmt: skip

    def _clear_record(self) -> str:
        """Before the call: no access was outside. Returns the place; "" for code without checks."""
        if not self.sites:
            return ""
        record = self.op(f"llvm.mlir.addressof @{RECORD} : !llvm.ptr").name
        self.lines.append(f"llvm.store {self.number(0).name}, {record} : i64, !llvm.ptr")
        return record

    def _look_at_record(self, record: str) -> None:
        """After the call: the first access that was outside is told."""
        loaded = self.op(f"llvm.load {record} : !llvm.ptr -> i64")
        for number, site in enumerate(self.sites or ()):
            why = f"an access is outside its buffer: {site.text}, {site.place}"
            self._refuse_if(self._compared("eq", loaded, number + 1), why)


def item_bytes(dtype: str) -> int:
    """The bytes of an element."""
    return next((size for bits, size in _BYTES.items() if dtype.endswith(bits)), 1)


def _kind(param: BufferParam | ScalarParam) -> str:
    """The type of a parameter in the llvm dialect."""
    if isinstance(param, BufferParam):
        return "!llvm.ptr"
    if param.dtype == "bool":
        return "i1"
    return _FLOATS.get(param.dtype) or f"i{8 * item_bytes(param.dtype)}"
