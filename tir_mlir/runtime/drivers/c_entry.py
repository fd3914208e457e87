"""The C functions of an exported library: they check the arguments, and call the compiled code.

    int matmul(const float *A, const float *B, float *C);   0, or -1 for arguments that the code is not for
    const char *matmul_error(void);                          why, in the thread that it happened in

`CEntry` has their names and parameters, `EntryCode` writes their code in the llvm dialect.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from mlir import ir

from tir_mlir.dialect.calls.function_texts import quote, symbol
from tir_mlir.dialect.diagnostics import RECORD, BuildError, CheckedSite, short_repr
from tir_mlir.dialect.ir.lowering_op_views import LLVMGlobalOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.call.signature import BufferDim, BufferParam, CallSignature, ScalarParam
from tir_mlir.runtime.drivers import shared_libraries

C_TYPES = {
    "float64": "double", "float32": "float", "float16": "uint16_t", "bfloat16": "uint16_t", "bool": "bool",
    "int64": "int64_t", "int32": "int32_t", "int16": "int16_t", "int8": "int8_t",
    "uint64": "uint64_t", "uint32": "uint32_t", "uint16": "uint16_t", "uint8": "uint8_t",
}  # fmt: skip
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = frozenset(
    "alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const constexpr "
    "continue decltype default delete do double else enum explicit export extern false float for friend goto if "
    "inline int long mutable namespace new noexcept not nullptr operator or private protected public register "
    "requires restrict return short signed sizeof static struct switch template this throw true try typedef "
    "typeid typename union unsigned using virtual void volatile wchar_t while xor char8_t char16_t char32_t concept "
    "consteval constinit co_await co_return co_yield requires static_assert thread_local typeof typeof_unqual "
    "size_t intptr_t uintptr_t".split()
) | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
"""Of C and C++, and the types of what is exported."""
_MACROS = frozenset("errno i386 linux st_atime st_ctime st_mtime stderr stdin stdout unix".split())
"""Words that a compiler, or a header of C, replaces; those in capitals have a rule."""


def identifier(name: str) -> str:
    """A name as a C identifier that is not a keyword, and no macro of the headers of C."""
    spelling = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not spelling or spelling[0].isdigit() or re.match(r"_[A-Z_]", spelling):  # the last are the compiler's
        spelling = f"v{spelling}"
    is_taken = spelling in _KEYWORDS or spelling in _MACROS or re.fullmatch(r"[A-Z][A-Z0-9_]+", spelling)
    return f"{spelling}_" if is_taken else spelling


def identifiers(names: Iterable[str], taken: Collection[str] = ()) -> list[str]:
    """Names -> C identifiers that differ, and are not taken."""
    c_names: list[str] = []
    for name in names:
        c_name = identifier(name)
        while c_name in c_names or c_name in taken:
            c_name += "_"
        c_names.append(c_name)
    return c_names


@dataclass(frozen=True)
class CEntry:
    """A function of a library under its C name."""

    signature: CallSignature
    name: str

    @cached_property
    def parameters(self) -> list[tuple[str, str]]:
        """The C type and name of each parameter: the sizes that no other parameter tells, then those of the program."""
        params = self.signature.params
        kinds = ["int64_t "] * len(self.sizes) + [
            f"{C_TYPES[p.dtype]} "
            if isinstance(p, ScalarParam)
            else f"{'' if p.written else 'const '}{C_TYPES[p.dtype]} *"
            for p in params
        ]
        return list(zip(kinds, identifiers([*self.sizes, *(p.name for p in params)]), strict=True))

    @cached_property
    def sizes(self) -> list[str]:
        """Shape variables, extents without a name and strides that the caller passes, in order."""
        scalars = {p.name for p in self.signature.params if isinstance(p, ScalarParam) and p.is_index}
        required: dict[str, None] = {}
        for p in self.signature.params:
            if isinstance(p, BufferParam):
                for number, dim in enumerate(p.dims):
                    required |= dict.fromkeys(dim.symbols if dim.text != "?" else [extent_name(p, number)])
                for number, stride in enumerate(p.strides or ()):
                    required |= {stride_name(p, number): None} if stride is None else {}
        for promise in self.signature.promises:
            required |= dict.fromkeys(promise.value.symbols)
        return [size for size in required if size not in scalars]

    @property
    def prototype(self) -> str:
        return f"int {self.name}({', '.join(kind + name for kind, name in self.parameters) or 'void'})"

    @property
    def error(self) -> str:
        """The name of the function that tells why."""
        return f"{self.name}_error"

    def functions(self, sites: Sequence[CheckedSite] | None) -> list[str]:
        """The names of all C functions; of checked code also the one that tells the access."""
        return [self.name, self.error, *([f"{self.name}_outside"] if sites else [])]


def size_values(entry: CEntry, values: Sequence[object]) -> list[int]:
    """The sizes that a caller passes with these arguments of the program: arrays and numbers."""
    sizes: dict[str, int] = {}
    for param, value in zip(entry.signature.params, values, strict=True):
        if isinstance(param, BufferParam):
            assert isinstance(value, np.ndarray)
            for number, (dim, extent) in enumerate(zip(param.dims, value.shape, strict=True)):
                sizes[extent_name(param, number)] = extent
                sizes |= {dim.text: extent} if dim.symbols == (dim.text,) else {}
            for number, stride in enumerate(value.strides):
                sizes[stride_name(param, number)] = stride // value.itemsize
    return [sizes[size] for size in entry.sizes]


def extent_name(param: BufferParam, number: int) -> str:
    """The name of an extent that has none in the program."""
    return f"{param.name}_size_{number}"


def stride_name(param: BufferParam, number: int) -> str:
    return f"{param.name}_stride_{number}"


def entries(
    signatures: Sequence[CallSignature], symbols: Mapping[str, str], stem: str, name: str | None
) -> list[CEntry]:
    """The C functions of a library. One is called `name`; else as the program is; else, if that is `main`, as its
    `global_symbol` (`symbols`), or as the file, whose name without suffix is `stem`. Raises BuildError."""
    if name is not None and (len(signatures) != 1 or not isinstance(name, str)):
        raise BuildError(
            f"name={short_repr(name)}: name= is for a library with one function; this one has {len(signatures)}"
        )
    c_entries = []
    for s in signatures:
        symbol = symbols.get(s.name, "main") if s.name == "main" else s.name
        c_entries.append(CEntry(s, name or (_entry_prefix(stem) if symbol == "main" else symbol)))
    for entry in c_entries:
        _check_name(entry, [e.name for e in c_entries])
    return c_entries


def _entry_prefix(stem: str) -> str:
    return identifier(stem.removeprefix("lib") or stem)


def _check_name(entry: CEntry, names: Sequence[str]) -> None:
    problem = f"the C function of {entry.signature.name} would be called {entry.name!r}"
    fix = "fix: export(path, name=...)" if len(names) == 1 else "fix: rename the function"
    if not _IDENTIFIER.fullmatch(entry.name) or entry.name in _KEYWORDS or entry.name == "main":
        raise BuildError(f"{problem}, which is not a name of a C function; {fix}")
    if names.count(entry.name) > 1 or entry.error in names:
        raise BuildError(f"{problem}, as another one of the library; {fix}")
    if shared_libraries.in_c_library(entry.name):
        raise BuildError(f"{problem}, which is a function of the C library, and programs would call this one; {fix}")


def add_entries(
    module: ir.Module, c_entries: Sequence[CEntry], sites: Sequence[CheckedSite] | None, threads: bool = True
) -> list[str]:
    """Add the C functions to a module in the llvm dialect, where all else becomes internal. Returns their names.
    threads: whether each thread has an error of its own.

    llvm.func @_mlir_ciface_f(...) {...}   -->   llvm.func internal @_mlir_ciface_f(...) {...}
                                                 llvm.func @f(%A: !llvm.ptr, ...) -> i32 {...}
                                                 llvm.func @f_error() -> !llvm.ptr {...}
    Raises BuildError for a name that the code itself calls.
    """
    names = [name for entry in c_entries for name in entry.functions(sites)]
    for op in list(module.body.operations):
        if "sym_name" not in op.attributes:
            continue
        symbol = ir.StringAttr(op.attributes["sym_name"]).value
        if symbol in names:
            raise BuildError(f"the code calls a function {symbol!r} of its own; fix: export(path, name=...)")
        if isa(op, LLVMGlobalOp) or len(op.operation.regions[0].blocks):
            op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    declared = {
        ir.StringAttr(op.attributes["sym_name"]).value for op in module.body.operations if ("sym_name" in op.attributes)
    }
    for entry in c_entries:
        text = EntryCode(entry.signature, entry.name, entry.sizes, sites, threads).text()
        added = ir.Module.parse(text)
        for op in list(added.body.operations):
            if ir.StringAttr(op.attributes["sym_name"]).value not in declared:
                op.operation.detach_from_parent()
                module.body.append(op)
    return names


def header(
    c_entries: Sequence[CEntry], stem: str, sites: Sequence[CheckedSite] | None, functions: Collection[str] = ()
) -> str:
    """The C header of exported functions, with more `functions` in C. sites: what checked code checks."""
    guard = f"TIR_{identifier(stem).upper()}_H"
    parts = [f"#ifndef {guard}\n#define {guard}\n#include <stdbool.h>\n#include <stdint.h>\n"]
    parts += ['#ifdef __cplusplus\nextern "C" {\n#endif\n']
    parts.append(
        "/* Arrays are row-major, and distinct. A function returns 0; or -1 for arguments that it is not for, and\n"
        "   writes nothing. NAME_error tells why, in the thread that it happened in. */\n"
    )
    parts += [_declaration(entry, sites) for entry in c_entries]
    parts += [_checked_accesses_comment(sites)] if sites else []
    parts += [*functions, "#ifdef __cplusplus\n}\n#endif\n#endif\n"]
    return "\n".join(parts)


def _declaration(entry: CEntry, sites: Sequence[CheckedSite] | None) -> str:
    comment = str(entry.signature).replace("*/", "* /")
    outside = f"const int64_t *{entry.name}_outside(void);\n" if sites else ""
    return f"/* {comment} */\n{entry.prototype};\nconst char *{entry.error}(void);\n{outside}"


def _checked_accesses_comment(sites: Sequence[CheckedSite]) -> str:
    lines = [f"{i + 1}: {s.text}, {s.location}" for i, s in enumerate(sites)]
    listed = "\n".join("   " + line.replace("*/", "* /") for line in lines)
    return (
        "/* The code checks these accesses. One outside its buffer is skipped; the function goes on, and returns -1.\n"
        "   NAME_outside tells the first: {number of the access, or 0, then the index and the extent of each\n"
        f"   dimension; for a binding its value, and the end, start and end of its domain}}.\n{listed} */\n"
    )


# --- the code of a C function -----------------------------------------------------------------------------------------


_BYTES = {"64": 8, "32": 4, "16": 2, "8": 1}
_FLOATS = {"float64": "f64", "float32": "f32"}


class I64Value:
    """An i64 of the code: arithmetic on it is written down. Operands may be Python's numbers."""

    def __init__(self, code: EntryCode, name: str):
        self.code, self.name = code, name

    def _emit_binary(self, op: str, operand: I64Value | int, swapped: bool = False) -> I64Value:
        pair = (self.code.number(operand), self) if swapped else (self, self.code.number(operand))
        return self.code.op(f"llvm.{op} {pair[0].name}, {pair[1].name} : i64")

    def __add__(self, rhs: I64Value | int) -> I64Value:
        return self._emit_binary("add", rhs)

    def __mul__(self, rhs: I64Value | int) -> I64Value:
        return self._emit_binary("mul", rhs)

    def __sub__(self, rhs: I64Value | int) -> I64Value:
        return self._emit_binary("sub", rhs)

    def __mod__(self, rhs: I64Value | int) -> I64Value:
        """Rounded as in Python, for a positive divisor: ((x rem y) + y) rem y."""
        return (self._emit_binary("srem", rhs) + rhs)._emit_binary("srem", rhs)

    def __floordiv__(self, rhs: I64Value | int) -> I64Value:
        return (self - self % rhs)._emit_binary("sdiv", rhs)

    def __neg__(self) -> I64Value:
        return self._emit_binary("sub", 0, swapped=True)

    __radd__, __rmul__ = __add__, __mul__


class EntryCode:
    """Writes one function: the checks, a descriptor for each buffer, the call."""

    def __init__(
        self,
        signature: CallSignature,
        name: str,
        sizes: Sequence[str],
        sites: Sequence[CheckedSite] | None,
        threads: bool = True,
    ):
        self.signature, self.name, self.sites = signature, name, sites
        self.error_kind = "thread_local " if threads else ""
        self.numbers = itertools.count()
        self.lines: list[str] = []
        self.globals: list[str] = []
        self.known: dict[str, I64Value | int] = {size: I64Value(self, f"%s{n}") for n, size in enumerate(sizes)}
        self.arguments = [f"%s{n}: i64" for n in range(len(sizes))]
        for n, p in enumerate(signature.params):
            self.arguments.append(f"%a{n}: {_kind(p)}")
            if isinstance(p, ScalarParam) and p.is_index:
                self.known[p.name] = I64Value(self, f"%a{n}")

    def text(self) -> str:
        """The module: the function, the one that tells why it refused, what both need."""
        self._checks()
        record = self._clear_record()
        kinds, values = self._call_operands()
        callee = symbol(PREFIX + self.signature.name)
        self.lines.append(f"llvm.call {callee}({', '.join(values)}) : ({', '.join(kinds)}) -> ()")
        if record:
            self._look_at_record(record)
        error = symbol(f"{self.name}.error")
        declared = f"llvm.func {callee}({', '.join(kinds)})"
        outside = (
            f"llvm.mlir.global external @{RECORD}() : !llvm.array<{self._record_length()} x i64>" if record else ""
        )
        return "\n".join([
            declared, outside, *self.globals,
            f"llvm.mlir.global internal {self.error_kind}{error}() : !llvm.ptr {{",
            "  %none = llvm.mlir.zero : !llvm.ptr", "  llvm.return %none : !llvm.ptr", "}",
            f"llvm.func {symbol(self.name + '_error')}() -> !llvm.ptr {{",
            f"  %slot = llvm.mlir.addressof {error} : !llvm.ptr",
            "  %why = llvm.load %slot : !llvm.ptr -> !llvm.ptr", "  llvm.return %why : !llvm.ptr", "}",
            *(self._record_getter() if record else ()),
            f"llvm.func {symbol(self.name)}({', '.join(self.arguments)}) -> i32 {{",
            *self.lines,
            "  %done = llvm.mlir.constant(0 : i32) : i32", "  llvm.return %done : i32",
            "^refuse(%why: !llvm.ptr):",
            f"  %slot = llvm.mlir.addressof {error} : !llvm.ptr",
            "  llvm.store %why, %slot : !llvm.ptr, !llvm.ptr",
            "  %refused = llvm.mlir.constant(-1 : i32) : i32", "  llvm.return %refused : i32", "}",
        ])  # fmt: skip

    # --- values -------------------------------------------------------------------------------------------------------

    def op(self, text: str) -> I64Value:
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"{name} = {text}")
        return I64Value(self, name)

    def number(self, value: I64Value | int) -> I64Value:
        return value if isinstance(value, I64Value) else self.op(f"llvm.mlir.constant({value} : i64) : i64")

    def extent(self, param: BufferParam, number: int) -> I64Value | int:
        """An extent: a number of Python where it is constant."""
        dim = param.dims[number]
        return self.known[f"{param.name}_size_{number}"] if dim.text == "?" else self.value(dim)

    def value(self, dim: BufferDim) -> I64Value | int:
        return dim.value(self.known)

    def strides(self, param: BufferParam) -> list[I64Value | int]:
        """In elements."""
        extents = [self.extent(param, n) for n in range(len(param.dims))]
        if param.strides is None:
            return [prod(extents[n + 1 :]) for n in range(len(extents))]
        names = (f"{param.name}_stride_{n}" for n in range(len(extents)))
        return [self.known[name] if s is None else s for name, s in zip(names, param.strides, strict=True)]

    def num_elements(self, param: BufferParam) -> I64Value | int:
        """How many elements from its start a buffer reaches; of a row-major one, its elements."""
        extents = [self.extent(param, n) for n in range(len(param.dims))]
        if param.strides is None:
            return prod(extents)
        return sum(((e + -1) * s for e, s in zip(extents, self.strides(param), strict=True)), param.offset + 1)

    # --- checks -------------------------------------------------------------------------------------------------------

    def _refuse_if(self, condition: str, why: str) -> None:
        """End the function where a condition, an i1, holds."""
        number = next(self.numbers)
        name, text = symbol(f"{self.name}.why{number}"), quote(f"{self.name}: {why}\0")
        self.globals.append(f"llvm.mlir.global internal constant {name}({text})")
        self.lines += [
            f"%w{number} = llvm.mlir.addressof {name} : !llvm.ptr",
            f"llvm.cond_br {condition}, ^refuse(%w{number} : !llvm.ptr), ^next{number}",
            f"^next{number}:",
        ]

    def _emit_compare(self, how: str, lhs: I64Value | int, rhs: I64Value | int) -> str:
        return self.op(f'llvm.icmp "{how}" {self.number(lhs).name}, {self.number(rhs).name} : i64').name

    def _emit_and(self, *conditions: str) -> str:
        conjunction = conditions[0]
        for condition in conditions[1:]:
            conjunction = self.op(f"llvm.and {conjunction}, {condition} : i1").name
        return conjunction

    def _checks(self) -> None:
        for name, value in self.known.items():
            if "_stride_" not in name:
                self._refuse_if(self._emit_compare("slt", value, 0), f"{name} is negative")
        buffers = [(n, p) for n, p in enumerate(self.signature.params) if isinstance(p, BufferParam)]
        for _, p in buffers:
            for number, dim in enumerate(p.dims):
                if dim.symbols and dim.text != dim.symbols[0]:
                    negative = self._emit_compare("slt", self.value(dim), 0)
                    self._refuse_if(negative, f"{p.name} has a negative extent, {dim.text}, in dimension {number}")
        for promise in self.signature.promises:
            wrong = self._emit_compare("ne" if promise.is_eq else "slt", self.value(promise.value), 0)
            self._refuse_if(wrong, f"the sizes do not satisfy {promise.text}")
        addresses = {n: self.op(f"llvm.ptrtoint %a{n} : !llvm.ptr to i64") for n, _ in buffers}
        for n, p in buffers:
            count, missing = self.num_elements(p), self._emit_compare("eq", addresses[n], 0)
            if isinstance(count, I64Value):
                missing = self._emit_and(missing, self._emit_compare("sgt", count, 0))
            if isinstance(count, I64Value) or count > 0:
                self._refuse_if(missing, f"{p.name} is NULL")
            if (size := item_bytes(p.dtype)) > 1:
                apart = self.op(f"llvm.and {addresses[n].name}, {self.number(size - 1).name} : i64")
                self._refuse_if(self._emit_compare("ne", apart, 0), f"{p.name} is not at a multiple of {size} bytes")
        if self.signature.noalias:
            for (n, p), (m, q) in itertools.combinations(buffers, 2):
                if p.written or q.written:
                    self._check_distinct(addresses[n], p, addresses[m], q)

    def _check_distinct(self, start_p: I64Value, p: BufferParam, start_q: I64Value, q: BufferParam) -> None:
        """Refuse arrays that overlap: each starts before the other's end."""
        bytes_p, bytes_q = (self.num_elements(x) * item_bytes(x.dtype) for x in (p, q))
        conditions = [
            self._emit_compare("ult", start_p, start_q + bytes_q),
            self._emit_compare("ult", start_q, start_p + bytes_p),
        ]
        conditions += [self._emit_compare("sgt", size, 0) for size in (bytes_p, bytes_q) if isinstance(size, I64Value)]
        if not any(size == 0 for size in (bytes_p, bytes_q)):
            self._refuse_if(self._emit_and(*conditions), f"{p.name} and {q.name} overlap")

    # --- the call -----------------------------------------------------------------------------------------------------

    def _call_operands(self) -> tuple[list[str], list[str]]:
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

    def _record_getter(self) -> list[str]:
        """The function that gives the record of the first access outside."""
        return [
            f"llvm.func {symbol(self.name + '_outside')}() -> !llvm.ptr {{",
            f"  %slot = llvm.mlir.addressof @{RECORD} : !llvm.ptr", "  llvm.return %slot : !llvm.ptr", "}",
        ]  # fmt: skip

    def _clear_record(self) -> str:
        """Before the call: no access was outside. Returns the position; "" for code without checks."""
        if not self.sites:
            return ""
        record = self.op(f"llvm.mlir.addressof @{RECORD} : !llvm.ptr").name
        self.lines.append(f"llvm.store {self.number(0).name}, {record} : i64, !llvm.ptr")
        return record

    def _look_at_record(self, record: str) -> None:
        """After the call: the first access that was outside is reported."""
        loaded = self.op(f"llvm.load {record} : !llvm.ptr -> i64")
        for number, site in enumerate(self.sites or ()):
            why = f"an access is outside its buffer: {site.text}, {site.location}"
            self._refuse_if(self._emit_compare("eq", loaded, number + 1), why)


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
