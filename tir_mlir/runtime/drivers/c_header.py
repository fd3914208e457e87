"""The C header of an exported library."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tir_mlir.dialect.diagnostics import RECORD, CheckedSite
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, ScalarParam

C_TYPES = {
    "float64": "double", "float32": "float", "float16": "uint16_t", "bfloat16": "uint16_t", "bool": "bool",
    "int64": "int64_t", "int32": "int32_t", "int16": "int16_t", "int8": "int8_t",
    "uint64": "uint64_t", "uint32": "uint32_t", "uint16": "uint16_t", "uint8": "uint8_t",
}  # fmt: skip


def text(
    signatures: Sequence[CallSignature],
    name: str,
    sites: Sequence[CheckedSite] | None = None,
    functions: Sequence[str] = (),
) -> str:
    """Descriptor types, constructors for row-major arrays, one prototype per function, and more `functions` in C.

    `sites`: the accesses that checked code checks; the header then declares their record.
    """
    guard = "TIR_" + identifier(name).upper() + "_H"
    buffers = {_struct(p): p for s in signatures for p in s.params if isinstance(p, BufferParam)}
    parts = [f"#ifndef {guard}\n#define {guard}\n#include <stdbool.h>\n#include <stdint.h>\n"]
    parts += ['#ifdef __cplusplus\nextern "C" {\n#endif\n']
    parts += [_declare(struct, p) for struct, p in buffers.items()]
    parts += [_prototype(s) for s in signatures]
    parts += [_record(sites)] if sites else []
    parts += functions
    parts += ["#ifdef __cplusplus\n}\n#endif\n#endif\n"]
    return "\n".join(parts)


def identifier(name: str) -> str:
    """A name as a part of a C identifier."""
    return re.sub(r"\W", "_", name)


def _struct(param: BufferParam) -> str:
    return f"tir_{param.dtype}_{len(param.dims)}d"


def _declare(struct: str, param: BufferParam) -> str:
    c_type, rank = C_TYPES[param.dtype], len(param.dims)
    lengths = f"sizes[{rank}], strides[{rank}]" if rank else ""
    fields = f"  {c_type} *allocated, *aligned;\n  int64_t offset;\n" + (f"  int64_t {lengths};\n" if rank else "")
    sizes = [f"n{i}" for i in range(rank)]
    parameters = ", ".join([f"{c_type} *data", *(f"int64_t {n}" for n in sizes)])
    strides = [" * ".join(sizes[i + 1 :]) or "1" for i in range(rank)]
    tail = f", {{{', '.join(sizes)}}}, {{{', '.join(strides)}}}" if rank else ""
    return (
        f"typedef struct {{  /* strides and offset count elements */\n{fields}}} {struct};\n"
        f"static inline {struct} make_{struct}({parameters}) {{  /* a row-major array */\n"
        f"  {struct} result = {{data, data, 0{tail}}};\n  return result;\n}}\n"
    )


def _prototype(signature: CallSignature) -> str:
    parameters = []
    for p in signature.params:
        name = identifier(p.name)
        if isinstance(p, ScalarParam):
            parameters.append(f"{C_TYPES[p.dtype]} {name}")
        else:
            parameters.append(f"{_struct(p)} *{name}")
    return f"/* {signature} */\nvoid {PREFIX}{signature.name}({', '.join(parameters) or 'void'});\n"


def _record(sites: Sequence[CheckedSite]) -> str:
    lines = [f"{i + 1}: {s.text}, {s.place}" for i, s in enumerate(sites)]
    listed = "\n".join("   " + line.replace("*/", "* /") for line in lines)
    return (
        "/* The first access outside its buffer, which was skipped: {number of the access, or 0, then the index and\n"
        "   the extent of each dimension; for a binding its value, and the end, start and end of its domain}. Set the\n"
        f"   number to 0 before a call.\n{listed} */\n"
        f"extern int64_t {RECORD}[{1 + 2 * max(s.rank for s in sites)}];\n"
    )
