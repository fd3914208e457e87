"""What a GPU can launch, with its refusals; the buffers of a kernel: attributions, a dynamic buffer, or local ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, attrs, bits, parent_op
from tir_mlir.passes.lower.gpu.thread_tags import is_local, is_shared
from tir_mlir.passes.lower.registry import location_text

BLOCK = (1024, 1024, 64)
"""The most threads of a block along x, y, z."""
GRID = (2**31 - 1, 65535, 65535)
"""The most blocks along x, y, z."""


@dataclass(frozen=True)
class KernelLimits:
    """Threads of a block; bytes of shared memory of a block that a kernel can declare, and that a launch can ask for;
    the chip for messages. The defaults hold for all NVIDIA GPUs from sm_60 on."""

    threads: int = 1024
    shared_static: int = 48 << 10
    shared: int = 48 << 10
    chip: str = "a GPU"


def check_block(kernel: str, block: Sequence[int], loops: str, limits: KernelLimits) -> None:
    """Refuse a block with too many threads. `loops`: its loops, for the message. Raises LoweringError."""
    total = block[0] * block[1] * block[2]
    fix = "split the loops, and bind the outer parts to blockIdx or leave them serial"
    if total > limits.threads:
        sizes = " * ".join(str(n) for n in block if n != 1)
        raise LoweringError(
            f"{kernel}: a block has {total} threads ({sizes}: {loops}), {limits.chip} runs at most {limits.threads}; "
            f"fix: {fix}"
        )
    for axis, size, most in zip("xyz", block, BLOCK, strict=True):
        if size > most:
            raise LoweringError(
                f"{kernel}: a block has {size} threads along threadIdx.{axis} ({loops}), {limits.chip} at most {most}; "
                f"fix: {fix}"
            )


def check_grid(kernel: str, grid: Sequence[int | None], loops: str, limits: KernelLimits) -> None:
    """Refuse a grid of a constant size that is too large (None: a size that is known at the launch only)."""
    for axis, size, most in zip("xyz", grid, GRID, strict=True):
        if size is not None and size > most:
            raise LoweringError(
                f"{kernel}: the grid has {size} blocks along blockIdx.{axis} ({loops}), {limits.chip} at most {most}; "
                "fix: bind the longest loop to blockIdx.x, or split it and bind its parts to two axes"
            )


def check_shared(kernel: str, buffers: Sequence[tuple[str, int]], total: int, limits: KernelLimits) -> None:
    """Refuse a block whose shared buffers do not fit together. `buffers`: their names and bytes."""
    if total > limits.shared:
        parts = ", ".join(f'"{name}" {size}' for name, size in buffers)
        raise LoweringError(
            f"{kernel}: the shared buffers of a block take {total} bytes ({parts}), {limits.chip} has {limits.shared}; "
            "fix: use smaller tiles, or keep a part in scope local"
        )


GLOBAL, WORKGROUP, PRIVATE = (f"#gpu.address_space<{name}>" for name in ("global", "workgroup", "private"))
ALIGNMENT = 16
"""Bytes: the widest load or store of a thread."""
TILE_ALIGNMENT = "tir.tile_alignment"
"""On a shared buffer that the TMA fills: the bytes that it starts at a multiple of."""
ONE_BLOCK = "tir.one_block"
"""On the innermost axis of a kernel: a multiprocessor need hold one block only, whose threads take all registers."""
TENSOR_MAPS = "tir.tensor_maps"
"""On a module of kernels: by kernel, the numbers of the arguments that are tensor maps."""
DYNAMIC_ALIGNMENT = "tir.dynamic_alignment"
"""On a module of kernels: the alignment of their dynamic shared memory."""


def device_type(type_: ir.Type) -> ir.Type:
    """The memref type with a memory space of the gpu dialect for that of its scope."""
    memref = ir.MemRefType(type_)
    space = memref.memory_space
    if space is None:
        return _in_space(memref, GLOBAL)
    if not isinstance(space, ir.StringAttr):
        return type_
    if space.value == "local":
        return _in_space(memref, PRIVATE)
    return _in_space(memref, WORKGROUP if space.value.startswith("shared") else GLOBAL)


def _in_space(type_: ir.MemRefType, space: str) -> ir.MemRefType:
    return ir.MemRefType.get(type_.shape, type_.element_type, type_.layout, ir.Attribute.parse(space))


def check_scopes(kernel: str, allocs: Sequence[ir.Operation]) -> None:
    """Refuse buffers that a kernel cannot allocate. Raises LoweringError."""
    for op in allocs:
        buffer = Buffer(op.results[0])
        if not is_shared(buffer) and not is_local(buffer):
            raise LoweringError(
                f'{kernel}: buffer "{buffer.name}" of scope "{buffer.scope}" is allocated inside of the loops over '
                "blocks and threads; fix: set_scope to shared (one copy a block) or local (one a thread), or allocate "
                "it outside of the bound loops"
            )
        if not buffer.type.has_static_shape:
            raise LoweringError(
                f'{location_text(op)}: buffer "{buffer.name}" of scope "{buffer.scope}" has no constant size '
                f"({buffer.type}), which memory of a kernel must have; fix: split the loops by constants, so that a "
                "tile has one"
            )


def bytes_of(buffer: Buffer) -> int:
    """The size of a buffer of constant shape."""
    return prod(n or 0 for n in buffer.shape) * max(bits(buffer.dtype) // 8, 1)


def alignment_of(op: ir.Operation) -> int:
    """The alignment of a shared buffer: that of its allocation where the TMA fills it."""
    return attrs.get(op, TILE_ALIGNMENT, ALIGNMENT)


def offsets_of(kernel: str, allocs: Sequence[ir.Operation], limits: KernelLimits) -> tuple[list[int], int]:
    """The offsets of shared buffers one after the other, and the bytes of all. Raises LoweringError."""
    offsets, end = [], 0
    sizes = [(Buffer(op.results[0]).name, bytes_of(Buffer(op.results[0]))) for op in allocs]
    for op, (_, size) in zip(allocs, sizes, strict=True):
        end = -(-end // alignment_of(op)) * alignment_of(op)
        offsets.append(end)
        end += -(-size // ALIGNMENT) * ALIGNMENT
    check_shared(kernel, sizes, end, limits)
    return offsets, end


def to_dynamic(allocs: Sequence[ir.Operation], offsets: Sequence[int], start: ir.InsertionPoint) -> None:
    """Shared buffers become parts of the one that the launch asks for, created at `start`."""
    index = ir.IndexType.get()
    dynamic = ir.ShapedType.get_dynamic_size()
    byte = ir.IntegerType.get_signless(8)
    shared_type = ir.MemRefType.get([dynamic], byte, memory_space=ir.Attribute.parse(WORKGROUP))
    with start:
        shared = ir.Operation.create("gpu.dynamic_shared_memory", [shared_type]).results[0]
        for op, offset in zip(allocs, offsets, strict=True):
            with op.location:
                first = ir.Operation.create(
                    "arith.constant", [index], [], {"value": ir.IntegerAttr.get(index, offset)}
                ).results[0]
                type_ = device_type(op.results[0].type)
                view = ir.Operation.create("memref.view", [type_], [shared, first], name_attributes(op))
            op.results[0].replace_all_uses_with(view.results[0])
            op.erase()


def to_arguments(allocs: Sequence[ir.Operation], arguments: Sequence[ir.Value]) -> None:
    """Shared buffers become workgroup attributions."""
    for op, argument in zip(allocs, arguments, strict=True):
        op.results[0].replace_all_uses_with(argument)
        op.erase()


def to_stack(allocs: Sequence[ir.Operation], start: ir.InsertionPoint) -> None:
    """Local buffers are allocated at the start of the kernel: a loop would allocate in each iteration."""
    for op in allocs:
        facts = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT), **name_attributes(op)}
        facts["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([0, 0])
        with start, op.location:
            buffer = ir.Operation.create("memref.alloca", [device_type(op.results[0].type)], [], facts)
        op.results[0].replace_all_uses_with(buffer.results[0])
        op.erase()


SHARED_NAMES = "tir.shared_names"
"""On the module of kernels: the names of shared buffers, by the symbols that the conversion to LLVM will give them."""


def note_alignment(kernel: ir.Operation, allocs: Sequence[ir.Operation]) -> None:
    """Keep the alignment of the dynamic shared memory of a kernel."""
    holder = parent_op(kernel)
    most = max(alignment_of(op) for op in allocs)
    attrs.put(holder, DYNAMIC_ALIGNMENT, max(most, attrs.get(holder, DYNAMIC_ALIGNMENT, ALIGNMENT)))


def note_tensor_maps(kernel: ir.Operation, arguments: Sequence[ir.Value]) -> None:
    """Keep which arguments of a kernel are tensor maps."""
    makers = [None if isinstance(v.owner, ir.Block) else v.owner.operation for v in arguments]
    found = [n for n, op in enumerate(makers) if op is not None and attrs.TENSOR_MAP in op.attributes]
    if found:
        holder, name = parent_op(kernel), ir.StringAttr(kernel.attributes["sym_name"]).value
        attrs.put(holder, TENSOR_MAPS, {**attrs.get(holder, TENSOR_MAPS, {}), name: found})


def note_names(kernel: ir.Operation, allocs: Sequence[ir.Operation]) -> None:
    """Keep the names of the shared buffers of a kernel, which are its attributions in order."""
    holder = parent_op(kernel)
    symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
    names = {f"__wg_{symbol}_{n}": Buffer(op.results[0]).name for n, op in enumerate(allocs)}
    attrs.put(holder, SHARED_NAMES, {**attrs.get(holder, SHARED_NAMES, {}), **names})


def name_attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {attrs.NAME: op.attributes[attrs.NAME]} if attrs.NAME in op.attributes else {}
