"""set_scope: change the storage scope of an allocated buffer."""

from __future__ import annotations

from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, attrs, func_of
from tir_mlir.passes.schedule.edits import (
    check_retypable,
    check_scope_name,
    declaring,
    find_buffer,
    follow_in_annotations,
    fresh_name,
    rename_in_regions,
    with_scope,
)
from tir_mlir.passes.schedule.edits.buffers import retype
from tir_mlir.passes.schedule.registry import check, primitive


@primitive("set_scope", moves="nothing")
def set_scope(block: Block, buffer_index: int | str, storage_scope: str) -> None:
    """Change the storage scope of a buffer that a block writes.

        B = T.alloc_buffer((n,))                      B_s = T.alloc_buffer((n,), scope="s")
        ... B[vi] ...                        ->       ... B_s[vi] ...

    The buffer is renamed to `<buffer>_<storage_scope>`; views of it follow. No-op if it has that scope already.

    Requires: the buffer is allocated by the program (a parameter's memory belongs to the caller), and no call takes it
    as a whole. `buffer_index` is a position in `T.writes`, or a name.
    """
    check_scope_name(block, storage_scope)
    buffer = find_buffer(block, buffer_index, attrs.WRITES)
    if buffer.scope == storage_scope:
        return
    check(
        buffer.is_alloc,
        block,
        f"{buffer.name} is a parameter of the function, whose memory belongs to the caller; "
        "cache_write it and set the scope of the copy",
    )
    assert buffer.op is not None
    check_retypable([u.owner.operation for u in buffer.value.uses])
    emit_remark(f"the program allocates `{buffer.name}`, and each of its uses takes it in any scope")

    func = func_of(block.op)
    name = fresh_name(func, f"{buffer.name}_{storage_scope}")
    rename_in_regions(declaring(func.op, buffer), buffer, name)
    follow_in_annotations(buffer, name)
    attrs.put(buffer.op, attrs.NAME, name)
    retype(buffer.value, with_scope(buffer.type, storage_scope))
