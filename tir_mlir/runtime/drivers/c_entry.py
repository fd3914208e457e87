"""The C functions of an exported library: they check the arguments, and call the compiled code.

int matmul(const float *A, const float *B, float *C);   0, or -1 for arguments that the code is not for
const char *matmul_error(void);                          why, in the thread that it happened in
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, CheckedSite, short_repr
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, ScalarParam
from tir_mlir.runtime.drivers import shared_libraries
from tir_mlir.runtime.drivers.c_entry_code import EntryCode

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
    "typeid typename union unsigned using virtual void volatile wchar_t while xor".split()
)
"""Of C and C++."""


def identifier(name: str) -> str:
    """A name as a C identifier that is no keyword."""
    spelling = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"{spelling}_" if spelling in _KEYWORDS or not spelling or spelling[0].isdigit() else spelling


@dataclass(frozen=True)
class CEntry:
    """A function of a library under its C name."""

    signature: CallSignature
    name: str

    @cached_property
    def parameters(self) -> list[tuple[str, str]]:
        """The C type and name of each parameter: the sizes that no other parameter tells, then those of the program."""
        names = self.names
        sizes = [("int64_t ", self.names[size]) for size in self.sizes]
        params = [
            (f"{C_TYPES[p.dtype]} ", names[p.name])
            if isinstance(p, ScalarParam)
            else (f"{'' if p.written else 'const '}{C_TYPES[p.dtype]} *", names[p.name])
            for p in self.signature.params
        ]
        return sizes + params

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

    @cached_property
    def names(self) -> dict[str, str]:
        """Sizes and parameters -> their C names, which differ."""
        c_names: dict[str, str] = {}
        for name in (*self.sizes, *(p.name for p in self.signature.params)):
            c_name = identifier(name)
            while c_name in c_names.values():
                c_name += "_"
            c_names[name] = c_name
        return c_names

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


def size_values(entry: CEntry, values: Sequence[Any]) -> list[int]:
    """The sizes that a caller passes with these arguments of the program: arrays and numbers."""
    sizes: dict[str, int] = {}
    for param, value in zip(entry.signature.params, values, strict=True):
        if isinstance(param, BufferParam):
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
        c_entries.append(CEntry(s, name or (_of_file(stem) if symbol == "main" else symbol)))
    for entry in c_entries:
        _check_name(entry, [e.name for e in c_entries])
    return c_entries


def _of_file(stem: str) -> str:
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


def add_entries(module: ir.Module, c_entries: Sequence[CEntry], sites: Sequence[CheckedSite] | None) -> list[str]:
    """Add the C functions to a module in the llvm dialect, where all else becomes internal. Returns their names.

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
        if op.operation.name == "llvm.mlir.global" or len(op.operation.regions[0].blocks):
            op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    declared = {ir.StringAttr(op.attributes["sym_name"]).value for op in module.body.operations if _is_symbol(op)}
    for entry in c_entries:
        text = EntryCode(entry.signature, entry.name, entry.sizes, sites).text()
        added = ir.Module.parse(text)
        for op in list(added.body.operations):
            if ir.StringAttr(op.attributes["sym_name"]).value not in declared:
                op.operation.detach_from_parent()
                module.body.append(op)
    return names


def _is_symbol(op: Any) -> bool:
    return "sym_name" in op.attributes


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
    parts += [_declared(entry, sites) for entry in c_entries]
    parts += [_checked(sites)] if sites else []
    parts += [*functions, "#ifdef __cplusplus\n}\n#endif\n#endif\n"]
    return "\n".join(parts)


def _declared(entry: CEntry, sites: Sequence[CheckedSite] | None) -> str:
    comment = str(entry.signature).replace("*/", "* /")
    outside = f"const int64_t *{entry.name}_outside(void);\n" if sites else ""
    return f"/* {comment} */\n{entry.prototype};\nconst char *{entry.error}(void);\n{outside}"


def _checked(sites: Sequence[CheckedSite]) -> str:
    lines = [f"{i + 1}: {s.text}, {s.place}" for i, s in enumerate(sites)]
    listed = "\n".join("   " + line.replace("*/", "* /") for line in lines)
    return (
        "/* The code checks these accesses. One outside its buffer is skipped; the function goes on, and returns -1.\n"
        "   NAME_outside tells the first: {number of the access, or 0, then the index and the extent of each\n"
        f"   dimension; for a binding its value, and the end, start and end of its domain}}.\n{listed} */\n"
    )
