"""The layouts of fragments: that of a load has to be the one in which the product takes the fragment."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.computation import ParamBinding, TensorIntrin
from tir_mlir.dialect.computation.matrix_functions import (
    COLUMNS,
    ROWS,
    calls_on,
    described_layouts,
    fragment_view,
    layout_of,
    root_of_view,
)
from tir_mlir.dialect.ir import Block, Buffer, Func, is_block, matrix_function, owner_op, walk
from tir_mlir.passes.schedule.registry import refuse


def check_layouts(
    block: Block, bindings: Sequence[ParamBinding], impl: Func, intrinsic: TensorIntrin
) -> list[str] | None:
    """Refuse an implementation that loads or multiplies a fragment in another layout than what the program has already
    on its buffer; returns the layouts in which a product takes A and B."""
    product = None
    for call in [op for op in walk.ops(impl.op) if matrix_function(op)]:
        taken = {}
        if matrix_function(call) == "tvm_mma_sync":
            product = described_layouts(call, impl, intrinsic.desc_func().func)
            taken = dict(zip((2, 4), product, strict=True))
        elif matrix_function(call) == "tvm_load_matrix_sync":
            taken = {0: layout_of(call, 0)}
        for number, layout in taken.items():
            view = fragment_view(call, number)
            binding = next((b for b in bindings if view is not None and b.param.value == root_of_view(view)), None)
            if binding is not None and layout:
                _compare(block, binding.buffer, layout, call, intrinsic.name)
    return product


def _compare(block: Block, buffer: Buffer, layout: str, call: ir.Operation, name: str) -> None:
    """Refuse if a call on the buffer has another layout than `layout`, that of a call of the implementation."""
    loads = matrix_function(call) == "tvm_load_matrix_sync"
    for other, number in calls_on(buffer.value):
        theirs = layout_of(other, number)
        if not theirs or theirs == layout:
            continue
        other_loads = matrix_function(other) == "tvm_load_matrix_sync"
        around = next(Block(op).name for op in walk.parents(other) if is_block(op))
        where = f"the {'load' if other_loads else 'product'} in block {around}"
        if loads and other_loads:
            refuse(block, f'"{name}" loads {buffer.name} in layout "{layout}", {where} in layout "{theirs}"',
                   fix="load all of a buffer in one layout")  # fmt: skip
        has, takes = (layout, theirs) if loads else (theirs, layout)
        text = f'loads {buffer.name} in layout "{has}", and {where} takes' if loads else (
            f'takes {buffer.name} in layout "{takes}", and {where} has "{has}"'
        )  # fmt: skip
        text += f' it in layout "{takes}"' if loads else ""
        memory = owner_op(other.operands[5]) if other_loads else None
        refuse(
            block,
            f'"{name}" {text}: element 1 of lane 0 is {_element(buffer, has)}, which the product takes for '
            f"{_element(buffer, takes)}",
            fix=_matching_load(buffer, takes, name if loads else "", memory),
        )


def _element(buffer: Buffer, layout: str) -> str:
    """Where the second element of the first lane is in the buffer: in the hardware's A it is [0, 1], in B [1, 0]."""
    position = (0, 1) if buffer.scope == "wmma.matrix_a" else (1, 0)
    i, j = position if layout == ROWS else position[::-1]
    return f"{buffer.name}[{i}, {j}]"


def _matching_load(buffer: Buffer, layout: str, name: str, pointer: ir.Operation | None) -> str:
    """The load that has the layout, by name if it is one of the built-in ones."""
    from tir_mlir.dialect.analysis.pointers import pointee

    memory = None if pointer is None else pointee(pointer)
    scope = "" if memory is None else Buffer(memory).scope.replace(".", "_")
    plain = name.replace("_trans", "") if name else f"wmma_load_16x16x16_f16_{buffer.scope[-1]}_{scope}"
    head, _, tail = plain.partition(f"_{buffer.scope[-1]}_")
    wanted = f"{head}_{buffer.scope[-1]}_trans_{tail}" if layout == COLUMNS else plain
    known = TensorIntrin.get(wanted, allow_missing=True) is not None
    return f'tensorize the load with "{wanted}"' if known else f'tensorize the load with one of layout "{layout}"'
