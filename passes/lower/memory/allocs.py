"""Place allocations on the stack or the heap, and deallocate."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Func, at_end, attrs, dtypes, walk
from tir_mlir.dialect.ir.lowering_op_views import OMPParallelOp
from tir_mlir.dialect.ir.op_views import AllocaOp, AllocOp, DeallocOp, FuncOp, IfOp, ParallelLoopOp, isa
from tir_mlir.passes.lower.op_attrs import is_row_major
from tir_mlir.passes.lower.registry import location_text, lowering, programs, warn

STACK_BUFFER = 16 * 1024
"""Maximal bytes of a stack buffer."""
STACK_TOTAL = 64 * 1024
"""Maximal stack bytes of one function, or of one iteration of a parallel loop."""
STATIC_MEMORY = "tir.static_memory"
"""Of a module for a CPU without a heap."""
STATIC_BUFFER, STATIC_TOTAL = 1024, 4 * 1024
"""The same limits of the stack in such a module: small CPUs have stacks of a few KiB."""
ALIGNMENT = 64


@lowering("tir-lower-allocs", "Lower allocations to memref.alloca, or to memref.alloc with dealloc, outside of loops")
def run(module: ir.Module) -> int:
    """Place each buffer at the start of its owner: the parallel loop around it, else the function.

        for %i { %b = memref.alloc : memref<16x16xf32> ... }
            -->
        %b = memref.alloca {alignment = 64} : memref<16x16xf32>          (constant and at most 16 KiB, 64 KiB together)
        %b = memref.alloc {alignment = 64} : ... memref.dealloc %b       (all others; in the branch that they are in)
        for %i { ... }

    A buffer of constant size at the start of a function lies in its parameter that is marked `tir.scratch`, a buffer of
    bytes, instead of on the heap, while there is room:

        func.func private @f(%A, %scratch: memref<4096xi8> {tir.scratch}) { %b = memref.view %scratch[%c0][] ... }

    In a module marked `tir.static_memory`, a buffer that would be on the heap is memory of the module: a function then
    does not run twice at once.

        memref.global "private" @f.b : memref<4096xf32>      func.func @f(%A) { %b = memref.get_global @f.b ... }

    At most eight tiles of scope `amx.tile` are in use at once. A LoweringWarning names each buffer of scope `local` on
    the heap, and of scopes `wmma.*`, `mma.*`, which no CPU has.
    An allocation in a loop would grow the stack with each iteration, or leak. A buffer allocated in each iteration
    carries no values between iterations, so one allocation serves all. Requires parallel loops to be `affine.parallel`.
    Returns the maximal constant-size heap use of a function, in bytes.
    """
    return max((place_memory(func) for func in programs(module)), default=0)


def place_memory(func: Func) -> int:
    """The same for one function; returns its constant-size heap use in bytes."""
    allocs = _allocs(func)
    check_tiles(allocs)
    heap, scratch, offset = 0, _scratch_parameter(func), 0
    is_static = STATIC_MEMORY in walk.module_of(func.op).attributes
    for op, body, size, on_stack in _allocs_with_owners(allocs, is_static):
        for dealloc in [u.owner for u in op.results[0].uses if isa(u.owner, DeallocOp)]:
            dealloc.operation.erase()
        op.attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT)
        if on_stack:
            _check_scope(op, "")
            _to_stack(op, body)
            continue
        _check_scope(op, "of unknown size" if size is None else f"of {size} bytes")
        if (
            scratch is not None
            and _fits_scratch(op, func)
            and offset + _aligned_size(size or 0) <= Buffer(scratch).type.shape[0]
        ):
            _to_scratch(op, scratch, offset)
            offset += _aligned_size(size or 0)
        elif is_static and size is not None and body.owner.operation == func.op:
            _to_module(op, func)
        else:
            heap += size or 0
            _to_heap(op, _branch_of(op, body))
    return heap


def scratch_bytes(func: Func) -> int:
    """The bytes of the parameter marked `tir.scratch` that would take all buffers of a function that it can take."""
    placed = [(op, size) for op, _, size, on_stack in _allocs_with_owners(_allocs(func), False) if not on_stack]
    return sum(_aligned_size(size or 0) for op, size in placed if _fits_scratch(op, func))


def _allocs(func: Func) -> list[ir.Operation]:
    return [op for op in walk.ops(func.op) if isa(op, AllocOp)]


def _allocs_with_owners(
    allocs: Sequence[ir.Operation], is_static: bool
) -> list[tuple[ir.Operation, ir.Block, int | None, bool]]:
    """The allocations of a function with the bodies that they belong to, their bytes, and whether they are on the
    stack."""
    most, total = (STATIC_BUFFER, STATIC_TOTAL) if is_static else (STACK_BUFFER, STACK_TOTAL)
    stack_bytes: dict[ir.Operation, int] = {}
    owners = []
    for op in allocs:
        owner = next(p for p in walk.parents(op) if isa(p, ParallelLoopOp, FuncOp))
        size = bytes_of(op)
        on_stack = size is not None and size <= most and stack_bytes.get(owner, 0) + size <= total
        if on_stack:
            stack_bytes[owner] = stack_bytes.get(owner, 0) + (size or 0)
        owners.append((op, owner.regions[0].blocks[0], size, on_stack))
    return owners


def _branch_of(op: ir.Operation, body: ir.Block) -> ir.Block:
    """The innermost branch around an allocation, in no loop of the body: if it is not taken, nothing is allocated."""
    child, branch = op, body
    for parent in walk.parents(op):
        if body_op_holds(body, parent):
            break
        if not isa(parent, IfOp):
            branch = body
        elif branch == body:
            branch = child.block
        child = parent
    return branch


def _aligned_size(size: int) -> int:
    """Bytes rounded up to the alignment of buffers."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _scratch_parameter(func: Func) -> ir.Value | None:
    return next((v for n, v in enumerate(func.args) if attrs.SCRATCH in attrs.argument_attributes(func.op, n)), None)


def _fits_scratch(op: ir.Operation, func: Func) -> bool:
    """Whether a buffer may be a view of bytes of its function: of constant size, one for a call, in plain memory."""
    type_ = ir.MemRefType(op.results[0].type)
    packed = type_.has_static_shape and is_row_major(type_)
    owner = next(p for p in walk.parents(op) if isa(p, ParallelLoopOp, FuncOp))
    return packed and is_plain(op) and owner == func.op


def is_plain(op: ir.Operation) -> bool:
    """Whether a buffer is in plain memory, of no scope of its own."""
    return ir.MemRefType(op.results[0].type).memory_space is None


def _to_scratch(op: ir.Operation, scratch: ir.Value, offset: int) -> None:
    """Make an allocation a view of the bytes of a parameter, at the start of the function."""
    with ir.InsertionPoint.at_block_begin(ir.BlockArgument(scratch).owner), op.location:
        start = ir.IntegerAttr.get(ir.IndexType.get(), offset)
        start_value = ir.Operation.create("arith.constant", [start.type], [], {"value": start}).results[0]
        names = {attrs.NAME: op.attributes[attrs.NAME]} if attrs.NAME in op.attributes else {}
        view = ir.Operation.create("memref.view", [op.results[0].type], [scratch, start_value], names)
    op.results[0].replace_all_uses_with(view.results[0])
    op.erase()


def _check_scope(op: ir.Operation, heap: str) -> None:
    """Warn about a storage scope that this memory does not have. `heap`: the size of a buffer on the heap.

    `global`, `shared` and `warp` are any memory; `local` is the memory of one thread, close to its registers.
    """
    buffer = Buffer(op.results[0])
    text = f'{location_text(op)}: buffer "{buffer.name}" is in plain memory, not in scope "{buffer.scope}"'
    if buffer.scope.startswith(("wmma.", "mma.")):
        warn(f"{text}: a CPU has no such registers; tensorize to an intrinsic of this CPU, or use another scope")
    elif buffer.scope == "local" and heap:
        where = f"{STACK_BUFFER} bytes of constant size, {STACK_TOTAL} in all"
        warn(f'{text}: it is {heap}, and the stack holds at most {where}; compute it at an inner loop, or use "global"')


def bytes_of(op: ir.Operation) -> int | None:
    """The bytes of the buffer of an allocation; None if its size is not a constant."""
    buffer = Buffer(op.results[0])
    if None in buffer.shape:
        return None
    return prod(n for n in buffer.shape if n is not None) * dtypes.bits(buffer.dtype) // 8


def _to_stack(op: ir.Operation, body: ir.Block) -> None:
    attributes = {n: op.attributes[n] for n in op.attributes}
    with ir.InsertionPoint.at_block_begin(body):
        new = ir.Operation.create("memref.alloca", [op.results[0].type], [], attributes, loc=op.location)
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()


def _to_heap(op: ir.Operation, body: ir.Block) -> None:
    """Hoist to the owner if its sizes are available there; deallocate at the end of that body."""
    first = next(iter(body.operations)).operation
    if all(_is_available(v, body) for v in op.operands):
        makers = [v.owner.operation for v in op.operands if not isinstance(v.owner, ir.Block)]
        makers = [m for m in makers if m.block == body]
        last_maker = max(makers, key=walk.position, default=None)
        if last_maker is not None:
            op.move_after(last_maker)
        elif op != first:
            op.move_before(first)
    with at_end(op.block), op.location:
        ir.Operation.create("memref.dealloc", operands=[op.results[0]])


def _to_module(op: ir.Operation, func: Func) -> None:
    """Make an allocation memory of the module."""
    module, type_ = walk.module_of(func.op), op.results[0].type
    table = ir.SymbolTable(module)
    with ir.InsertionPoint(func.op), op.location:
        attributes = {
            "sym_name": ir.StringAttr.get(f"{func.name}.{Buffer(op.results[0]).name}"),
            "sym_visibility": ir.StringAttr.get("private"),
            "type": ir.TypeAttr.get(type_),
            "initial_value": ir.UnitAttr.get(),
            "alignment": op.attributes["alignment"],
        }
        name = table.insert(ir.Operation.create("memref.global", [], [], attributes))
    with ir.InsertionPoint(op), op.location:
        symbol = {"name": ir.FlatSymbolRefAttr.get(name.value)}
        made = ir.Operation.create("memref.get_global", [type_], [], symbol)
    op.results[0].replace_all_uses_with(made.results[0])
    op.erase()


def _is_available(value: ir.Value, body: ir.Block) -> bool:
    """Whether a size is available in `body`: defined in it or outside."""
    block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
    if block == body:
        return True
    return any(body_op_holds(block, p) for p in walk.parents(body.owner.operation))


def body_op_holds(block: ir.Block, parent: ir.Operation) -> bool:
    """Whether a block is one of the bodies of an op."""
    return any(b == block for region in parent.regions for b in region.blocks)


@lowering("tir-lower-allocs-thread-stack", "Hoist allocas out of parallel loops to the start of the thread")
def run_thread_stack(module: ir.Module) -> None:
    """Allocate stack memory once for each thread.

        omp.parallel { omp.wsloop { ... memref.alloca ... } }   -->   omp.parallel { memref.alloca  omp.wsloop { ... } }

    LLVM cannot promote an alloca in a loop to registers. Runs after `convert-scf-to-openmp`.
    """
    for op in walk.ops(module.operation):
        if isa(op, OMPParallelOp):
            first = next(iter(op.regions[0].blocks[0].operations)).operation
            for inner in walk.ops(op):
                if isa(inner, AllocaOp) and not len(inner.operands) and inner != first:
                    inner.move_before(first)


SCOPE = "amx.tile"
TILE = 1024
"""Bytes of a tile register."""
TILES = 8


def check_tiles(buffers: Sequence[ir.Operation]) -> None:
    """Raise LoweringError if more than eight tiles of these buffers are in use at once: LLVM would keep the others in
    memory.

    Requires buffers to be allocated in the innermost loop in whose iterations they are used.
    """
    allocs = [op for op in buffers if Buffer(op.results[0]).scope == SCOPE]
    for op in allocs:
        live = [alloc for alloc in allocs if _is_live(alloc, op)]
        if sum(map(_tiles, live)) > TILES:
            names = ", ".join(f"{Buffer(o.results[0]).name} {_shape(o)}: {_tiles(o)}" for o in live)
            raise LoweringError(
                f"{location_text(op)}: buffers of scope {SCOPE} hold {sum(map(_tiles, live))} tiles of {TILE} bytes at"
                f" once ({names}), and the CPU has {TILES}; fix: use smaller tiles of the loops around them, or"
                " compute_at a copy at an inner loop"
            )


def _tiles(op: ir.Operation) -> int:
    buffer = Buffer(op.results[0])
    if None in buffer.shape:
        raise LoweringError(
            f'{location_text(op)}: buffer "{buffer.name}" of scope {SCOPE} has no constant size in one iteration of'
            " the loops around it; fix: compute_at or split its loops by constants"
        )
    size = prod(n for n in buffer.shape if n is not None) * dtypes.bits(buffer.dtype) // 8
    return -(-size // TILE)


def _shape(op: ir.Operation) -> tuple[int | None, ...]:
    return tuple(Buffer(op.results[0]).shape)


def _is_live(alloc: ir.Operation, op: ir.Operation) -> bool:
    """Whether a buffer is between its first and its last use where another one is first used."""
    block = alloc.block
    child = _child(block, _starts(op))
    if child is None:
        return False
    positions = [walk.position(_child(block, use.owner.operation) or alloc) for use in alloc.results[0].uses]
    return bool(positions) and min(positions) <= walk.position(child) <= max(positions)


def _starts(op: ir.Operation) -> ir.Operation:
    """The first user of a buffer, in the body where it is allocated."""
    users = [_child(op.block, use.owner.operation) or op for use in op.results[0].uses]
    return min(users, key=walk.position, default=op)


def _child(body: ir.Block, op: ir.Operation) -> ir.Operation | None:
    """The op of a body that contains an op; None if it is outside."""
    return next((p for p in (op, *walk.parents(op)) if p.block == body), None)
