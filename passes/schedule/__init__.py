"""The schedule primitives: importing this package registers them all."""

from . import (
    annotate,
    blockize,
    compute_at,
    decompose_reduction,
    fuse,
    kinds,
    lookup,
    reorder,
    reverse_compute_at,
    split,
)
from .registry import PRIMITIVES, Primitive

__all__ = [
    "PRIMITIVES",
    "Primitive",
    "annotate",
    "blockize",
    "compute_at",
    "decompose_reduction",
    "fuse",
    "kinds",
    "lookup",
    "reorder",
    "reverse_compute_at",
    "split",
]
