"""The primitives as typed methods. Their docstrings are those of `passes/schedule`.

Those whose arguments are passed on as they are follow from the primitive's signature: `derived_methods`, by `make
manual`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, overload

from tir_mlir.dialect.index_maps import IndexMap, RegionMap
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.derived_methods import BlockLike, DerivedMethods
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, LoopHandle

BufferLike = object  # an index, a name, ("read" | "write", index), or a buffer: any object with a name
IntLike = int | ExprHandle
IndexMapLike = IndexMap | Callable[..., object]


class Primitives(DerivedMethods):
    """One method for each primitive. Block arguments also accept the name of the block."""

    # --- lookups ------------------------------------------------------------------------------------------------------

    def get_block(self, name: str, func_name: str | None = None) -> BlockHandle:
        return self._executor.apply("get_block", name, self._executor.working if func_name is None else func_name)

    get_sblock = get_block

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

    # --- loops --------------------------------------------------------------------------------------------------------

    def split(
        self,
        loop: LoopHandle,
        factors: Sequence[IntLike | None],
        preserve_unit_iters: bool = True,
        disable_predication: bool = False,
    ) -> list[LoopHandle]:
        return self._executor.apply("split", loop, factors, preserve_unit_iters, disable_predication)

    def reorder(self, *ordered_loops: LoopHandle) -> None:
        return self._executor.apply("reorder", *ordered_loops)

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

    def shift_operand(self, block: BlockLike, read_buffer_index: BufferLike) -> list[BlockHandle]:
        return self._executor.apply("shift_operand", block, _buffer(read_buffer_index))

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

    def transform_layout(
        self,
        block: BlockLike,
        buffer: BufferLike,
        index_map: IndexMapLike,
        pad_value: object = None,
        *,
        assume_injective_transform: bool = False,
    ) -> None:
        which = _buffer(buffer)
        map_ = IndexMap.wrap(index_map, self._executor.rank(index_map, block, which))
        pad = IndexMap.wrap(pad_value, len(map_.terms)) if callable(pad_value) else pad_value
        keyword = {"assume_injective_transform": assume_injective_transform}
        return self._executor.apply("transform_layout", block, which, map_, pad, **keyword)

    def annotate_buffer_access(
        self,
        block: BlockLike,
        buffer_index: int,
        buf_type: Literal["read", "write"],
        gen_new_ranges: RegionMap | Callable[..., object] | str,
    ) -> None:
        return self._executor.apply(
            "annotate_buffer_access", block, buffer_index, buf_type, RegionMap.wrap(gen_new_ranges)
        )

    def transform_block_layout(self, block: BlockLike, index_map: IndexMapLike) -> None:
        return self._executor.apply(
            "transform_block_layout", block, IndexMap.wrap(index_map, self._executor.rank(index_map, block))
        )

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


def _buffer(which: BufferLike) -> object:
    """Replace a buffer object by its name; indices, names and ("read", index) are unchanged."""
    name = getattr(which, "name", None)
    return name if isinstance(name, str) else which


for _name, _method in {**vars(DerivedMethods), **vars(Primitives)}.items():
    if _name in PRIMITIVES:
        _method.__doc__ = PRIMITIVES[_name].doc
