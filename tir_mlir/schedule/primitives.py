"""The primitives as typed methods. Their docstrings are those of `passes/schedule`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

from tir_mlir.dialect.index_maps import IndexMap, RegionMap
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.executor import Executor
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, LoopHandle

BlockLike = BlockHandle | str
BufferLike = Any  # an index, a name, ("read" | "write", index), or a buffer: any object with a name
IntLike = int | ExprHandle
IndexMapLike = IndexMap | Callable[..., Any]


class Primitives:
    """One method for each primitive. Block arguments also accept the name of the block."""

    def __init__(self, executor: Executor):
        self._executor = executor

    # --- lookups ------------------------------------------------------------------------------------------------------

    def get_block(self, name: str, func_name: str | None = None) -> BlockHandle:
        return self._executor.apply("get_block", name, self._executor.working if func_name is None else func_name)

    get_sblock = get_block

    def get_loops(self, block: BlockLike) -> list[LoopHandle]:
        return self._executor.apply("get_loops", block)

    def get_child_blocks(self, block_or_loop: BlockLike | LoopHandle) -> list[BlockHandle]:
        return self._executor.apply("get_child_blocks", block_or_loop)

    def get_producers(self, block: BlockLike) -> list[BlockHandle]:
        return self._executor.apply("get_producers", block)

    def get_consumers(self, block: BlockLike) -> list[BlockHandle]:
        return self._executor.apply("get_consumers", block)

    def get_output_blocks(self, scope_block: BlockLike) -> list[BlockHandle]:
        return self._executor.apply("get_output_blocks", scope_block)

    # --- sampling -----------------------------------------------------------------------------------------------------

    def sample_categorical(
        self,
        candidates: Sequence[IntLike],
        probs: Sequence[float],
        decision: IntLike | None = None,
        name: str | None = None,
    ) -> ExprHandle:
        return self._executor.apply("sample_categorical", candidates, probs, decision, name)

    def sample_perfect_tile(
        self,
        loop: LoopHandle,
        n: IntLike,
        max_innermost_factor: IntLike = 16,
        decision: Sequence[int] | None = None,
        name: str | None = None,
    ) -> list[ExprHandle | None]:
        return self._executor.apply("sample_perfect_tile", loop, n, max_innermost_factor, decision, name)

    def sample_partitioned_tile(
        self,
        loop: LoopHandle,
        n: IntLike,
        partition_pos: IntLike = 0,
        innerpart_factor: IntLike = 1,
        decision: Sequence[int] | None = None,
        name: str | None = None,
    ) -> list[ExprHandle | None]:
        return self._executor.apply("sample_partitioned_tile", loop, n, partition_pos, innerpart_factor, decision, name)

    def sample_compute_location(
        self, block: BlockLike, decision: IntLike | None = None, name: str | None = None
    ) -> LoopHandle:
        return self._executor.apply("sample_compute_location", block, decision, name)

    def enter_postproc(self) -> None:
        return self._executor.apply("enter_postproc")

    # --- loops --------------------------------------------------------------------------------------------------------

    def split(
        self,
        loop: LoopHandle,
        factors: Sequence[IntLike | None],
        preserve_unit_iters: bool = True,
        disable_predication: bool = False,
    ) -> list[LoopHandle]:
        return self._executor.apply("split", loop, factors, preserve_unit_iters, disable_predication)

    def fuse(self, *loops: LoopHandle, preserve_unit_iters: bool = True) -> LoopHandle:
        return self._executor.apply("fuse", *loops, preserve_unit_iters=preserve_unit_iters)

    def merge(self, *loops: LoopHandle) -> LoopHandle:
        return self._executor.apply("merge", *loops)

    def fission(self, loop: LoopHandle, after: BlockLike) -> list[LoopHandle]:
        return self._executor.apply("fission", loop, after)

    def loop_partition(
        self, loop: LoopHandle, factors: Sequence[int | None], preserve_unit_iters: bool = True
    ) -> list[LoopHandle]:
        return self._executor.apply("loop_partition", loop, factors, preserve_unit_iters)

    def version_loop(self, loop: LoopHandle, at_most: Sequence[int]) -> list[LoopHandle]:
        return self._executor.apply("version_loop", loop, at_most)

    def add_unit_loop(self, block_or_loop: BlockLike | LoopHandle) -> LoopHandle:
        return self._executor.apply("add_unit_loop", block_or_loop)

    def reorder(self, *ordered_loops: LoopHandle) -> None:
        return self._executor.apply("reorder", *ordered_loops)

    def parallel(self, loop: LoopHandle) -> None:
        return self._executor.apply("parallel", loop)

    def vectorize(self, loop: LoopHandle) -> None:
        return self._executor.apply("vectorize", loop)

    def unroll(self, loop: LoopHandle) -> None:
        return self._executor.apply("unroll", loop)

    def bind(self, loop: LoopHandle, thread_axis: str) -> None:
        return self._executor.apply("bind", loop, thread_axis)

    def annotate(self, block_or_loop: BlockLike | LoopHandle, ann_key: str, ann_val: Any) -> None:
        return self._executor.apply("annotate", block_or_loop, ann_key, ann_val)

    def unannotate(self, block_or_loop: BlockLike | LoopHandle, ann_key: str) -> None:
        return self._executor.apply("unannotate", block_or_loop, ann_key)

    # --- blocks -------------------------------------------------------------------------------------------------------

    @overload
    def blockize(self, target: LoopHandle | Sequence[BlockLike], preserve_unit_iters: bool = True) -> BlockHandle: ...
    @overload  # the name in earlier releases of TVM
    def blockize(self, *, loop: LoopHandle, preserve_unit_iters: bool = True) -> BlockHandle: ...
    def blockize(
        self,
        target: LoopHandle | Sequence[BlockLike] | None = None,
        preserve_unit_iters: bool = True,
        *,
        loop: LoopHandle | None = None,
    ) -> BlockHandle:
        if target is not None and loop is not None:
            raise TypeError('In "Schedule.blockize", "target" and "loop" are two names of one argument; pass one')
        return self._executor.apply("blockize", loop if target is None else target, preserve_unit_iters)

    def decompose_reduction(self, block: BlockLike, loop: LoopHandle) -> BlockHandle:
        return self._executor.apply("decompose_reduction", block, loop)

    def rfactor(self, loop: LoopHandle, factor_axis: int) -> BlockHandle:
        return self._executor.apply("rfactor", loop, factor_axis)

    def shift_operand(self, block: BlockLike, read_buffer_index: BufferLike) -> list[BlockHandle]:
        return self._executor.apply("shift_operand", block, _buffer(read_buffer_index))

    def fuse_reduction_epilogue(self, reduction_block: BlockLike, epilogue_block: BlockLike) -> None:
        return self._executor.apply("fuse_reduction_epilogue", reduction_block, epilogue_block)

    def decompose_padding(self, block: BlockLike, loop: LoopHandle) -> BlockHandle:
        return self._executor.apply("decompose_padding", block, loop)

    def can_decompose_padding(self, block: BlockLike, loop: LoopHandle) -> bool:
        return self._executor.apply("can_decompose_padding", block, loop)

    def pad_einsum(self, block: BlockLike, padding: Sequence[int]) -> None:
        return self._executor.apply("pad_einsum", block, padding)

    def tensorize(
        self, block_or_loop: BlockLike | LoopHandle, tensor_intrin: str, preserve_unit_iters: bool = True
    ) -> None:
        return self._executor.apply("tensorize", block_or_loop, tensor_intrin, preserve_unit_iters)

    # --- buffers ------------------------------------------------------------------------------------------------------

    def cache_read(
        self,
        block: BlockLike,
        read_buffer_index: BufferLike,
        storage_scope: str,
        consumer_blocks: Sequence[BlockLike] | None = None,
    ) -> BlockHandle:
        return self._executor.apply("cache_read", block, _buffer(read_buffer_index), storage_scope, consumer_blocks)

    def cache_write(
        self,
        block: BlockLike,
        write_buffer_index: BufferLike,
        storage_scope: str,
        consumer_blocks: Sequence[BlockLike] | None = None,
    ) -> BlockHandle:
        return self._executor.apply("cache_write", block, _buffer(write_buffer_index), storage_scope, consumer_blocks)

    def cache_index(self, block: BlockLike, storage_scope: str, cse_thresh: int = 0) -> list[BlockHandle]:
        return self._executor.apply("cache_index", block, storage_scope, cse_thresh)

    def cache_inplace(self, block: BlockLike, read_buffer_index: BufferLike, storage_scope: str) -> list[BlockHandle]:
        return self._executor.apply("cache_inplace", block, _buffer(read_buffer_index), storage_scope)

    def reindex(self, block: BlockLike, buffer: BufferLike) -> BlockHandle:
        return self._executor.apply("reindex", block, _buffer(buffer))

    def reindex_cache_read(
        self, block: BlockLike, read_buffer_index: BufferLike, storage_scope: str, index_map: IndexMapLike
    ) -> BlockHandle:
        map_ = IndexMap.wrap(index_map, self._executor.rank(index_map, block))
        return self._executor.apply("reindex_cache_read", block, _buffer(read_buffer_index), storage_scope, map_)

    def reindex_cache_write(
        self, block: BlockLike, write_buffer_index: BufferLike, storage_scope: str, index_map: IndexMapLike
    ) -> BlockHandle:
        map_ = IndexMap.wrap(index_map, self._executor.rank(index_map, block))
        return self._executor.apply("reindex_cache_write", block, _buffer(write_buffer_index), storage_scope, map_)

    def set_scope(self, block: BlockLike, buffer_index: int | str, storage_scope: str) -> None:
        return self._executor.apply("set_scope", block, buffer_index, storage_scope)

    def storage_align(self, block: BlockLike, buffer_index: int | str, axis: int, factor: int, offset: int) -> None:
        return self._executor.apply("storage_align", block, buffer_index, axis, factor, offset)

    def unsafe_set_dtype(self, block: BlockLike, buffer_index: int | str, dtype: str) -> None:
        return self._executor.apply("unsafe_set_dtype", block, buffer_index, dtype)

    def transform_layout(
        self,
        block: BlockLike,
        buffer: BufferLike,
        index_map: IndexMapLike,
        pad_value: Any = None,
        *,
        assume_injective_transform: bool = False,
    ) -> None:
        which = _buffer(buffer)
        map_ = IndexMap.wrap(index_map, self._executor.rank(index_map, block, which))
        pad = IndexMap.wrap(pad_value, len(map_.terms)) if callable(pad_value) else pad_value
        keyword = {"assume_injective_transform": assume_injective_transform}
        return self._executor.apply("transform_layout", block, which, map_, pad, **keyword)

    def rolling_buffer(self, block: BlockLike, write_buffer_index: int | str) -> None:
        return self._executor.apply("rolling_buffer", block, write_buffer_index)

    def annotate_buffer_access(
        self,
        block: BlockLike,
        buffer_index: int,
        buf_type: Literal["read", "write"],
        gen_new_ranges: RegionMap | Callable[..., Any] | str,
    ) -> None:
        return self._executor.apply(
            "annotate_buffer_access", block, buffer_index, buf_type, RegionMap.wrap(gen_new_ranges)
        )

    def unsafe_hide_buffer_access(
        self, block: BlockLike, buf_type: Literal["read", "write"], buf_index_array: Sequence[int]
    ) -> None:
        return self._executor.apply("unsafe_hide_buffer_access", block, buf_type, buf_index_array)

    def transform_block_layout(self, block: BlockLike, index_map: IndexMapLike) -> None:
        return self._executor.apply(
            "transform_block_layout", block, IndexMap.wrap(index_map, self._executor.rank(index_map, block))
        )

    def reorder_block_iter_var(self, block: BlockLike, new_order: Sequence[int]) -> None:
        return self._executor.apply("reorder_block_iter_var", block, new_order)

    # --- compute locations --------------------------------------------------------------------------------------------

    def compute_at(
        self, block: BlockLike, loop: LoopHandle, preserve_unit_loops: bool = False, index: int = -1
    ) -> None:
        return self._executor.apply("compute_at", block, loop, preserve_unit_loops, index)

    def reverse_compute_at(
        self, block: BlockLike, loop: LoopHandle, preserve_unit_loops: bool = False, index: int = -1
    ) -> None:
        return self._executor.apply("reverse_compute_at", block, loop, preserve_unit_loops, index)

    def read_at(
        self, loop: LoopHandle, block: BlockLike, read_buffer_index: BufferLike, storage_scope: str
    ) -> BlockHandle:
        return self._executor.apply("read_at", loop, block, _buffer(read_buffer_index), storage_scope)

    def write_at(
        self, loop: LoopHandle, block: BlockLike, write_buffer_index: BufferLike, storage_scope: str
    ) -> BlockHandle:
        return self._executor.apply("write_at", loop, block, _buffer(write_buffer_index), storage_scope)

    def compute_inline(self, block: BlockLike) -> None:
        return self._executor.apply("compute_inline", block)

    def reverse_compute_inline(self, block: BlockLike) -> None:
        return self._executor.apply("reverse_compute_inline", block)


def _buffer(which: BufferLike) -> Any:
    """Replace a buffer object by its name; indices, names and ("read", index) are unchanged."""
    name = getattr(which, "name", None)
    return name if isinstance(name, str) else which


for _name, _method in vars(Primitives).items():
    if _name in PRIMITIVES:
        _method.__doc__ = PRIMITIVES[_name].doc
