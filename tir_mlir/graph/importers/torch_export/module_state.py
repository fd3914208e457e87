"""What a module holds, kept as it is while its forward is run on tensors that are not its own."""

from __future__ import annotations

import contextlib
import copy
import functools
import types
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import torch

_PLAIN = (bool, int, float, str, type(None))
Container: TypeAlias = "dict | list | set"
_CONTAINERS = (dict, OrderedDict, list, set)  # hooks are in an OrderedDict


@contextlib.contextmanager
def replace_tensors(model: torch.nn.Module, tensors: Mapping[int, torch.Tensor]) -> Iterator[None]:
    """The parameters and buffers of a module replaced, by their id.

    torch.func.functional_call puts back the wrong ones where a module has two names in another.
    """
    entries = [(held, name) for module in model.modules() for held in _tensor_dicts(module) for name in held]
    former = [held[name] for held, name in entries]
    try:
        for (held, name), tensor in zip(entries, former, strict=True):
            held[name] = tensors.get(id(tensor), tensor)
        yield
    finally:
        for (held, name), tensor in zip(entries, former, strict=True):
            held[name] = tensor


def _tensor_dicts(module: torch.nn.Module) -> tuple[dict, dict]:
    return module._parameters, module._buffers


@contextlib.contextmanager
def preserve_state(model: torch.nn.Module) -> Iterator[list[str]]:
    """Modules have their former attributes afterwards, and dictionaries, lists and sets among these their former
    elements. The list is then of the classes of modules where something had changed that calls do not tell: hooks and
    numbers are told by what is computed with them."""
    changed: list[str] = []
    attributes = {module: dict(module.__dict__) for module in model.modules()}
    seen: set[int] = set()
    containers = [
        (module, value, copy.copy(value)) for module, saved in attributes.items() for value in _containers(saved, seen)
    ]
    try:
        yield changed
    finally:
        for module, saved in attributes.items():
            if not _is_unchanged(module.__dict__, saved):
                changed += [] if _adds_only_plain(module.__dict__, saved) else [type(module).__name__]
                module.__dict__.clear()
                module.__dict__.update(saved)
        for module, value, saved in containers:
            if not _is_unchanged(value, saved):
                changed += [] if _adds_only_plain(value, saved) else [type(module).__name__]
                value.clear()
                value.extend(saved) if isinstance(value, list) else value.update(saved)


def _containers(value: Container, seen: set[int]) -> Iterator[Container]:
    """The containers in a container, at any depth, that were not seen."""
    for each in value.values() if isinstance(value, dict) else value:
        if type(each) in _CONTAINERS and id(each) not in seen:
            seen.add(id(each))
            yield each
            yield from _containers(each, seen)


def _is_unchanged(value: Container, saved: Container) -> bool:
    if isinstance(value, set):
        return value == saved
    if isinstance(value, dict) and isinstance(saved, dict):
        return value.keys() == saved.keys() and all(value[key] is saved[key] for key in saved)
    return len(value) == len(saved) and all(new is old for new, old in zip(value, saved, strict=True))


def _adds_only_plain(value: Container, saved: Container) -> bool:
    """Whether what was put into a dictionary is functions, such as hooks, and numbers, flags and names only; nothing
    was taken out."""
    if not isinstance(value, dict) or not isinstance(saved, dict) or not saved.keys() <= value.keys():
        return False
    new = [value[key] for key in value if key not in saved or value[key] is not saved[key]]
    return all(isinstance(x, (types.FunctionType, functools.partial, *_PLAIN)) for x in new)
