"""The schedule primitives: importing this package registers them all."""

from tir_mlir.passes.schedule import (
    add_unit_loop,
    annotate,
    blockize,
    cache,
    compute_at,
    compute_inline,
    decompose_reduction,
    fuse,
    kinds,
    lookup,
    merge,
    reorder,
    reverse_compute_at,
    reverse_compute_inline,
    set_scope,
    split,
    tensorize,
)
from tir_mlir.passes.schedule.registry import PRIMITIVES, Primitive

__all__ = [
    "PRIMITIVES",
    "Primitive",
    "annotate",
    "add_unit_loop",
    "merge",
    "blockize",
    "cache",
    "compute_at",
    "compute_inline",
    "decompose_reduction",
    "fuse",
    "kinds",
    "lookup",
    "reorder",
    "reverse_compute_at",
    "reverse_compute_inline",
    "set_scope",
    "split",
    "tensorize",
]
