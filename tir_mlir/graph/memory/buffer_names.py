"""Buffers of a TensorIR function under other names."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir

from tir_mlir.dialect.ir import annotation_keys, attrs, ops


def rename_buffers(op: ir.Operation, names: Mapping[str, str]) -> None:
    """Let declared regions and annotations in a function follow buffers to their new names.

    T.writes(C[i]), annotations={"prefetch": "C"}   -->   T.writes(A[i]), annotations={"prefetch": "A"}   {"C": "A"}
    """
    for inner in ops(op):
        for key in (attrs.READS, attrs.WRITES):
            if key in inner.attributes:
                entries = [{n.name: n.attr for n in ir.DictAttr(e)} for e in ir.ArrayAttr(inner.attributes[key])]
                inner.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(_renamed(e, names)) for e in entries])
    annotation_keys.rename_buffers(op, names)


def _renamed(entry: dict[str, ir.Attribute], names: Mapping[str, str]) -> dict[str, ir.Attribute]:
    name = ir.StringAttr(entry["buffer"]).value
    return {**entry, "buffer": ir.StringAttr.get(names.get(name, name))}
