"""Caches of transformers among the results of a model: they are no tensors, and a graph has no state."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch


@contextlib.contextmanager
def drop_caches(model: Any) -> Iterator[None]:
    """A module whose results have None instead of caches (`past_key_values`), which is warned of once.

    Those that have entries by name lose the entry, as they do where a model makes no cache.
    """
    classes: set[str] = set()

    def replace_result(_: Any, __: Sequence[torch.Tensor], result: Any) -> Any:
        return _replace_caches(result, classes)

    hook = model.register_forward_hook(replace_result) if isinstance(model, torch.nn.Module) else None
    try:
        yield
    finally:
        if hook is not None:
            hook.remove()
    for name in sorted(classes):
        warnings.warn(
            f"from_torch: the model returns a {name}, which is left out: a graph has no state; "
            "fix: use_cache=False says so",
            stacklevel=4,
        )


def _replace_caches(value: Any, classes: set[str]) -> Any:
    """A result with None for each cache; their classes are added."""
    if _is_cache(value):
        classes.add(type(value).__name__)
        return None
    if isinstance(value, dict):
        held = {key: _replace_caches(each, classes) for key, each in value.items()}
        if all(held[key] is each for key, each in value.items()):
            return value
        return type(value)(**{key: each for key, each in held.items() if each is not None or value[key] is None})
    if type(value) in (tuple, list):
        parts = [_replace_caches(each, classes) for each in value]
        unchanged = all(new is old for new, old in zip(parts, value, strict=True))
        return value if unchanged else type(value)(parts)
    return value


def _is_cache(value: Any) -> bool:
    """Whether an object is one of the caches of transformers (DynamicCache, EncoderDecoderCache, MambaCache, ..)."""
    names = [(each.__module__.partition(".")[0], each.__name__) for each in type(value).__mro__]
    return any(package == "transformers" and name.endswith("Cache") for package, name in names)
