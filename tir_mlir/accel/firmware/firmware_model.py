"""What firmware consists of: calls of functions, in order, on tensors with a place in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.c_source import written_buffers
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.drivers.c_entry import C_TYPES, identifiers

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class FirmwareTensor:
    """A tensor: its C name, and where it is.

    place: "argument" of the function that runs the model, "weight", or "arena".
    start: its first byte in the arena.
    is_written: whether a call writes it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    place: str
    start: int = 0
    is_written: bool = False

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def comment(self) -> str:
        return f"{' x '.join(map(str, self.shape)) or 'one'} of {self.dtype}"

    @property
    def pointer(self) -> str:
        """Its declaration as a pointer: `const int8_t *x`."""
        return f"{'' if self.is_written else 'const '}{C_TYPES[self.dtype]} *{self.name}"


@dataclass(frozen=True)
class FirmwareCall:
    """A call of a function of a machine, or of the CPU, on tensors."""

    function: str
    operands: tuple[FirmwareTensor, ...]


@dataclass(frozen=True)
class FirmwareModel:
    """A model: what its function takes, the calls in it, and copies at its end.

    weights: the values of the tensors that are weights, by name.
    """

    name: str
    arguments: Sequence[FirmwareTensor]
    calls: Sequence[FirmwareCall]
    weights: Mapping[str, Array] = field(default_factory=dict[str, Array])
    copies: Sequence[tuple[FirmwareTensor, FirmwareTensor]] = ()
    arena_bytes: int = 0

    def tensors(self, place: str) -> list[FirmwareTensor]:
        """The tensors of a place that calls and copies use, each once."""
        used = [t for call in self.calls for t in call.operands] + [t for pair in self.copies for t in pair]
        return list(dict.fromkeys(t for t in used if t.place == place))


def model_of_functions(
    name: str, functions: Mapping[str, PlacedProgram], constants: Mapping[str, object]
) -> FirmwareModel:
    """The model that calls functions in order, each on arguments of its own, but those that are constants.

    constants: arrays, by the name of the parameter, or by `FUNCTION.PARAMETER`. Errors: BuildError for one that is not
    a parameter, or of another shape or type, or written.
    """
    is_one = len(functions) == 1
    params = [(f, p) for f, placed in functions.items() for p in placed.program.params]
    names = identifiers([p.name if is_one else f"{f}_{p.name}" for f, p in params], {name, f"{name}_run", *functions})
    left, weights = dict(constants), dict[str, Array]()
    arguments: list[FirmwareTensor] = []
    operands: dict[str, list[FirmwareTensor]] = {f: [] for f in functions}
    for (function, param), c_name in zip(params, names, strict=True):
        is_written = param in written_buffers(functions[function].program)
        key = next((k for k in (f"{function}.{param.name}", param.name) if k in constants), None)
        if key is None:
            tensor = FirmwareTensor(c_name, param.shape, param.dtype, "argument", 0, is_written)
            arguments.append(tensor)
        else:
            left.pop(key, None)
            tensor = FirmwareTensor(f"{name}_{c_name}", param.shape, param.dtype, "weight")
            weights[tensor.name] = _constant(key, constants[key], tensor, is_written)
        operands[function].append(tensor)
    if left:
        known = ", ".join(p.name if is_one else f"{f}.{p.name}" for f, p in params)
        raise BuildError(f"constants[{next(iter(left))!r}] is not a parameter; these are: {known}")
    return FirmwareModel(name, arguments, [FirmwareCall(f, tuple(t)) for f, t in operands.items()], weights)


def _constant(key: str, value: object, tensor: FirmwareTensor, is_written: bool) -> Array:
    array = np.asarray(value)
    if is_written:
        raise BuildError(f"constants[{key!r}]: the program writes this parameter, so that it is not a constant")
    if array.shape != tensor.shape or array.dtype != np.dtype(tensor.dtype):
        raise BuildError(
            f"constants[{key!r}] has shape {array.shape} and type {array.dtype}; the parameter has {tensor.shape} and "
            f"{tensor.dtype}"
        )
    return array
