"""Tensors of GGUF files, read one at a time, by the names that transformers gives them."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.graph.precision import stored_formats
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.llm.native.parts import Rows

_PLAIN = {0: ("F32", np.float32), 1: ("F16", np.float16), 30: ("BF16", np.uint16)}
_BLOCKED = {2: ("Q4_0", 32, 18, (0,)), 8: ("Q8_0", 32, 34, (0,)), 12: ("Q4_K", 256, 144, (0, 2))}
"""By the numbers of types: the name, the numbers of a block, its bytes, and where in it the scales lie."""
_READERS = {"Q4_0": stored_formats.q4_0, "Q8_0": stored_formats.q8_0, "Q4_K": stored_formats.q4_k}
_BITS = {"Q4_0": 4, "Q8_0": 8, "Q4_K": 4, "F32": 32}
_NUMBERS = {0: "B", 1: "b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_PARTS = {
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
}  # fmt: skip
_WHOLE = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight",
          "output.weight": "lm_head.weight"}  # fmt: skip
_TURNED = ("llama",)
"""Architectures whose queries and keys have the two halves of a head interleaved."""
ARCHITECTURES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}


@dataclass(frozen=True)
class GgufTensor:
    """A tensor in a file: its elements start at `offset`. dtype: as the format names it. order: of the rows; None: as
    they lie."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    row: int
    order: np.ndarray | None = None

    @property
    def bits(self) -> int:
        """Of an element, without scales."""
        return _BITS.get(self.dtype, 16)

    def read(self, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Rows `start` to `stop` as float32."""
        found = self.stored(start, stop)
        return found.values() if isinstance(found, Grouped) else found

    def stored(self, start: int = 0, stop: int | None = None) -> np.ndarray | Grouped:
        """The same; rows of few bits as they are."""
        stop = self.shape[0] if stop is None else stop
        if self.order is None:
            data = np.fromfile(self.path, np.uint8, (stop - start) * self.row, offset=self.offset + start * self.row)
        else:
            whole = np.fromfile(self.path, np.uint8, self.shape[0] * self.row, offset=self.offset)
            data = whole.reshape(-1, self.row)[self.order[start:stop]]
        if self.dtype in _READERS:
            return _READERS[self.dtype](data.reshape(stop - start, -1))
        element = next(element for name, element in _PLAIN.values() if name == self.dtype)
        numbers = data.reshape(-1).view(element)
        if self.dtype == "BF16":
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        return numbers.astype(np.float32).reshape(stop - start, *self.shape[1:])

    def check(self) -> None:
        """Raises ArgumentError for scales that are not finite."""
        if self.dtype not in _READERS:
            return
        size, places = next((size, places) for name, _, size, places in _BLOCKED.values() if name == self.dtype)
        data, count = np.memmap(self.path, np.uint8, "r", self.offset, (self.shape[0] * self.row,)), self.row // size
        for place in places:
            bits = np.ndarray((self.shape[0] * count,), "<u2", data, place, (size,))
            if ((bits & 0x7C00) == 0x7C00).any():
                raise ArgumentError(f"{self.path}: a scale of {self.dtype} is not finite; fix: write the file again")

    def rows(self) -> Rows:
        """All rows, mapped."""
        data = np.memmap(self.path, np.uint8, "r", self.offset, (self.shape[0], self.row))
        return Rows(self.dtype, data, self.shape[1])


@dataclass(frozen=True)
class GgufModel:
    """A file: its tensors by the names of transformers, and what config.json would say."""

    tensors: Mapping[str, GgufTensor]
    config: Mapping[str, Any]


def gguf_model(path: Path) -> GgufModel:
    """The model of a GGUF file. No elements are read. Raises ArgumentError for a file that is cut short or not of this
    format, and for types and architectures that are not known."""
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            facts, infos, start = _head(file, path)
        except (struct.error, UnicodeDecodeError, MemoryError) as error:
            raise ArgumentError(f"{path}: its header is cut short or broken; fix: copy the file again") from error
    architecture = facts.get("general.architecture")
    if architecture not in ARCHITECTURES:
        raise ArgumentError(
            f"{path}: the architecture {architecture} is not known; fix: one of {', '.join(ARCHITECTURES)}"
        )
    tensors = {_name(name): _tensor(path, name, *info, start, size) for name, info in infos.items()}
    config = _config(architecture, facts, tensors)
    if architecture in _TURNED:
        tensors |= {name: _unturned(name, tensor, config) for name, tensor in tensors.items()}
    return GgufModel({name: tensor for name, tensor in tensors.items() if name}, config)


def _head(file: BinaryIO, path: Path) -> tuple[dict[str, Any], dict[str, tuple[tuple[int, ...], int, int]], int]:
    """The facts, shape, type and place of each tensor, and where the first one is."""
    if file.read(4) != b"GGUF":
        raise ArgumentError(f"{path}: it is no GGUF file")
    version, count, keys = struct.unpack("<IQQ", file.read(20))
    if version not in (2, 3):
        raise ArgumentError(f"{path}: version {version} of GGUF is not known; fix: write it as version 3")
    facts = {}
    for _ in range(keys):
        key = _text(file)
        facts[key] = _value(file, *struct.unpack("<I", file.read(4)))
    infos = {}
    for _ in range(count):
        name = _text(file)
        (rank,) = struct.unpack("<I", file.read(4))
        shape = struct.unpack(f"<{rank}Q", file.read(8 * rank))[::-1]
        infos[name] = (shape, *struct.unpack("<IQ", file.read(12)))
    alignment = facts.get("general.alignment", 32)
    return facts, infos, -(-file.tell() // alignment) * alignment


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode()


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(file)
    if kind == _ARRAY:
        element, count = struct.unpack("<IQ", file.read(12))
        return [_value(file, element) for _ in range(count)]
    if kind not in _NUMBERS:
        raise struct.error(f"type {kind}")
    return struct.unpack(_NUMBERS[kind], file.read(struct.calcsize(_NUMBERS[kind])))[0]


def _name(name: str) -> str:
    """The name that transformers gives a tensor; "" for one that it does not have."""
    if name in _WHOLE or not name.startswith("blk."):
        return _WHOLE.get(name, "")
    _, number, part, kind = name.split(".")
    return f"model.layers.{number}.{_PARTS[part]}.{kind}" if part in _PARTS else ""


def _tensor(path: Path, name: str, shape: tuple[int, ...], kind: int, at: int, start: int, size: int) -> GgufTensor:
    if kind in _PLAIN:
        dtype, element = _PLAIN[kind]
        row = prod(shape[1:]) * np.dtype(element).itemsize
    elif kind in _BLOCKED:
        dtype, block, bytes_, _ = _BLOCKED[kind]
        if shape[-1] % block:
            raise ArgumentError(f"{path}: rows of {name}, {shape[-1]}, are no whole blocks of {block}")
        row = shape[-1] // block * bytes_
    else:
        known = ", ".join(known for known, *_ in (*_PLAIN.values(), *_BLOCKED.values()))
        raise ArgumentError(f"{path}: {name} is of type {kind} of GGUF; fix: one of {known}")
    if (end := start + at + shape[0] * row) > size:
        raise ArgumentError(f"{path}: it is cut short, {name} ends at byte {end} of {size}; fix: copy it again")
    return GgufTensor(path, dtype, shape, start + at, row)


def _config(architecture: str, facts: Mapping[str, Any], tensors: Mapping[str, GgufTensor]) -> dict[str, Any]:
    def fact(name: str, default: Any = None) -> Any:
        value = facts.get(f"{architecture}.{name}", default)
        if value is None:
            raise ArgumentError(f"the file does not tell {architecture}.{name}")
        return value

    heads, width = fact("attention.head_count"), fact("embedding_length")
    return {
        "architectures": [ARCHITECTURES[architecture]], "model_type": architecture, "hidden_size": width,
        "vocab_size": tensors["model.embed_tokens.weight"].shape[0], "num_hidden_layers": fact("block_count"),
        "intermediate_size": fact("feed_forward_length"), "num_attention_heads": heads,
        "num_key_value_heads": fact("attention.head_count_kv", heads),
        "head_dim": fact("attention.key_length", width // heads),
        "rms_norm_eps": fact("attention.layer_norm_rms_epsilon"),
        "rope_theta": fact("rope.freq_base", 10000.0), "max_position_embeddings": fact("context_length"),
        "tie_word_embeddings": "lm_head.weight" not in tensors,
    }  # fmt: skip


def _unturned(name: str, tensor: GgufTensor, config: Mapping[str, Any]) -> GgufTensor:
    """A tensor with its rows in the order of transformers."""
    heads = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}.get(name.split(".")[-2] if name else "")
    if heads is None:
        return tensor
    rows = tensor.shape[0]
    order = np.arange(rows).reshape(config[heads], -1, 2).swapaxes(1, 2).reshape(-1)
    return GgufTensor(tensor.path, tensor.dtype, tensor.shape, tensor.offset, tensor.row, order)
