"""Configurations that are refused by name: fields that nothing reads, and layers that are not supported."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr

if TYPE_CHECKING:
    from torch import nn
    from transformers import PretrainedConfig, PreTrainedModel

    from tir_mlir.runtime.tools.given_files import Json

_NOTES = re.compile(
    r"_.*|transformers[._].*|.*drop(out)?|.*_pdrop|unsloth.*|auto_map|architectures|model_type|(torch_)?dtype|tokenizer_class"
    r"|task_specific_params|finetuning_task|n_ctx|gradient_checkpointing|is_llama_config|use_flash_attn|prefix|license|max_sequence_length"
    r"|model_max_length|pretraining_tp"
)
"""Fields that no score depends on: who wrote the file and how, training, tokens, and numbers that others repeat."""
_NEUTRAL = {"interpolate_factor": 1, "full_attn_mod": 1}
"""Fields that say nothing with these values."""
_REPEATED = {"hidden_act": "hidden_activation"}
"""Fields that matter only where another one has another value."""
_ORIGINAL = "original_max_position_embeddings"
_POSITIONS = {
    "default": set[str](), "linear": {"factor"}, "dynamic": {"factor"}, "proportional": {"factor"},
    "yarn": {"factor", "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate",
             _ORIGINAL},
    "longrope": {"factor", "attention_factor", "short_factor", "long_factor", _ORIGINAL},
    "llama3": {"factor", "low_freq_factor", "high_freq_factor", _ORIGINAL},
}  # fmt: skip
"""By kind, what rotary positions are computed of."""
_ALWAYS = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}


def check_fields(folder: Path, given: Mapping[str, Json], config: PretrainedConfig, model: PreTrainedModel) -> None:
    """Raises ArgumentError for a field of a config.json that is not empty, is not known to be a note, and whose name
    is neither declared by the configuration of transformers nor occurs in the code of the model, so that nothing
    reads it; and for such a field of rotary positions."""
    import transformers

    declared = {
        *type(config).__dataclass_fields__,
        *type(config).attribute_map,
        *transformers.GenerationConfig().to_dict(),
    }
    modules = {type(config).__module__, type(model).__module__, "transformers.modeling_rope_utils"}
    words = {word for name in modules for word in re.findall(r"\w+", inspect.getsource(sys.modules[name]))}
    for key, value in given.items():
        if value or not isinstance(value, (bool, str, list, dict, type(None))):
            is_said = key in _NEUTRAL and value == _NEUTRAL[key]
            is_said |= key in _REPEATED and value == given.get(_REPEATED[key])
            if not (key in declared or key in words or _NOTES.fullmatch(key) or is_said):
                raise ArgumentError(
                    f"{folder}: nothing reads {key} of config.json, {short_repr(value)}; fix: remove it if it does "
                    "not matter"
                )
    facts = getattr(config, "rope_parameters", None) or {}
    nested = [value for value in facts.values() if isinstance(value, dict)]
    for each in nested or ([facts] if facts else []):
        _check_positions(folder, each)


def _check_positions(folder: Path, facts: Mapping[str, Json]) -> None:
    """Check the fields of rotary positions."""
    kind = facts.get("rope_type")
    if not isinstance(kind, str) or kind not in _POSITIONS:
        raise ArgumentError(
            f"{folder}: rotary positions of the kind {short_repr(kind)} are not supported; fix: another model"
        )
    known = _ALWAYS | _POSITIONS[kind]
    if unread := [key for key, value in facts.items() if key not in known and value is not None]:
        raise ArgumentError(
            f"{folder}: nothing reads {unread[0]} of rotary positions of the kind {kind}; fix: remove it if it does "
            "not matter"
        )


def check_layers_of(folder: Path, model: nn.Module) -> None:
    """Raises ArgumentError for layers of experts, and for those that keep another state than keys and values."""
    name = type(model).__name__
    if getattr(model, "_is_stateful", False):
        raise ArgumentError(
            f"{folder}: {name} keeps a state that is not keys and values, which is not supported; fix: a model of "
            "attention, or from_torch"
        )
    for path, module in model.named_modules():
        kind = type(module).__name__
        if "Expert" in kind or any(each.dim() > 2 for each in module.parameters(recurse=False)):
            raise ArgumentError(
                f"{folder}: {name} has mixtures of experts ({path} is a {kind}), which are not supported; fix: a model "
                "without them, or from_torch"
            )
