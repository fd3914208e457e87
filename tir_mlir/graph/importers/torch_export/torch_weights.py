"""Parameters, buffers and constants of torch as NumPy arrays that share their memory."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
import torch

from tir_mlir.graph.importers.aten.torch_emitter import is_float8


def first_names(state: Mapping[str, torch.Tensor]) -> dict[str, str]:
    """The first name in a state dict of each tensor that has several: {"head.weight": "embedding.weight"}."""
    first: dict[Hashable, str] = {}
    return {name: first.setdefault(_memory(tensor) or name, name) for name, tensor in state.items()}


def _memory(tensor: torch.Tensor) -> Hashable:
    """What two names of one tensor have in common; None for one without elements."""
    if not tensor.numel():
        return None
    storage = tensor.untyped_storage()._cdata, tensor.storage_offset()  # tensors without values have no address
    return *storage, tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype


def array(tensor: torch.Tensor) -> np.ndarray:
    """The elements as an array: a view if they lie in row-major order, else a copy. bfloat16 as its bits, uint16;
    float8 as bfloat16, a copy; complex numbers with both parts as a last axis."""
    plain = tensor.detach().contiguous().cpu()
    if plain.is_complex():
        plain = torch.view_as_real(plain.resolve_conj())
    if is_float8(plain.dtype):
        plain = plain.to(torch.bfloat16)
    return plain.view(torch.uint16).numpy() if plain.dtype == torch.bfloat16 else plain.numpy()
