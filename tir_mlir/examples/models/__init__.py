"""Models in plain PyTorch with random weights, made on the spot: nothing is downloaded.

    example = models.example("resnet18")          # or tiny=True: the same structure, few channels and layers
    example.model(*example.inputs)

The structures and the names of the weights are those of torchvision (LeNet and MLP aside), of the published BERT,
GPT-2, Llama and Whisper. `NAMES` lists the models; torch is imported when the first one is made.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NAMES", "Example", "ModelRow", "example", "row"]


@dataclass(frozen=True)
class Example:
    """A model in evaluation mode and inputs of it.

    dynamic: the sizes that vary, as `torch.export.export(dynamic_shapes=)` takes them, with the names of the sizes;
    None where all are fixed.
    """

    model: Any
    inputs: tuple[Any, ...]
    dynamic: Any = None


@dataclass(frozen=True)
class ModelRow:
    """A line of the table: the function of a file that makes an Example, its arguments in full and tiny."""

    file: str
    maker: str
    says: str
    real: dict[str, Any] = field(default_factory=dict)
    tiny: dict[str, Any] = field(default_factory=dict)


_TINY_VISION = {"width": 8, "classes": 10, "size": 32}
_TINY_BERT = {"layers": 2, "dim": 32, "heads": 4, "hidden": 64, "words": 101, "tokens": 11}
_TINY_GPT = {"layers": 2, "dim": 32, "heads": 4, "words": 101, "tokens": 9}
_TINY_LLAMA = {"dim": 64, "heads": 8, "groups": 2, "hidden": 96, "tokens": 9}

_ROWS: dict[str, ModelRow] = {
    "mlp": ModelRow("mlp", "mlp", "784-128-10, batch 1", {}, {"sizes": (28, 16, 10)}),
    "mlp-64": ModelRow("mlp", "mlp", "784-128-10, batch 64", {"batch": 64}, {"sizes": (28, 16, 10), "batch": 5}),
    "lenet": ModelRow("lenet", "lenet", "28 x 28, batch 1", {}, {"width": 2}),
    "resnet18": ModelRow("resnet", "resnet18", "224 x 224, batch 1", {}, _TINY_VISION),
    "resnet50": ModelRow("resnet", "resnet50", "224 x 224, batch 1", {}, _TINY_VISION),
    "mobilenet-v2": ModelRow("mobilenet", "mobilenet_v2", "224 x 224, batch 1", {},
                        {"width": 0.25, "classes": 10, "size": 32, "deep": False}),
    "mobilenet-v3-small": ModelRow("mobilenet", "mobilenet_v3_small", "224 x 224, batch 1", {},
                              {"width": 0.5, "classes": 10, "size": 32, "deep": False}),
    "vit-b16": ModelRow("vit", "vit_b16", "224 x 224, batch 1", {},
                   {"size": 16, "patch": 4, "dim": 32, "layers": 2, "heads": 4, "hidden": 64, "classes": 10}),
    "bert-layer": ModelRow("bert", "bert_layer", "128 tokens", {}, {"dim": 32, "heads": 4, "hidden": 64, "tokens": 11}),
    "bert-base": ModelRow("bert", "bert", "128 tokens", {}, _TINY_BERT),
    "bert-masked": ModelRow("bert", "bert", "128 tokens, some of them padding", {"masked": True},
                       {**_TINY_BERT, "masked": True}),
    "gpt2-block": ModelRow("gpt2", "gpt2_block", "128 tokens", {}, {"dim": 32, "heads": 4, "tokens": 9}),
    "gpt2-prefill": ModelRow("gpt2", "gpt2_prefill", "128 tokens", {}, _TINY_GPT),
    "gpt2-decode": ModelRow("gpt2", "gpt2_decode", "one token after 128", {}, _TINY_GPT),
    "llama-block": ModelRow("llama", "llama_block", "128 tokens", {}, _TINY_LLAMA),
    "llama-decode": ModelRow("llama", "llama_decode", "a block, one token after 128", {}, _TINY_LLAMA),
    "unet": ModelRow("unet", "unet", "256 x 256, batch 1", {}, {"width": 4, "size": 32, "depth": 2}),
    "whisper-encoder": ModelRow("whisper", "whisper_encoder", "30 seconds of sound", {},
                           {"bands": 8, "frames": 20, "dim": 32, "heads": 4, "layers": 2}),
}  # fmt: skip

NAMES = tuple(_ROWS)


def row(name: str) -> ModelRow:
    """The line of a model in the table. Errors: ValueError for a name that is not there."""
    if name not in _ROWS:
        raise ValueError(f"no model {name!r}; fix: one of {', '.join(NAMES)}")
    return _ROWS[name]


def example(name: str, tiny: bool = False, seed: int = 0, **changes: Any) -> Example:
    """A model of NAMES with weights and inputs drawn from `seed`, in evaluation mode, without gradients.

    tiny: the same structure with few channels and layers. changes: of the maker's arguments, such as `tokens=16`.
    """
    line = row(name)
    maker = getattr(importlib.import_module(f"{__name__}.{line.file}"), line.maker)
    weights = importlib.import_module(f"{__name__}.weights")
    spec = maker(**{**(line.tiny if tiny else line.real), **changes})
    return Example(weights.fill_weights(spec.model, seed), weights.draw_inputs(spec.inputs, seed), spec.dynamic)
