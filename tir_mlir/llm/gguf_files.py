"""Tensors of GGUF files, read one at a time, by the names that transformers gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.graph.precision import stored_formats
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.llm.gguf.configuration import POSITIONS, UNREAD_PARTS, configuration
from tir_mlir.llm.gguf.header import Header, Info, read_header
from tir_mlir.llm.native.parts import Rows
from tir_mlir.runtime.tools import given_files

if TYPE_CHECKING:
    from tir_mlir.runtime.tools.given_files import Json

_PLAIN = {0: ("F32", np.float32), 1: ("F16", np.float16), 30: ("BF16", np.uint16)}
_BLOCKED = {
    2: ("Q4_0", 32, 18, 4, (0,)), 3: ("Q4_1", 32, 20, 4, (0, 2)), 6: ("Q5_0", 32, 22, 5, (0,)),
    7: ("Q5_1", 32, 24, 5, (0, 2)), 8: ("Q8_0", 32, 34, 8, (0,)), 20: ("IQ4_NL", 32, 18, 4, (0,)),
    10: ("Q2_K", 256, 84, 2, (80, 82)), 11: ("Q3_K", 256, 110, 3, (108,)), 12: ("Q4_K", 256, 144, 4, (0, 2)),
    13: ("Q5_K", 256, 176, 5, (0, 2)), 14: ("Q6_K", 256, 210, 6, (208,)), 23: ("IQ4_XS", 256, 136, 4, (0,)),
}  # fmt: skip
"""By the numbers of types: the name, the numbers of a block, its bytes, the bits of a number, and where in a block the
scale lies, and the minimum, or what minima are multiples of."""
_UNREAD = {
    9: "Q8_1", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 21: "IQ3_S", 22: "IQ2_S", 24: "I8",
    25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4",
}  # fmt: skip
"""Further types of the format, which are not read."""
_BY_NAME = {name: (size, bits, offsets) for name, _, size, bits, offsets in _BLOCKED.values()}
_PARTS = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
}  # fmt: skip
_OWN_PARTS = {"phi3": {"attn_qkv": "self_attn.qkv_proj", "ffn_up": "mlp.gate_up_proj"}}
_EMBEDDING = "token_embd.weight"
_WHOLE = {_EMBEDDING: "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
          "output.weight": "lm_head.weight"}  # fmt: skip
_PERMUTED_ROWS = ("llama",)
"""Architectures whose queries and keys have the two halves of a head interleaved."""


@dataclass(frozen=True)
class GgufTensor:
    """A tensor in a file: its elements start at `offset`.

    dtype: as the format names it.
    order: of the rows; None: as they lie.
    """

    path: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    row: int
    order: np.ndarray | None = None

    @property
    def bits(self) -> int:
        """Of an element, without scales."""
        if self.dtype in _BY_NAME:
            return _BY_NAME[self.dtype][1]
        return 32 if self.dtype == "F32" else 16

    def read(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Rows `start` to `stop` as float32."""
        found = self.read_encoded(start, stop)
        return found.values() if isinstance(found, Grouped) else found

    def read_encoded(self, start: int = 0, stop: int | None = None) -> np.ndarray | Grouped:
        """The same; rows of few bits as they are."""
        stop = self.shape[0] if stop is None else stop
        if self.order is None:
            data = np.fromfile(self.path, np.uint8, (stop - start) * self.row, offset=self.offset + start * self.row)
        else:
            whole = np.fromfile(self.path, np.uint8, self.shape[0] * self.row, offset=self.offset)
            data = whole.reshape(-1, self.row)[self.order[start:stop]]
        if self.dtype in _BY_NAME:
            return getattr(stored_formats, self.dtype.lower())(data.reshape(stop - start, -1))
        element = next(element for name, element in _PLAIN.values() if name == self.dtype)
        numbers = data.reshape(-1).view(element)
        if self.dtype == "BF16":
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        return numbers.astype(np.float32).reshape(stop - start, *self.shape[1:])

    def check(self, name: str) -> None:
        """Raises ArgumentError for scales and minima that are not finite. name: of the tensor."""
        if self.dtype not in _BY_NAME:
            return
        size, _, positions = _BY_NAME[self.dtype]
        data, count = np.memmap(self.path, np.uint8, "r", self.offset, (self.shape[0] * self.row,)), self.row // size
        for what, position in zip(("scale", "minimum"), positions, strict=False):
            bits = np.ndarray((self.shape[0] * count,), "<u2", data, position, (size,))
            if ((bits & 0x7C00) == 0x7C00).any():
                raise ArgumentError(
                    f"{self.path}: {name}: a {what} of {self.dtype} is not finite; fix: write the file again"
                )

    def rows(self) -> Rows:
        """All rows, mapped."""
        data = np.memmap(self.path, np.uint8, "r", self.offset, (self.shape[0], self.row))
        return Rows(self.dtype, data, self.shape[1])


@dataclass(frozen=True)
class GgufModel:
    """A file: its tensors by the names of transformers, and what config.json would say."""

    tensors: Mapping[str, GgufTensor]
    config: Mapping[str, Json]


def gguf_model(path: Path) -> GgufModel:
    """The model of a GGUF file. No elements are read, but those of frequencies of positions. Raises ArgumentError for a
    file that is cut short or not of this format, for types and architectures that are not known, and for tensors and
    facts that are not read and may matter."""
    header = read_header(path)
    found = {name: _tensor(path, name, info, header) for name, info in header.infos.items()}
    parts = [(tensor.offset, tensor.offset + tensor.shape[0] * tensor.row, name) for name, tensor in found.items()]
    given_files.check_disjoint(path, parts)
    if _EMBEDDING not in found or len(found[_EMBEDDING].shape) != 2:
        raise ArgumentError(f"{path}: it has no {_EMBEDDING} of two axes; fix: the file of a language model")
    names = {name: _name(path, name, header) for name in found if name not in POSITIONS}
    tensors = {names[name]: tensor for name, tensor in found.items() if names.get(name)}
    config = configuration(path, header, lambda name: found[name].read(), tensors, found[_EMBEDDING].shape[0])
    if header.facts["general.architecture"] in _PERMUTED_ROWS:
        tensors = {name: _restore_row_order(name, tensor, config) for name, tensor in tensors.items()}
    return GgufModel(tensors, config)


def _name(path: Path, name: str, header: Header) -> str:
    """The name that transformers gives a tensor; "" for one that is not needed. Raises ArgumentError for others."""
    if name in _WHOLE:
        return _WHOLE[name]
    known = _PARTS | _OWN_PARTS.get(str(header.facts.get("general.architecture")), {})
    match name.split("."):
        case ["blk", number, part, ("weight" | "bias") as kind] if _is_number(number) and part in known:
            return f"model.layers.{int(number)}.{known[part]}.{kind}"
        case ["blk", number, part, "weight"] if _is_number(number) and part in UNREAD_PARTS:
            return ""
    raise ArgumentError(f"{path}: the tensor {short_repr(name)} is not known, and may matter; fix: another file")


def _is_number(text: str) -> bool:
    return text.isdecimal() and str(int(text)) == text


def _tensor(path: Path, name: str, info: Info, header: Header) -> GgufTensor:
    shape, kind = info.shape, info.kind
    if kind in _PLAIN:
        dtype, element = _PLAIN[kind]
        row = prod(shape[1:]) * np.dtype(element).itemsize
    elif kind in _BLOCKED:
        dtype, block, bytes_, *_ = _BLOCKED[kind]
        if len(shape) != 2 or shape[-1] % block:
            raise ArgumentError(
                f"{path}: {name} of shape {shape} is not rows of whole blocks of {block}; fix: write it again"
            )
        row = shape[-1] // block * bytes_
    else:
        known = ", ".join(known for known, *_ in (*_PLAIN.values(), *_BLOCKED.values()))
        raise ArgumentError(f"{path}: {name} is of type {_UNREAD.get(kind, kind)} of GGUF; fix: one of {known}")
    start = header.start + info.at
    given_files.check_inside(path, name, header.size, start, shape[0] * row)
    return GgufTensor(path, dtype, shape, start, row)


def _restore_row_order(name: str, tensor: GgufTensor, config: Mapping[str, Json]) -> GgufTensor:
    """A tensor with its rows in the order of transformers."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}.get(name.split(".")[-2])
    if heads is None:
        return tensor
    rows, count = tensor.shape[0], config[heads]
    if not isinstance(count, int) or rows % (2 * count):
        raise ArgumentError(f"{tensor.path}: {name} of {rows} rows is not {count} heads; fix: another file")
    order = np.arange(rows).reshape(count, -1, 2).swapaxes(1, 2).reshape(-1)
    return replace(tensor, order=order)
