"""The schedule primitives: importing this package registers them all."""

from tir_mlir.passes.schedule import (
    annotate,
    blockize,
    cache,
    compute_at,
    compute_inline,
    decompose_reduction,
    fuse,
    kinds,
    lookup,
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
