"""The schedule primitives: importing this package registers them all."""

from . import (
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
from .registry import PRIMITIVES, Primitive

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
