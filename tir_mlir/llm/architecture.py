"""The parts of a language model of transformers: layers that repeat, the last norm and the scores; without weights."""

from __future__ import annotations

import contextlib
import copy
import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

import torch
from torch import Tensor, nn

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.llm.checks.fields import check_fields, check_layers_of
from tir_mlir.llm.checks.matching import Parameters, StatedTensor
from tir_mlir.llm.description import CacheFact
from tir_mlir.llm.native.rotary import Rotary, RotaryModule, without_positions

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel
    from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions


ATTENTION = "tir_mlir"


_LAYERS, _NORMS = ("layers", "h"), ("norm", "ln_f", "final_layernorm", "final_layer_norm")
"""What transformers calls the layers of a model, and what comes behind them."""


@dataclass(frozen=True)
class Architecture:
    """config: of transformers; model: on the device "meta"; small: the same of few layers and tokens, with values."""

    config: PretrainedConfig
    model: PreTrainedModel
    small: PreTrainedModel

    @property
    def base(self) -> nn.Module:
        return self.model.base_model

    @property
    def layers(self) -> nn.ModuleList:
        return getattr(self.base, _one_of(self.base, _LAYERS))

    @property
    def norm(self) -> nn.Module:
        return getattr(self.base, _one_of(self.base, _NORMS))

    def name(self, parameter: Tensor) -> str:
        """The name of a parameter in files."""
        return next(name for name, each in self.model.named_parameters() if each is parameter)

    @property
    def layer_prefix(self) -> str:
        """What the names of the parameters of layers start with, before the number."""
        return next(name for name, module in self.model.named_modules() if module is self.layers) + "."

    @property
    def parameters(self) -> Parameters:
        """The parameters, as files have them."""
        names = dict(self.model.named_parameters(remove_duplicate=False))
        first, head = self.model.get_input_embeddings(), self.model.get_output_embeddings()
        if not isinstance(first, nn.Embedding) or head is None:
            raise ArgumentError(f"{type(first).__name__}: only torch.nn.Embedding is supported for tokens")
        tied = {self.last_name(head.weight): self.name(first.weight)} if self.config.tie_word_embeddings else {}
        shapes = {name: tuple(each.shape) for name, each in names.items()}
        ignored = list(getattr(self.model, "_keys_to_ignore_on_load_unexpected", None) or ())
        return Parameters(shapes, tied, self.model.base_model_prefix, self.layer_prefix, ignored)

    def last_name(self, parameter: Tensor) -> str:
        """The last name of a parameter: that of the scores, where they are the rows of tokens."""
        names = self.model.named_parameters(remove_duplicate=False)
        return [name for name, each in names if each is parameter][-1]

    def window(self, layer: int) -> int | None:
        """The tokens that a layer attends to; None: all before."""
        types = getattr(self.config, "layer_types", None)
        window: int | None = getattr(self.config, "sliding_window", None)
        if types is None:  # a model with one kind of layers, which all attend to the window
            attention = getattr(self.layers[layer], "self_attn", None)
            return getattr(attention, "sliding_window", None) or (window if attention is not None else None)
        return window if types[layer] == "sliding_attention" else None

    def kinds(self) -> list[str | None]:
        """The kinds of layers that have rotary positions of their own; None: all have the same."""
        rotary = self.small.base_model.rotary_emb
        named = "layer_type" in inspect.signature(inspect.unwrap(type(rotary).forward)).parameters
        return list(dict.fromkeys(self.config.layer_types)) if named else [None]

    def rotary(self, count: int, context: int) -> Rotary:
        """Cosines and sines of `count` positions, of sequences of up to `context` tokens. Raises ArgumentError."""
        module = getattr(self.small.base_model, "rotary_emb", None)
        return without_positions(count) if module is None else RotaryModule(module, self.kinds()).rotary(count, context)

    @property
    def positions(self) -> int | None:
        """The most tokens of a sequence, where positions are parameters; None: any number."""
        if getattr(self.base, "rotary_emb", None) is not None or not any(
            isinstance(each, nn.Embedding) and each is not self.model.get_input_embeddings()
            for each in self.base.children()
        ):
            return None
        return getattr(self.config, "max_position_embeddings", None)

    def columns(self, layer: int, all_: int) -> tuple[int, int] | None:
        """Which columns of cosines and sines a layer reads; None: it has no rotary positions."""
        if getattr(self.small.base_model, "rotary_emb", None) is None:
            return None
        kinds = self.kinds()
        each = all_ // len(kinds)
        number = 0 if kinds[0] is None else kinds.index(self.config.layer_types[layer])
        return number * each, (number + 1) * each


def _one_of(module: nn.Module, names: Sequence[str]) -> str:
    """The name of a part. Raises ArgumentError where there is none."""
    found = next((name for name in names if hasattr(module, name)), None)
    if found is None:
        raise ArgumentError(f"{type(module).__name__} has no {names[0]}; fix: a model of layers that repeat")
    return found


def architecture_of(folder: Path) -> Architecture:
    """The architecture that a folder's config.json names, of the tensors whose shapes its tensors.json has. Raises
    ArgumentError for one that has no layers of one form, or that transformers does not know, for fields that are not
    read and may matter, and for tensors that do not fit."""
    import transformers

    transformers.AttentionInterface.register(ATTENTION, _attention)
    if not (folder / "config.json").exists():
        raise ArgumentError(f"{folder}: no config.json; fix: the folder that save_pretrained writes")
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=ATTENTION)
    except (ValueError, KeyError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ArgumentError(f"{folder}: transformers has no language model of it: {reason}") from error
    model.float().eval()
    check_fields(folder, json.loads((folder / "config.json").read_text()), config, model)
    check_layers_of(folder, model)
    tensors = json.loads((folder / "tensors.json").read_text())
    try:
        partial = Architecture(config, model, None)
        _ = partial.layers, partial.norm
        partial.parameters.match_tensors(
            folder, {name: StatedTensor(tuple(shape), dtype) for name, (shape, dtype) in tensors.items()}
        )
        return Architecture(config, model, _small(transformers, config))
    except ArgumentError as error:
        raise ArgumentError(f"{folder}: {str(error).removeprefix(f'{folder}: ')}") from None


def _small(transformers: ModuleType, config: PretrainedConfig) -> PreTrainedModel:
    """A model of one layer and few tokens: what it computes besides the layers is the same, with what is computed when
    a model is made."""
    one = copy.deepcopy(config)
    one.vocab_size, one.num_hidden_layers, one.pad_token_id = 8, 1, None
    if getattr(one, "layer_types", None) is not None:
        one.layer_types = one.layer_types[:1]
        missing = [kind for kind in dict.fromkeys(config.layer_types) if kind not in one.layer_types]
        one.layer_types += missing  # rotary positions of each kind
        one.num_hidden_layers = len(one.layer_types)
    return transformers.AutoModelForCausalLM.from_config(one, attn_implementation=ATTENTION).float().eval()


def _attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **_: object,
) -> tuple[Tensor, None]:
    """Attention as transformers calls it: groups of queries share keys and values, which are not copied for them."""
    if softcap is None and s_aux is None:
        found = nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, scale=scaling, enable_gqa=True
        )
    else:
        grouped = query.unflatten(1, (key.shape[1], -1))
        scores = grouped @ key[:, :, None].transpose(3, 4) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
        scores = scores if softcap is None else torch.tanh(scores / softcap) * softcap
        scores = scores + attention_mask[:, :, None]
        if s_aux is not None:
            more = s_aux.reshape(1, key.shape[1], -1, 1, 1).expand(len(query), -1, -1, query.shape[2], 1)
            scores = torch.cat([scores, more], dim=-1)
        shares = torch.softmax(scores, dim=-1)[..., : key.shape[2]]
        found = (shares @ value[:, :, None]).flatten(1, 2)
    return found.transpose(1, 2).contiguous(), None


class LayerModule(nn.Module):
    """A layer on tokens at some positions: (x [1, n, width], cos, sin [1, n, columns], positions [n], keys, values
    [1, heads, capacity, columns]) -> x; keys and values are written at these positions. Those in int8 come with scales
    [1, heads, capacity, 1]. Of several sequences it takes one token each: x [sequences, 1, width] and so on, positions
    [sequences]."""

    def __init__(self, layer: nn.Module, window: int | None, columns: tuple[int, int] | None):
        """columns: those of cos and sin that the layer reads; None: it has no rotary positions."""
        super().__init__()
        self.layer, self.window, self.columns = layer, window, columns
        self.names = set(inspect.signature(inspect.unwrap(type(layer).forward)).parameters)

    def forward(
        self,
        x: Tensor,
        cos: Tensor,
        sin: Tensor,
        positions: Tensor,
        keys: Tensor,
        values: Tensor,
        key_scales: Tensor | None = None,
        value_scales: Tensor | None = None,
    ) -> Tensor:
        at = torch.arange(keys.shape[2])[None, :]
        seen = at <= positions[:, None]
        if self.window is not None:
            seen = seen & (at > positions[:, None] - self.window)
        mask = torch.where(seen, 0.0, -torch.inf)
        several = len(keys) > 1
        mask = mask[:, None, None] if several else mask[None, None]
        scales = None if key_scales is None or value_scales is None else (key_scales, value_scales)
        cache = Cache(keys, values, scales, positions)
        name = "cache" if "cache" in self.names else "past_key_values"
        ids = positions[:, None] if several else positions[None]
        options = {name: cache, "position_ids": ids}
        if self.columns is not None:
            first, last = self.columns
            options["position_embeddings"] = (cos[..., first:last], sin[..., first:last])
        out = self.layer(x, attention_mask=mask, use_cache=True, **options)
        return out[0] if isinstance(out, tuple) else out


class Scores(nn.Module):
    """The last norm, and the scores of some tokens: x [sequences, 1, width] -> [sequences, 1, tokens]; what the model
    does to scores is done."""

    def __init__(self, model: PreTrainedModel, norm: str, width: int, tokens: int):
        super().__init__()
        self.norm = getattr(model.base_model, norm)
        self.head = nn.Linear(width, tokens, bias=model.get_output_embeddings().bias is not None)
        model.set_output_embeddings(self.head)
        setattr(model, model.base_model_prefix, _Normed(self.norm))
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        return self.model(inputs_embeds=x, use_cache=False, return_dict=True).logits


class _Normed(nn.Module):
    """Instead of the layers: the norm alone."""

    def __init__(self, norm: nn.Module):
        super().__init__()
        self.norm = norm

    def forward(self, *_: object, inputs_embeds: Tensor, **__: object) -> BaseModelOutputWithPastAndCrossAttentions:
        from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

        return BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=self.norm(inputs_embeds))


class Start(nn.Module):
    """What comes before the layers: (rows of tokens x [1, n, width], positions [n]) -> x; of several sequences one
    token each."""

    def __init__(self, model: PreTrainedModel, layers: str, norm: str):
        super().__init__()
        self.base = model.base_model
        self._embedding = [model.get_input_embeddings()]
        self.base.set_input_embeddings(nn.Identity())
        setattr(self.base, layers, nn.ModuleList())
        setattr(self.base, norm, nn.Identity())
        if hasattr(self.base, "rotary_emb"):
            self.base.rotary_emb = _NoRotary()

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        sequences, rows, width = x.shape
        (embedding,) = self._embedding
        found = torch.func.functional_call(
            embedding, {"weight": x.reshape(sequences * rows, width)}, (torch.arange(sequences * rows),)
        )
        mask = torch.zeros(sequences, 1, rows, rows)
        return self.base(
            inputs_embeds=found.reshape(sequences, rows, width),
            position_ids=positions.reshape(sequences, rows),
            attention_mask=mask,
            use_cache=False,
        ).last_hidden_state


class _NoRotary(nn.Module):
    """Instead of rotary positions, which no layer reads here."""

    def forward(self, *_: object, **__: object) -> tuple[None, None]:
        return None, None


def start_of(architecture: Architecture) -> Start | None:
    """What comes before the layers; None where they take the rows as they are. The architecture's small model is used
    up."""
    base = architecture.small.base_model
    start = Start(architecture.small, _one_of(base, _LAYERS), _one_of(base, _NORMS)).eval()
    x, positions = torch.randn(1, 3, architecture.model.get_input_embeddings().weight.shape[1]), torch.arange(3)
    with torch.no_grad():
        return None if torch.equal(start(x, positions), x) else start


def scores_of(architecture: Architecture, tokens: int) -> Scores:
    """The last norm and the scores of so many tokens."""
    small = copy.deepcopy(architecture.small)
    return Scores(
        small, _one_of(small.base_model, _NORMS), architecture.model.get_input_embeddings().weight.shape[1], tokens
    ).eval()


def cache_shape(layer: nn.Module, x: Tensor, cos: Tensor, sin: Tensor) -> tuple[int, int]:
    """The heads and columns of the keys of a layer, from a call without values."""
    found: list[tuple[int, int]] = []

    class RecordedCache(Exception):
        pass

    class Recorder:
        def update(self, keys: Tensor, values: Tensor, *_: object, **__: object) -> NoReturn:
            found.append((int(keys.shape[1]), int(keys.shape[3])))
            raise RecordedCache

    names = inspect.signature(inspect.unwrap(type(layer).forward)).parameters
    name = "cache" if "cache" in names else "past_key_values"
    positions = torch.zeros(1, x.shape[1], dtype=torch.int64, device=x.device)
    with contextlib.suppress(RecordedCache):
        layer(x, attention_mask=None, position_ids=positions, position_embeddings=(cos, sin), **{name: Recorder()})
    if not found:
        raise ArgumentError(f"{type(layer).__name__} updates no cache of keys and values")
    return found[0]


# Keys and values of a layer in its cache: as float32, or as int8 with a scale for each token of a head.


_MOST, _LEAST = 127, 1e-30
"""The greatest number of int8 that is used; the least scale, of what is all zeros."""


class Cache:
    """What a layer takes for its cache: keys and values [sequences, heads, capacity, columns] of all positions, some of
    them written, in place. scales: of keys and values, [sequences, heads, capacity, 1]; none: they are float32."""

    def __init__(self, keys: Tensor, values: Tensor, scales: tuple[Tensor, Tensor] | None, positions: Tensor):
        self.keys, self.values, self.scales, self.positions = keys, values, scales, positions

    def update(self, keys: Tensor, values: Tensor, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        if self.scales is None:
            return self._put(self.keys, keys), self._put(self.values, values)
        return self._store_rounded(self.keys, self.scales[0], keys), self._store_rounded(
            self.values, self.scales[1], values
        )

    def _store_rounded(self, whole: Tensor, scales: Tensor, new: Tensor) -> Tensor:
        """Numbers of a token of a head by the scale at which its largest is 127."""
        scale = (new.abs().amax(-1, keepdim=True) / _MOST).clamp(min=_LEAST)
        numbers = self._put(whole, torch.round(new / scale).to(torch.int8))
        return numbers.float() * self._put(scales, scale)

    def _put(self, whole: Tensor, new: Tensor) -> Tensor:
        if len(whole) == 1:
            whole.index_copy_(2, self.positions, new)
        else:
            whole[torch.arange(len(whole)), :, self.positions] = new[:, :, 0]
        return whole


def cache_arrays(dtype: str, sequences: int, heads: int, columns: int) -> dict[str, Tensor]:
    """The arrays of a cache of two positions, by the names of the inputs of a layer."""
    shape = sequences, heads, 2
    element = torch.float32 if dtype == "float32" else torch.int8
    arrays = {name: torch.zeros(*shape, columns, dtype=element) for name in ("keys", "values")}
    if dtype == "int8":
        arrays |= {name: torch.zeros(*shape, 1) for name in ("key_scales", "value_scales")}
    return arrays


def facts_of(arrays: dict[str, Tensor]) -> list[CacheFact]:
    """Of each array its name, the heads of a sequence, the bytes of a position of one."""
    return [(name, array.shape[1], array.shape[3] * array.element_size()) for name, array in arrays.items()]
