"""Which tensor of the files each parameter of a model is; what the files have beyond them is known not to matter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr

if TYPE_CHECKING:
    from tir_mlir.runtime.tools.given_files import Json

_BUFFERS = re.compile(
    r"(^|\.)(rotary_emb\.inv_freq|(attn|attention)\.(masked_)?bias|position_ids|attn\.rotary_emb\.(cos|sin)_cached)$"
)
"""Masks and tables that models of older versions of transformers kept, and that are computed."""
WEIGHTS = ("F32", "F16", "BF16")
"""Types of safetensors in which parameters are kept that no method of rounding tells of."""
_LAYER_COUNTS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
_DEPTH = 20


class Shaped(Protocol):
    """A tensor of which the shape is known."""

    @property
    def shape(self) -> tuple[int, ...]: ...


T = TypeVar("T", bound=Shaped)


@dataclass(frozen=True)
class StatedTensor:
    """What is known of a tensor."""

    shape: tuple[int, ...]
    dtype: str | None


@dataclass(frozen=True)
class Parameters:
    """What a model has: the shape of each parameter in the files.

    tied: names that may be missing, and the parameters that they are.
    prefix: of all names, which files may leave out.
    layers: what names of layers start with.
    ignored: expressions of names that transformers knows to be of no use.
    """

    shapes: Mapping[str, tuple[int, ...]]
    tied: Mapping[str, str]
    prefix: str
    layers: str
    ignored: Sequence[str]

    def rename_tensors(self, files: Mapping[str, T]) -> dict[str, T]:
        """The tensors of files by the names of the model: with the prefix, where the files leave it out."""
        found: dict[str, T] = {}
        for name, tensor in files.items():
            whole = f"{self.prefix}.{name}"
            known = name in self.shapes or whole in files or name.startswith(f"{self.prefix}.")
            lacks_prefix = not known and (whole in self.shapes or whole.startswith(self.layers))
            found[whole if lacks_prefix else name] = tensor
        return found

    def match_tensors(self, path: Path, files: Mapping[str, T]) -> dict[str, T]:
        """The tensor of each parameter. Raises ArgumentError for one that is missing or of another shape, and for a
        tensor that is not of the model and may matter."""
        given, found = self.rename_tensors(files), dict[str, T]()
        for name, shape in self.shapes.items():
            tensor = given.get(name)
            tensor = given.get(self.tied.get(name, name)) if tensor is None else tensor
            if tensor is None:
                raise ArgumentError(f"{path}: no tensor {name}; fix: the files that belong to config.json")
            if tuple(tensor.shape) != tuple(shape):
                raise ArgumentError(
                    f"{path}: {name} is {tuple(tensor.shape)} in the file, and {tuple(shape)} by config.json"
                )
            found[name] = tensor
        for name in given.keys() - self.shapes.keys():
            if not self._is_of_no_use(name, getattr(given[name], "dtype", None)):
                raise ArgumentError(
                    f"{path}: the tensor {short_repr(name)} is in the files, and the model of config.json does not "
                    "have it; fix: the files that belong to config.json"
                )
        return found

    def _is_of_no_use(self, name: str, dtype: str | None) -> bool:
        """Whether a name is known to be of a buffer; so is a tensor outside of all modules in a type that no parameter
        is kept in."""
        is_whole = dtype is None or dtype in WEIGHTS or "." in name.removeprefix(f"{self.prefix}.")
        return not is_whole or bool(_BUFFERS.search(name)) or any(re.search(each, name) for each in self.ignored)


def check_layers(path: Path, config: Mapping[str, Json], tensors: int) -> None:
    """Raises ArgumentError for a configuration with more layers than files of so many tensors can have, before anything
    is made of it, and for one that is nested too deep."""
    for key, value in _numbers(path, config, 0):
        if key in _LAYER_COUNTS and value > tensors:
            raise ArgumentError(
                f"{path}: {key} is {value}, and the files have {tensors} tensors; fix: the files that belong to "
                "config.json"
            )


def _numbers(path: Path, config: Mapping[str, Json], depth: int) -> Iterable[tuple[str, float]]:
    if depth > _DEPTH:
        raise ArgumentError(f"{path}: config.json is nested deeper than {_DEPTH}; fix: the file as it was written")
    for key, value in config.items():
        if isinstance(value, dict):
            yield from _numbers(path, value, depth + 1)
        elif isinstance(value, (int, float)):
            yield key, value
