"""What a GPU can launch, with its refusals; the buffers of a kernel: attributions, a dynamic buffer, or local ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.dialect.calls import first_fit
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, attrs, bits, parent_op
from tir_mlir.passes.lower.gpu.thread_tags import is_local, is_shared
from tir_mlir.passes.lower.registry import location_text

BLOCK = (1024, 1024, 64)
"""The most threads of a block along x, y, z."""
GRID = (2**31 - 1, 65535, 65535)
"""The most blocks along x, y, z."""


APART = "tir.apart"
"""On a shared buffer: the names of the buffers that may lie where it lies. Exists only during lowering."""
PLANES = "tir.planes"
"""On a shared buffer that is copied ahead: the length of its first dimension, along which iterations take turns. Exists
only during lowering."""
COPIED_AHEAD = "tir.copied_ahead"
"""On a shared buffer all stores to which are asynchronous copies, and on what ends their groups and waits for them: the
number of the pipeline. Exists only during lowering."""


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


def check_shared(kernel: str, buffers: Sequence[ir.Operation], total: int, limits: KernelLimits) -> None:
    """Refuse a block whose shared buffers do not fit together."""
    if total > limits.shared:
        sizes = [(Buffer(op.results[0]), bytes_of(Buffer(op.results[0]))) for op in buffers]
        parts = ", ".join(f'"{buffer.name}" {size}' for buffer, size in sizes)
        raise LoweringError(
            f"{kernel}: the shared buffers of a block take {total} bytes ({parts}), {limits.chip} has {limits.shared}; "
            f"fix: use smaller tiles, or keep a part in scope local{_what_fits(buffers, total, limits)}"
        )


def _what_fits(buffers: Sequence[ir.Operation], total: int, limits: KernelLimits) -> str:
    """How many stages of a pipeline would fit, or how much of the largest buffer."""
    planes = [(Buffer(op.results[0]), attrs.get(op, PLANES)) for op in buffers if PLANES in op.attributes]
    if planes:
        count = min(number for _, number in planes)
        of_a_stage = sum(bytes_of(buffer) // number for buffer, number in planes)
        fitting = count - -(-(total - limits.shared) // of_a_stage)
        if fitting >= 2:
            return f"; {fitting} stages instead of {count} fit"
    largest = max((Buffer(op.results[0]) for op in buffers), key=bytes_of)
    room = limits.shared - total + bytes_of(largest)
    elements = max(0, room) // (bytes_of(largest) // prod(n or 1 for n in largest.shape))
    shape = " x ".join(str(n) for n in largest.shape)
    return f'; of the {shape} elements of "{largest.name}", {elements} fit' if elements else ""


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
    """The offsets of shared buffers, and the bytes of all. Errors: LoweringError for more than there are."""
    offsets, end = place_shared(allocs)
    check_shared(kernel, allocs, end, limits)
    return offsets, end


def place_shared(allocs: Sequence[ir.Operation]) -> tuple[list[int], int]:
    """The offsets of shared buffers, one after the other unless their lives are apart, and the bytes of all."""
    names = [Buffer(op.results[0]).name for op in allocs]
    sizes = [-(-bytes_of(Buffer(op.results[0])) // ALIGNMENT) * ALIGNMENT for op in allocs]
    apart = [set(attrs.get(op, APART, [])) for op in allocs]
    aligned = [alignment_of(op) for op in allocs]
    orders = [range(len(allocs)), sorted(range(len(allocs)), key=lambda i: -sizes[i])]
    places = [first_fit(sizes, aligned, lambda i, j: names[j] not in apart[i], order) for order in orders]
    return min(places, key=lambda place: place[1])


def byte_type(size: int) -> ir.MemRefType:
    """Shared memory of a number of bytes."""
    byte = ir.IntegerType.get_signless(8)
    return ir.MemRefType.get([size], byte, memory_space=ir.Attribute.parse(WORKGROUP))


def to_dynamic(allocs: Sequence[ir.Operation], offsets: Sequence[int], start: ir.InsertionPoint) -> None:
    """Shared buffers become parts of the one that the launch asks for, created at `start`."""
    with start:
        type_ = byte_type(ir.ShapedType.get_dynamic_size())
        shared = ir.Operation.create("gpu.dynamic_shared_memory", [type_]).results[0]
    to_parts(allocs, offsets, shared, start)


def to_parts(
    allocs: Sequence[ir.Operation], offsets: Sequence[int], shared: ir.Value, start: ir.InsertionPoint
) -> None:
    """Shared buffers become parts of one of bytes."""
    index = ir.IndexType.get()
    with start:
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


def note_names(kernel: ir.Operation, buffers: Sequence[str]) -> None:
    """Keep the names of the shared buffers of a kernel, which are its attributions in order."""
    holder = parent_op(kernel)
    symbol = ir.StringAttr(kernel.attributes["sym_name"]).value
    names = {f"__wg_{symbol}_{n}": name for n, name in enumerate(buffers)}
    attrs.put(holder, SHARED_NAMES, {**attrs.get(holder, SHARED_NAMES, {}), **names})


def name_attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {attrs.NAME: op.attributes[attrs.NAME]} if attrs.NAME in op.attributes else {}
