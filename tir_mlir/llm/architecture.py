"""The parts of a language model of transformers: layers that repeat, the last norm and the scores; without weights."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tir_mlir.dialect.diagnostics import ArgumentError

ATTENTION = "tir_mlir"


@dataclass(frozen=True)
class Architecture:
    """config: of transformers; model: on the device "meta"."""

    config: Any
    model: Any

    @property
    def base(self) -> Any:
        return self.model.base_model

    @property
    def layers(self) -> Any:
        return self.base.layers

    def name(self, parameter: torch.Tensor) -> str:
        """The name of a parameter in files."""
        return next(name for name, each in self.model.named_parameters() if each is parameter)

    @property
    def layer_prefix(self) -> str:
        """What the names of the parameters of layers start with, before the number."""
        first = next(iter(self.layers[0].parameters()))
        return self.name(first).partition("layers.0.")[0] + "layers."

    def window(self, layer: int) -> int | None:
        """The tokens that a layer attends to; None: all before."""
        types = getattr(self.config, "layer_types", None)
        sliding = types is not None and types[layer] == "sliding_attention"
        return int(self.config.sliding_window) if sliding else None

    def rotary(self, context: int) -> tuple[Any, Any]:
        """Cosines and sines of all positions, [context, columns] each."""
        rotary = type(self.base.rotary_emb)(config=self.config)
        with torch.no_grad():
            cos, sin = rotary(torch.zeros(1, 1), torch.arange(context)[None])
        return cos[0].numpy(), sin[0].numpy()


def architecture_of(folder: Path) -> Architecture:
    """The architecture that a folder's config.json names. Raises ArgumentError for one that has no layers of one form,
    or that transformers does not know."""
    import transformers  # pyright: ignore[reportMissingImports]

    transformers.AttentionInterface.register(ATTENTION, _attention)
    if not (folder / "config.json").exists():
        raise ArgumentError(f"{folder}: there is no config.json; fix: the folder that save_pretrained writes")
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=ATTENTION)
    except (ValueError, KeyError, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ArgumentError(f"{folder}: transformers has no language model of it: {reason}") from error
    model.float().eval()
    missing = [part for part in ("layers", "norm", "rotary_emb") if not hasattr(model.base_model, part)]
    if missing:
        kind = type(model).__name__
        raise ArgumentError(f"{folder}: {kind} has no {', '.join(missing)}; fix: a model of one kind of layers")
    return Architecture(config, model)


def _attention(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any) -> tuple[Any, None]:
    """Attention as transformers calls it: groups of queries share keys and values, which are not copied for them."""
    if options.get("softcap") is not None or options.get("s_aux") is not None:
        raise ArgumentError(f"{type(module).__name__}: attention with a cap or sinks is not supported")
    found = nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=attention_mask, scale=options.get("scaling"), enable_gqa=True
    )
    return found.transpose(1, 2).contiguous(), None


class _Cache:
    """What a layer takes for its cache: keys and values of all positions, of which some are written."""

    def __init__(self, keys: Any, values: Any, positions: Any):
        self.keys, self.values, self.positions = keys, values, positions

    def update(self, keys: Any, values: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        for whole, new in ((self.keys, keys), (self.values, values)):
            if len(whole) == 1:
                whole.index_copy_(2, self.positions, new)
            else:
                whole[torch.arange(len(whole)), :, self.positions] = new[:, :, 0]
        return self.keys, self.values


class Layer(nn.Module):
    """A layer on tokens at some positions: (x [1, n, width], cos, sin [1, n, columns], positions [n], keys, values
    [1, heads, capacity, columns]) -> x; keys and values are written at these positions. Of several sequences it takes
    one token each: x [sequences, 1, width] and so on, positions [sequences]."""

    def __init__(self, layer: Any, window: int | None):
        super().__init__()
        self.layer, self.window = layer, window
        self.names = set(inspect.signature(inspect.unwrap(type(layer).forward)).parameters)

    def forward(self, x: Any, cos: Any, sin: Any, positions: Any, keys: Any, values: Any) -> Any:
        at = torch.arange(keys.shape[2])[None, :]
        seen = at <= positions[:, None]
        if self.window is not None:
            seen = seen & (at > positions[:, None] - self.window)
        mask = torch.where(seen, 0.0, -torch.inf)
        several = len(keys) > 1
        mask = mask[:, None, None] if several else mask[None, None]
        cache = _Cache(keys, values, positions)
        name = "cache" if "cache" in self.names else "past_key_values"
        ids = positions[:, None] if several else positions[None]
        options = {name: cache, "position_ids": ids, "position_embeddings": (cos, sin)}
        out = self.layer(x, attention_mask=mask, use_cache=True, **options)
        return out[0] if isinstance(out, tuple) else out


class Scores(nn.Module):
    """The last norm, and the scores of some tokens: x [sequences, 1, width] -> [sequences, 1, tokens]."""

    def __init__(self, norm: Any, width: int, tokens: int, bias: bool):
        super().__init__()
        self.norm, self.head = norm, nn.Linear(width, tokens, bias=bias)

    def forward(self, x: Any) -> Any:
        return self.head(self.norm(x))


def cache_shape(layer: Any, x: Any, cos: Any, sin: Any) -> tuple[int, int]:
    """The heads and columns of the keys of a layer, from a call without values."""
    found: list[tuple[int, int]] = []

    class Told(Exception):
        pass

    class Recorder:
        def update(self, keys: Any, values: Any, *_: Any, **__: Any) -> Any:
            found.append((int(keys.shape[1]), int(keys.shape[3])))
            raise Told

    names = inspect.signature(inspect.unwrap(type(layer).forward)).parameters
    name = "cache" if "cache" in names else "past_key_values"
    call: Callable[..., Any] = layer
    positions = torch.zeros(1, x.shape[1], dtype=torch.int64, device=x.device)
    try:
        call(x, attention_mask=None, position_ids=positions, position_embeddings=(cos, sin), **{name: Recorder()})
    except Told:
        pass
    if not found:
        raise ArgumentError(f"{type(layer).__name__} updates no cache of keys and values")
    return found[0]
