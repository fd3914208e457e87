"""The interface `onnx.backend` of ONNX: its suites, and programs written for it, run models by tir_mlir.

    from tir_mlir import onnx_backend
    outputs = onnx_backend.run_model(onnx.load("model.onnx"), [x])

Needs the package onnx: pip install "tir-mlir[onnx]".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from onnx import ModelProto, NodeProto, TypeProto, defs, helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import ArgumentError, GraphError, short_repr
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.importers.onnx_model.from_onnx import InputValuesNeeded, OnnxImporter
from tir_mlir.graph.importers.onnx_model.read_model import read_model
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import STORAGE_TYPES

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tir_mlir.graph.importers.onnx_model.from_onnx import InputShape
    from tir_mlir.graph.model import Model

__all__ = ["TirBackend", "TirModel", "is_compatible", "prepare", "run_model", "run_node", "supports_device"]

Array = np.ndarray | list[np.ndarray]
"""A tensor, or a sequence of them."""
Input: TypeAlias = Any
"""What NumPy makes an array of, or a list or tuple of such."""
Inputs: TypeAlias = "Sequence[Input] | Mapping[str, Input] | np.ndarray"
_Built: TypeAlias = "tuple[Model, list[int | None], list[str]]"
"""A model; the length of each output that is a sequence; the inputs whose values it is built for."""
ROUNDS = 8
"""How often inputs are made constants, until no more are needed."""


class TirModel(BackendRep):
    """A model that is ready to run: `run(inputs)`.

    It is built once for all inputs where that is possible. Where shapes depend on values of inputs (the shape of a
    Reshape, say), or have to be known, it is built for the values of these inputs, and for the shapes, that `run` gets;
    once for each.
    """

    def __init__(self, proto: ModelProto, **options: Any):
        self.proto, self.options = proto, options
        weights = {x.name for x in proto.graph.initializer}
        self.inputs = [x for x in proto.graph.input if x.name not in weights]
        self.built: dict[str, _Built] = {}
        self.needed: list[str] | None = None  # the inputs whose values have to be known; None: not found out yet
        try:
            self.general: _Built | None = (*self._build({}, {}), [])
        except GraphError as error:
            if not self._may_be_specialized(error):
                raise
            self.general = None

    def _may_be_specialized(self, error: GraphError) -> bool:
        """Whether values or shapes, which come with a call, can overcome a refusal."""
        if isinstance(error, InputValuesNeeded):
            return True
        tensors = [x.type.tensor_type for x in self.inputs]
        return not all(t.HasField("shape") and all(d.HasField("dim_value") for d in t.shape.dim) for t in tensors)

    def _build(self, shapes: Mapping[str, InputShape], values: Mapping[str, Array]) -> tuple[Model, list[int | None]]:
        importer = OnnxImporter(GraphBuilder("main"), self.proto, {}, shapes, values)
        graph = importer.graph()
        return build(graph, **self.options), importer.lengths

    def run(self, inputs: Inputs, **kwargs: object) -> tuple[Array, ...]:
        """The outputs, named as in the model. inputs: arrays in order, or by name. Errors: GraphError for a model that
        cannot be translated, ArgumentError for inputs that are not those of the model."""
        arrays = self._by_name(inputs)
        model, lengths, fixed = self.general or self._specialize_model(arrays)
        args = [a for name, x in arrays.items() if name not in fixed for a in (x if isinstance(x, list) else [x])]
        results = model(*args)
        flat = iter(results if isinstance(results, tuple) else (results,))
        values = []
        for info, length in zip(self.proto.graph.output, lengths, strict=True):
            kind = info.type if length is None else info.type.sequence_type.elem_type
            parts = [_as_declared(next(flat), kind) for _ in range(1 if length is None else length)]
            values.append(parts[0] if length is None else parts)
        return namedtupledict("Outputs", [info.name for info in self.proto.graph.output])(*values)

    def _by_name(self, inputs: Inputs) -> dict[str, Array]:
        names = [x.name for x in self.inputs]
        if isinstance(inputs, Mapping):
            if set(inputs) != set(names):
                raise ArgumentError(f"inputs {sorted(inputs)} of a model that takes {names}")
            inputs = [inputs[name] for name in names]
        elif isinstance(inputs, np.ndarray) or not isinstance(inputs, (list, tuple)):
            inputs = [inputs]
        if len(inputs) != len(names):
            raise ArgumentError(f"{len(inputs)} inputs of a model that takes {len(names)}: {', '.join(names)}")
        if absent := [name for name, x in zip(names, inputs, strict=True) if x is None]:
            raise ArgumentError(f"the input {absent[0]} is {short_repr(None)}\n  fix: an array, or a list of them")
        return {name: _plain(x) for name, x in zip(names, inputs, strict=True)}

    def _specialize_model(self, given: Mapping[str, Array]) -> _Built:
        """The model for the shapes of these inputs, and the values of those whose values have to be known."""
        shapes = {n: [a.shape for a in x] if isinstance(x, list) else x.shape for n, x in given.items()}
        needed = self.needed or []
        for _ in range(ROUNDS):
            values = {name: given[name] for name in needed}
            key = repr((shapes, sorted((n, _bytes(x)) for n, x in values.items())))
            if key in self.built:
                return self.built[key]
            try:
                built = self._build({n: s for n, s in shapes.items() if n not in values}, values)
            except InputValuesNeeded as error:
                if set(error.names) <= set(needed):
                    raise
                needed = sorted({*needed, *error.names})
                continue
            self.needed, self.built[key] = needed, (*built, needed)
            return self.built[key]
        raise GraphError(f"the model needs the values of more and more inputs: {', '.join(needed)}")


def _bytes(x: Array) -> object:
    return [_bytes(a) for a in x] if isinstance(x, list) else (x.dtype.name, x.shape, x.tobytes())


def _plain(x: Input) -> Array:
    """An input as models take it: bfloat16 as its bits, numbers of few bits in a wider type; a sequence as a list."""
    return [_as_stored_type(a) for a in x] if isinstance(x, (list, tuple)) else _as_stored_type(x)


def _as_stored_type(x: ArrayLike) -> np.ndarray:
    array = np.asarray(x)
    if array.dtype.name == "bfloat16":
        return array.view("uint16")
    return array.astype(STORAGE_TYPES.get(array.dtype.name, array.dtype))


def _as_declared(array: np.ndarray, kind: TypeProto) -> np.ndarray:
    """An output in the type that the model declares, for those that NumPy has by ml_dtypes only."""
    elem_type = kind.tensor_type.elem_type
    if not elem_type:
        return array
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    if dtype.name == "bfloat16" and array.dtype == np.uint16:
        return array.view(dtype)
    return array.astype(dtype) if dtype.name in STORAGE_TYPES else array


class TirBackend(Backend):
    """The backend, as `onnx.backend.test.BackendTest(TirBackend, __name__)` takes it. It runs on the CPU."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: object) -> bool:
        """Whether a model is translated, also where that takes values of its inputs."""
        proto = read_model(model)
        try:
            OnnxImporter(GraphBuilder("main"), proto, {}, {}, {}).graph()
        except InputValuesNeeded:
            return cls.supports_device(device)
        except GraphError:
            return False
        return cls.supports_device(device)

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> TirModel:
        """A model ready to run. kwargs: those of `tir_mlir.build`. Errors: GraphError."""
        if not cls.supports_device(device):
            raise GraphError(f"the device {device} is not supported\n  fix: CPU")
        options = {name: x for name, x in kwargs.items() if name in ("threads", "optimize", "cache")}
        return TirModel(read_model(model), **options)

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Inputs, device: str = "CPU", **kwargs: Any) -> tuple[Array, ...]:
        """The outputs of a model."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: NodeProto,
        inputs: Sequence[Input] | np.ndarray,
        device: str = "CPU",
        outputs_info: object = None,
        **kwargs: Any,
    ) -> tuple[Array, ...]:
        """The outputs of a node on its inputs. opset_version: of its operators, default the newest."""
        values: Sequence[Input] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        named = dict(zip((name for name in node.input if name), values, strict=True))
        infos = [helper.make_value_info(name, _type_of(x)) for name, x in named.items()]
        results = [helper.make_value_info(name, TypeProto()) for name in node.output if name]
        version = kwargs.pop("opset_version", defs.onnx_opset_version())
        imports = [helper.make_opsetid("", version)]
        imports += [helper.make_opsetid(node.domain, 1)] if node.domain not in ("", "ai.onnx") else []
        proto = helper.make_model(helper.make_graph([node], "node", infos, results), opset_imports=imports)
        return cls.run_model(proto, list(named.values()), device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models run on a device: "CPU", also with a number behind it."""
        return device.partition(":")[0] == "CPU"


def _type_of(x: Input) -> TypeProto:
    if isinstance(x, (list, tuple)):
        return helper.make_sequence_type_proto(_type_of(x[0]) if x else TypeProto())
    array = np.asarray(x)
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


is_compatible = TirBackend.is_compatible
prepare = TirBackend.prepare
run_model = TirBackend.run_model
run_node = TirBackend.run_node
supports_device = TirBackend.supports_device
