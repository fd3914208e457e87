"""What the facts of a GGUF file say as a config.json of transformers; each fact is read, or known not to matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.llm.gguf.header import Header

if TYPE_CHECKING:
    from tir_mlir.runtime.tools.given_files import Json

ARCHITECTURES = {
    "llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM", "phi3": "Phi3ForCausalLM",
}  # fmt: skip
_WINDOWED = {"llama": "MistralForCausalLM"}
"""Models of transformers for an architecture whose layers all have a window."""
_NOTES = ("general.", "tokenizer.", "quantize.", "imatrix.", "mradermacher.", "unsloth.")
"""Facts that no score depends on: who made the file and how, texts and tokens, and how tokens may be drawn."""
_UNCOUNTED = ("vocab_size", "rope.scaling.finetuned")
"""Facts of an architecture of the same kind: the rows of tokens are counted."""
_NEUTRAL: Mapping[str, tuple[Json, ...]] = {
    "general.type": ("model",), "split.count": (0, 1), "split.no": (0,), "split.tensors.count": (),
    "{}.expert_count": (0,), "{}.expert_used_count": (0,), "{}.attention.clamp_kqv": (0.0,),
    "{}.attention.max_alibi_bias": (0.0,), "{}.attention.causal": (True,), "{}.use_parallel_residual": (False,),
    "{}.tensor_data_layout": ("Meta AI original pth",), "{}.rope.scaling.yarn_ext_factor": (1.0,),
    "{}.rope.scaling.yarn_attn_factor": (1.0,), "{}.rope.scaling.yarn_log_multiplier": (0.0,),
}  # fmt: skip
"""Facts that are taken with these values only, with which they say nothing; (): with any."""
_FREQUENCIES, _LONG, _SHORT = "rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"
UNREAD_PARTS = ("attn_rot_embd",)
"""Tensors of layers that are computed from facts."""
POSITIONS = (_FREQUENCIES, _LONG, _SHORT)
"""Tensors that are part of the configuration."""
Values = Callable[[str], np.ndarray]
Fact = TypeVar("Fact", int, float, str)


@dataclass
class _Facts:
    """The facts of an architecture. read: the keys of those that were asked for."""

    path: Path
    architecture: str
    facts: Mapping[str, Json]
    read: set[str]

    def get(self, name: str, kinds: tuple[type[Fact], ...], default: Fact | None = None) -> Fact:
        """A fact; of a list, one value for each layer, the value. Raises ArgumentError for none, or of another type."""
        key = f"{self.architecture}.{name}"
        value = self.facts.get(key, default)
        self.read.add(key)
        if isinstance(value, list) and value and all(each == value[0] for each in value):
            value = value[0]
        if value is None:
            raise ArgumentError(f"{self.path}: it does not tell {key}; fix: the file as its writer made it")
        if type(value) not in kinds or not isinstance(value, kinds):
            raise ArgumentError(f"{self.path}: {key} is {short_repr(value)}, which is not supported; fix: another file")
        return value

    def count(self, name: str, default: int | None = None) -> int:
        value: int = self.get(name, (int,), default)
        if not 0 < value < 1 << 31:
            raise ArgumentError(f"{self.path}: {self.architecture}.{name} is {value}; fix: a number of 1 or more")
        return value

    def real(self, name: str, default: float | None = None) -> float:
        value = float(self.get(name, (float, int), default))
        if not 0 < value < math.inf:
            raise ArgumentError(f"{self.path}: {self.architecture}.{name} is {value}; fix: a number above 0")
        return value

    def check_all_read(self) -> None:
        """Raises ArgumentError for a fact that is not read, and may matter."""
        neutral = {key.format(self.architecture): values for key, values in _NEUTRAL.items()}
        known = self.read | {f"{self.architecture}.{name}" for name in _UNCOUNTED}
        for key, value in self.facts.items():
            if key in neutral and (not neutral[key] or value in neutral[key]):
                continue
            if key in neutral or not (key in known or key.startswith(_NOTES)):
                raise ArgumentError(
                    f"{self.path}: {key} is {short_repr(value)}, which is not supported; fix: another file, or, if it "
                    f"does not matter, gguf-new-metadata --remove-metadata {key}"
                )


def configuration(
    path: Path, header: Header, values: Values, tensors: Collection[str], tokens: int
) -> Mapping[str, Json]:
    """The config.json of a file. values: the elements of a tensor of POSITIONS; tensors: the names that transformers
    gives the others; tokens: the rows of tokens. Raises ArgumentError for facts that are missing or not supported."""
    architecture = header.facts.get("general.architecture")
    if not isinstance(architecture, str) or architecture not in ARCHITECTURES:
        raise ArgumentError(
            f"{path}: the architecture {short_repr(architecture)} is not known; fix: one of {', '.join(ARCHITECTURES)}"
        )
    facts = _Facts(path, architecture, header.facts, set())
    heads, width, context = (
        facts.count("attention.head_count"),
        facts.count("embedding_length"),
        facts.count("context_length"),
    )
    columns = facts.count("attention.key_length", max(width // heads, 1))
    if facts.count("attention.value_length", columns) != columns:
        raise ArgumentError(
            f"{path}: keys of {columns} columns and values of other ones are not supported; fix: another file"
        )
    layers = facts.count("block_count")
    found: dict[str, Json] = {
        "architectures": [ARCHITECTURES[architecture]], "model_type": architecture, "hidden_size": width,
        "vocab_size": tokens, "num_hidden_layers": layers, "intermediate_size": facts.count("feed_forward_length"),
        "num_attention_heads": heads, "num_key_value_heads": facts.count("attention.head_count_kv", heads),
        "head_dim": columns, "rms_norm_eps": facts.real("attention.layer_norm_rms_epsilon"),
        "max_position_embeddings": context, "tie_word_embeddings": "lm_head.weight" not in tensors,
        "pad_token_id": None, "bos_token_id": None, "eos_token_id": None,
    }  # fmt: skip
    given = {name: values(name) for name in POSITIONS if name in header.infos}
    found |= _positions(facts, given, columns, context) | _biases(architecture, tensors)
    found |= _window(facts, layers, context)
    facts.check_all_read()
    return found


def _biases(architecture: str, tensors: Collection[str]) -> dict[str, bool]:
    """Which products have biases, where a configuration tells."""
    ends = {"attention_bias": ("self_attn.q_proj.bias", "self_attn.o_proj.bias"), "mlp_bias": ("mlp.up_proj.bias",)}
    attributes = {"llama": ("attention_bias", "mlp_bias"), "qwen3": ("attention_bias",)}.get(architecture, ())
    return {key: True for key in attributes if any(name.endswith(ends[key]) for name in tensors)}


def _window(facts: _Facts, layers: int, context: int) -> dict[str, Json]:
    """The window of tokens that layers attend to, and which layers."""
    architecture, windowed = facts.architecture, f"{facts.architecture}.attention.sliding_window"
    pattern = facts.facts.get(f"{windowed}_pattern")
    size = facts.get("attention.sliding_window", (int,), 0)
    if not 0 < size < context:  # it is longer than what the model is made for
        facts.read.add(f"{windowed}_pattern")
        return {"sliding_window": None} if architecture == "phi3" else {}
    if architecture == "phi3" and pattern is None:
        return {"sliding_window": size}
    if architecture in _WINDOWED and pattern is None:
        return {"sliding_window": size, "architectures": [_WINDOWED[architecture]], "model_type": "mistral"}
    if architecture.startswith("qwen") and isinstance(pattern, list) and len(pattern) == layers:
        facts.read.add(f"{windowed}_pattern")
        kinds = ["sliding_attention" if each else "full_attention" for each in pattern]
        return {"sliding_window": size, "use_sliding_window": True, "layer_types": kinds}
    raise ArgumentError(
        f"{facts.path}: {windowed} is {size}, and which layers have this window is not said in a way that is "
        "supported; fix: another file"
    )


def _positions(facts: _Facts, given: Mapping[str, np.ndarray], columns: int, context: int) -> dict[str, Json]:
    """How positions rotate queries and keys. given: the elements of the tensors of POSITIONS."""
    turned = facts.count("rope.dimension_count", columns)
    common: dict[str, Json] = {"rope_theta": facts.real("rope.freq_base", 10000.0)}
    if turned != columns:
        if facts.architecture != "phi3" or turned > columns or turned % 2:
            raise ArgumentError(
                f"{facts.path}: {facts.architecture}.rope.dimension_count is {turned} for heads of {columns} columns, "
                "which is not supported; fix: another file"
            )
        common["partial_rotary_factor"] = turned / columns
    kind = facts.get("rope.scaling.type", (str,), "linear")
    factor = facts.real("rope.scaling.factor", facts.real("rope.scale_linear", 1.0))
    times = facts.real("rope.scaling.attn_factor", 1.0)
    original = facts.count("rope.scaling.original_context_length", context)
    found: dict[str, Json] | None = None
    if given:
        found = _frequencies(facts, given, turned // 2, kind, factor if kind != "none" else 1.0)
        found |= {"attention_factor": times, "original_max_position_embeddings": original}
    elif kind == "yarn":
        fast, slow = facts.real("rope.scaling.yarn_beta_fast", 32.0), facts.real("rope.scaling.yarn_beta_slow", 1.0)
        grown = 1 + 0.1 * math.log(factor) if factor > 1 else 1.0
        found = {"factor": factor, "attention_factor": times * grown, "beta_fast": fast, "beta_slow": slow}
        found |= {"rope_type": "yarn", "original_max_position_embeddings": original}
    elif times == 1 and (kind == "none" or (kind == "linear" and factor == 1)):
        found = {"rope_type": "default"}
    elif times == 1 and kind == "linear":
        found = {"rope_type": "linear", "factor": factor}
    if found is None or (facts.architecture == "phi3" and found["rope_type"] not in ("default", "longrope")):
        raise ArgumentError(
            f"{facts.path}: {facts.architecture}.rope.scaling.type {short_repr(kind)} with a factor of {factor}, an "
            f"attn_factor of {times} and no {_LONG} is not supported; fix: another file"
        )
    options = {"original_max_position_embeddings": original} if facts.architecture == "phi3" else {}
    return {"rope_parameters": found | common, **options}


def _frequencies(
    facts: _Facts, given: Mapping[str, np.ndarray], count: int, kind: str, factor: float
) -> dict[str, Json]:
    """Positions whose frequencies have a divisor each, in the file; those of short and long prompts may be others."""
    pair = (_FREQUENCIES, _FREQUENCIES) if _FREQUENCIES in given else (_SHORT, _LONG)
    if kind not in ("none", "linear", "longrope") or set(pair) != set(given):
        names = ", ".join(given)
        raise ArgumentError(
            f"{facts.path}: {names} with rope.scaling.type {short_repr(kind)} is not supported; fix: another file"
        )
    found = {}
    for key, name in zip(("short_factor", "long_factor"), pair, strict=True):
        divisors = given[name].reshape(-1).astype(np.float64) * factor
        if len(divisors) != count or not (np.isfinite(divisors).all() and (divisors > 0).all()):
            raise ArgumentError(
                f"{facts.path}: {name} does not have {count} numbers above 0; fix: write the file again"
            )
        found[key] = divisors.tolist()
    return {"rope_type": "longrope", **found}
