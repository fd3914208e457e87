"""Shared memory of kernels under the names that it has in the program."""

from __future__ import annotations

import re

from mlir import ir

from tir_mlir.dialect.ir import attrs, walk
from tir_mlir.dialect.ir.lowering_op_views import GPUModuleOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.passes.lower.gpu.outline.kernel_memory import SHARED_NAMES
from tir_mlir.passes.lower.registry import lowering


@lowering("tir-lower-gpu-shared-names", "Give the shared memory of kernels the names of the program's buffers")
def run(module: ir.Module) -> None:
    """Rename the symbols that the conversion gave to the shared buffers of kernels.

        llvm.mlir.global @__wg_f_kernel_0     -->     llvm.mlir.global @A_shared

    Messages about PTX name them. A name that may be an instruction gets the suffix `_shared`, one that is taken a
    number. The names come from `tir-lower-gpu-kernels`; symbols without one are left as they are.
    """
    for holder in [op.operation for op in module.body.operations if isa(op, GPUModuleOp)]:
        shared_names = attrs.get(holder, SHARED_NAMES, {})
        ops = list(walk.ops(holder))
        names = {ir.StringAttr(op.attributes["sym_name"]).value for op in ops if "sym_name" in op.attributes}
        renamed: dict[str, str] = {}
        for old, name in shared_names.items():
            if old in names:
                renamed[old] = _free(name, names)
                names.add(renamed[old])
        for op in ops:
            key = {"llvm.mlir.global": "sym_name", "llvm.mlir.addressof": "global_name"}.get(op.name)
            if key is not None:
                _rename(op, key, renamed)


def _free(name: str, taken: set[str]) -> str:
    """A name that PTX takes: its instructions are words of lower case."""
    name = re.sub(r"\W", "_", name, flags=re.ASCII)
    name = f"{name}_shared" if re.fullmatch(r"[a-z0-9]*", name) else name
    name = f"_{name}" if name[0].isdigit() else name
    number, result = 0, name
    while result in taken:
        number += 1
        result = f"{name}_{number}"
    return result


def _rename(op: ir.Operation, key: str, renamed: dict[str, str]) -> None:
    attribute = op.attributes[key]
    old = (ir.StringAttr if key == "sym_name" else ir.FlatSymbolRefAttr)(attribute).value
    if old in renamed:
        op.attributes[key] = (ir.StringAttr if key == "sym_name" else ir.FlatSymbolRefAttr).get(renamed[old])
