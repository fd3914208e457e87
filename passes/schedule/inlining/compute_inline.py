"""compute_inline: inline a producer into its consumers."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import accesses_of_op
from tir_mlir.dialect.diagnostics import ScheduleError, emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    child_towards,
    edit,
    enclosing_block,
    fold_known,
    freeze_modules,
    is_block,
    is_loop,
)
from tir_mlir.dialect.ir.op_views import AffineLoadOp, ElementLoadOp, isa
from tir_mlir.passes.schedule.edits import declaring, drop_regions, follow_in_annotations
from tir_mlir.passes.schedule.inlining.block_expression import (
    BlockExpression,
    Inverse,
    check_visible,
    clone_expression,
    expression_of,
    inverse_of,
)
from tir_mlir.passes.schedule.legality import (
    Scope,
    check_complete,
    check_inputs_stable,
    children,
    common_ancestor,
    find_uncovered_element,
    is_child,
    ops_between,
    runs_before,
    scope_of,
    written_after_read,
)
from tir_mlir.passes.schedule.registry import (
    DECOMPOSE_REDUCTION,
    SEPARATE_NESTS,
    cache_write_first,
    check,
    primitive,
    refuse,
    use_words,
)


@primitive("compute_inline", moves="into others")
def compute_inline(block: Block) -> None:
    """Inline a block into every read of its result, and erase the block and its buffer.

        for i in range(n):                            for i in range(n):
            with T.block("B"): B[vi] = f(A[vi])           with T.block("C"):
        for i in range(n):                       ->           C[vi] = g(f(A[h(vi)]))
            with T.block("C"): C[vi] = g(B[h(vi)])

    Every reader sees the same values as before; they are recomputed at each read. Annotations no longer prefetch the
    buffer.

    Requires: the body is one store of a pure value at an index that determines the iters; all iters spatial, no init;
    the buffer is allocated in the scope, written only by this block and otherwise only loaded; each load runs after the
    block in their common loops and reads an element computed in the same iteration of them; no element that the
    block reads gets another value between its read and that load.
    """
    with freeze_modules():
        payload, scope = check_inlinable(block)
        loads = _loads(payload)
        inverse = inverse_of(block, payload.indices)
        for load in loads:
            _check_reader(payload, load)
        _note(payload, len(loads))
        readers = list(dict.fromkeys(child_towards(scope.op, load) for load in loads))
    if not all(is_loop(r) or is_block(r) for r in readers):
        readers = [scope.op]  # a load or a choice, which may go
    inner = isinstance(scope, Block)
    drop_regions([scope.op] if inner else declaring(scope.op, payload.buffer), payload.buffer)
    for load in loads:
        _inline_at(payload, inverse, load)
    remove(block, payload.buffer, scope, None)
    for reader in readers:
        fold_known(reader)


def _note(payload: BlockExpression, count: int) -> None:
    name, block = payload.buffer.name, payload.block.name
    every = "the load" if count == 1 else f"each of the {count} loads"
    emit_remark(f"{every} of `{name}` runs after block `{block}` has computed the element, in the same iteration")
    emit_remark(f"what block `{block}` reads has the same value at {'that load' if count == 1 else 'those loads'}")


def check_inlinable(block: Block) -> tuple[BlockExpression, Scope]:
    """The expression of a block that may be erased: a complete block whose buffer is local to the scope."""
    payload = expression_of(block)
    check_complete(block)
    scope, buffer = scope_of(block), payload.buffer
    owner = buffer.op
    if owner is None or enclosing_block(owner) != scope:
        refuse(
            block,
            f'block "{block.name}" computes {buffer.name}, which is visible outside its scope; an output block must '
            "remain",
            fix=cache_write_first(block),
        )
    check(
        is_child(block, scope),
        block,
        f'block "{block.name}" is in an init region; only blocks of a body can be inlined',
        fix=DECOMPOSE_REDUCTION,
    )
    return payload, scope


def _loads(payload: BlockExpression) -> list[ir.Operation]:
    """The loads of the buffer. Refuses any other use than these and the store."""
    loads = []
    for use in payload.buffer.value.uses:
        user = use.owner.operation
        if user == payload.store:
            continue
        if not isa(user, ElementLoadOp):
            refuse(
                user,
                f"{payload.buffer.name} is used as a whole by {use_words(user)}, not loaded by element; it must "
                "remain a buffer",
                fix=f'compute_at moves block "{payload.block.name}" to its reader and keeps {payload.buffer.name}',
            )
        loads.append(user)
    if not loads and len(children(scope_of(payload.block))) == 1:
        refuse(
            payload.block,
            f'block "{payload.block.name}" is the only one in its scope; nothing would be left without it',
        )
    return loads


def _check_reader(payload: BlockExpression, load: ir.Operation) -> None:
    """Refuse unless a load sees the value that would be computed instead of it."""
    block, buffer = payload.block, payload.buffer
    where = _reader_name(load)
    behind = runs_before(block.op, load)
    check(behind, load, f'{where} does not run after block "{block.name}" in each iteration of their common loops')
    writes = [a for a in accesses_of_op(payload.store)]
    level = common_ancestor(block.op, load)[0]
    if missing := find_uncovered_element(accesses_of_op(load), writes, level):
        refuse(
            load,
            f'{where} reads {missing}, which block "{block.name}" has not computed in the same '
            "iteration of their common loops",
            counterexample=missing,
            fix=SEPARATE_NESTS if is_loop(level) else "",
        )
    overwritten = written_after_read(payload.inputs(), ops_between(block.op, load), level)
    if overwritten is not None and not _keeps_inputs(block):
        clash, example = overwritten
        refuse(
            clash.op,
            f'{Buffer(clash.buffer).name} is written between block "{block.name}", which reads it, '
            f"and {where}: inlined, {buffer.name} would differ",
            counterexample=example,
            fix=f'reverse_compute_inline of the reader computes it instead of block "{block.name}"',
        )
    check_visible(payload, load)


def _keeps_inputs(block: Block) -> bool:
    """Whether a write of an input of a block stores the value that the block has read: it is computed again."""
    try:
        check_inputs_stable(block)
    except ScheduleError:
        return False
    return True


def _reader_name(load: ir.Operation) -> str:
    owner = enclosing_block(load)
    return f'block "{owner.name}"' if isinstance(owner, Block) else "a statement outside any block"


def _inline_at(payload: BlockExpression, inverse: Inverse, load: ir.Operation) -> None:
    if isa(load, AffineLoadOp):
        iters = inverse.at_access(accesses_of_op(load)[0])
    else:
        solved = inverse.at_values([Index.from_value(v) for v in list(load.operands)[1:]])
        if solved is None:
            refuse(
                load,
                f"{_reader_name(load)} reads {payload.buffer.name} at a non-affine index, which cannot be "
                f'solved for the iters of block "{payload.block.name}"',
                provable=False,
                fix=f'compute_at moves block "{payload.block.name}" to its reader and keeps {payload.buffer.name}',
            )
        iters = solved
    with load.location:
        value = clone_expression(payload, load, iters)
    edit.replace_uses(load.results[0], value)
    edit.erase(load)


def remove(block: Block, buffer: Buffer, scope: Scope, heir: Buffer | None) -> None:
    """Erase a block, its loops that are left empty, and its buffer. heir: the buffer that annotations name instead."""
    follow_in_annotations(buffer, None if heir is None else heir.name)
    alloc = buffer.op
    edit.prune(block.outermost, scope.op)
    if alloc is not None:
        edit.erase(alloc)
