"""LLVM IR of a function `__tir_call_NAME` for each compiled one: it takes all arguments as 64-bit words, in one array.

It is what the entry for Python calls, which knows no types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.runtime.caller import PREFIX

NAME = "__tir_call_"


def c_types(lowered: ir.Module, names: Sequence[str]) -> dict[str, list[str]]:
    """The parameter types of the C-interface functions of these names, as LLVM writes them."""
    found = {}
    for op in lowered.body.operations:
        if op.operation.name == "llvm.func":
            symbol = ir.StringAttr(op.attributes["sym_name"]).value
            if symbol.startswith(PREFIX) and symbol[len(PREFIX) :] in names:
                inside = re.search(r"\((.*)\)", str(op.attributes["function_type"]))
                types = inside.group(1).split(", ") if inside and inside.group(1) else []
                found[symbol[len(PREFIX) :]] = [{"f32": "float", "f64": "double"}.get(t, t) for t in types]
    return found


def text(types: Mapping[str, Sequence[str]], declare: bool) -> str:
    """The functions; `declare` when it is a module of its own."""
    return "\n".join(_thunk(name, given, declare) for name, given in types.items())


def _thunk(name: str, types: Sequence[str], declare: bool) -> str:
    lines = [f'declare void @"{PREFIX}{name}"({", ".join(types)})'] if declare else []
    lines += [f'define void @"{NAME}{name}"(ptr %words) {{']
    for i, t in enumerate(types):
        stored = "i8" if t == "i1" else t
        lines += [
            f"  %p{i} = getelementptr i64, ptr %words, i64 {i}",
            f"  %v{i} = load {stored}, ptr %p{i}, align 8",
        ]
        if t == "i1":
            lines.append(f"  %b{i} = trunc i8 %v{i} to i1")
    values = [f"{t} %{'b' if t == 'i1' else 'v'}{i}" for i, t in enumerate(types)]
    return "\n".join([*lines, f'  call void @"{PREFIX}{name}"({", ".join(values)})', "  ret void", "}"])
