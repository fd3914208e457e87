"""Imported modules in the cache, by the calls of torch that their forward makes.

torch.export takes a second and more; to record the calls takes a few hundredths of it."""

from __future__ import annotations

import base64
import contextlib
import inspect
import json
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch
from mlir import ir
from torch._dynamo.source import ConstantSource
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.importers.torch_export.constant_numbers import constant_numbers
from tir_mlir.graph.importers.torch_export.dynamic_sizes import Dimensions, DynamicShapes, SizeSpec, by_axis
from tir_mlir.graph.importers.torch_export.export_model import evaluation_mode
from tir_mlir.graph.importers.torch_export.module_state import preserve_state, replace_tensors
from tir_mlir.graph.importers.torch_export.torch_weights import array, first_names
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.progress import log
from tir_mlir.script.module import IRModule

_FACTS = frozenset(
    "shape size dim ndim ndimension dtype device numel nelement __len__ is_floating_point is_complex is_sparse "
    "is_quantized is_nested requires_grad".split()
)
"""Functions whose results may be no tensors: they are the same with and without data."""
_PLAIN = (bool, int, float, complex, str, type(None), type(Ellipsis))
_TORCH_VALUES = (torch.dtype, torch.device, torch.memory_format, torch.layout)
_META = torch.device("meta")
_CPU = torch.device("cpu")


class NotRecorded(Exception):
    """Why the calls of a module do not tell all that it computes."""


def recorded_calls(
    model: torch.nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object], dynamic_shapes: DynamicShapes = None
) -> str:
    """The signature, weights (without their values, those of single numbers aside), inputs, calls and outputs of a
    module, as text; of sizes that vary also what was asked of them. Raises NotRecorded, or what forward raises on
    tensors without data."""
    weights = named_tensors(model)
    sizes = SymbolicInputs(model, args, kwargs, dynamic_shapes)
    recorder = _Recorder(sizes.shapes)
    leaves, spec = tree_flatten((args, dict(kwargs)))
    with sizes.tracing:
        bare = {id(tensor): recorder.bare(tensor) for tensor in weights.values()}
        inputs = [recorder.bare(leaf) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
    lines = [_signature(model), repr(torch.get_default_dtype()), *_weight_lines(model, weights, recorder), str(spec)]
    lines += [_tensor_line(leaf, recorder) if isinstance(leaf, torch.Tensor) else _text(leaf) for leaf in leaves]
    bare_args, bare_kwargs = spec.unflatten(inputs)
    with replace_tensors(model, bare), preserve_state(model) as changed, _as_exported(), torch.device(_META):
        with sizes.tracing, recorder, constant_numbers(torch.nn.Module()):  # of literals, which the calls tell
            result = model(*bare_args, **bare_kwargs)
    if changed:
        raise NotRecorded(f"forward changes what a {changed[0]} holds")
    outputs, outer = tree_flatten(result)
    asked = [sizes.text, *sizes.conditions()]
    return "\n".join([*lines, *recorder.lines, str(outer), *map(recorder.text, outputs), *asked])


def named_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by all their names."""
    return {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers(remove_duplicate=False))}


class _Recorder(TorchFunctionMode):
    """Notes each call; numbers the tensors that it knows."""

    def __init__(self, shapes: Mapping[int, tuple[int | torch.SymInt, ...]]) -> None:
        """shapes: of tensors with sizes that vary, by their ids."""
        super().__init__()
        self._shapes = shapes
        self.lines: list[str] = []
        self._dtype = torch.get_default_dtype()
        self._numbers: dict[int, int] = {}
        self._bare: dict[int, torch.Tensor] = {}
        self._kept: list[torch.Tensor] = []  # an id belongs to its tensor as long as that lives

    def bare(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor without data, with the shape and type of another; the same for the same tensor."""
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) or tensor.layout != torch.strided:
            raise NotRecorded(f"a tensor of {type(tensor).__name__}")
        if tensor.device.type != "cpu" or tensor.is_conj() or tensor.is_neg():
            raise NotRecorded(f"a tensor of {tensor.device}")
        if id(tensor) not in self._bare:
            if (shape := self._shapes.get(id(tensor))) is not None:
                meta_tensor = torch.empty(shape, dtype=tensor.dtype, device=_META)
            else:
                meta_tensor = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=_META)
            self._bare[id(tensor)] = meta_tensor.requires_grad_(tensor.requires_grad)
            self._tensor_label(meta_tensor)
            self._kept.append(tensor)
        return self._bare[id(tensor)]

    def number(self, tensor: torch.Tensor) -> str:
        """The name of the bare tensor of one."""
        return self.text(self.bare(tensor))

    def text(self, value: object) -> str:
        """A value as text; tensors by number. Raises NotRecorded for tensors that no recorded call made."""
        return _text(value, self._numbers)

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        if torch.is_autocast_enabled("cpu") or torch.get_default_dtype() != self._dtype:
            raise NotRecorded("autocast, or another default type")
        name, kwargs = _name(func), dict(kwargs or {})
        call = f"{name} {self.text(list(args))} {self.text(kwargs)}"
        result = func(*tree_map(_move_to_meta, args), **tree_map(_move_to_meta, kwargs))
        if name.endswith("Tensor.device.__get__"):
            return _CPU
        self.lines.append(f"{self._results(name, result)} = {call}")
        return result

    def _results(self, name: str, result: object) -> str:
        leaves = result if isinstance(result, (tuple, list)) else [result]
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if len(tensors) == len(leaves):
            return " ".join(map(self._tensor_label, tensors))
        if result is not None and not _FACTS & set(name.split(".")):
            raise NotRecorded(f"{name} tells {type(result).__name__}")
        return ""

    def _tensor_label(self, tensor: torch.Tensor) -> str:
        if id(tensor) not in self._numbers:
            self._numbers[id(tensor)] = len(self._numbers)
            self._kept.append(tensor)
        return f"%{self._numbers[id(tensor)]}: {tensor.dtype}{list(tensor.shape)}"


def _text(value: object, numbers: Mapping[int, int] | None = None) -> str:
    kind = type(value)
    if isinstance(value, torch.Tensor):
        if numbers is None or id(value) not in numbers:
            raise NotRecorded("a tensor that no recorded call made")
        return f"%{numbers[id(value)]}"
    if isinstance(value, (torch.SymInt, torch.SymBool, torch.SymFloat)):
        return f"size {value.node.expr}"
    if kind in _PLAIN or isinstance(value, _TORCH_VALUES):
        return repr(value)
    if isinstance(value, (tuple, list)) and kind in (tuple, list, torch.Size):
        return f"{kind.__name__}({', '.join(_text(element, numbers) for element in value)})"
    if isinstance(value, dict) and kind is dict:
        return f"dict({', '.join(f'{_text(k, numbers)}: {_text(v, numbers)}' for k, v in value.items())})"
    if isinstance(value, slice):
        return f"slice({', '.join(_text(element, numbers) for element in (value.start, value.stop, value.step))})"
    raise NotRecorded(f"a value of {kind.__name__}")


def _name(func: object) -> str:
    """The full name of a function of torch. Raises NotRecorded for others, whose code may change."""
    if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        package = str(func).partition(".")[0]
        if package == "transformers":  # whose code is that of its version
            return f"{func} of {sys.modules[package].__version__}"
        if package != "aten":
            raise NotRecorded(f"the operator {func}")
        return str(func)
    if isinstance(func, types.MethodWrapperType):  # a property of Tensor
        descriptor = func.__self__
        name = (
            descriptor.fget.__name__
            if isinstance(descriptor, property) and descriptor.fget is not None
            else getattr(descriptor, "__name__", None)
        )
        if name is not None:
            return f"Tensor.{name}.{func.__name__}"
    if isinstance(func, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return f"{func.__objclass__.__name__}.{func.__name__}"
    if isinstance(func, types.BuiltinFunctionType):
        return f"{func.__module__ or type(func.__self__).__name__}.{func.__name__}"
    if isinstance(func, types.FunctionType) and func.__module__.split(".")[0] == "torch":
        return f"{func.__module__}.{func.__qualname__}"
    raise NotRecorded(f"a call of {func!r}")


def _move_to_meta(value: object) -> object:
    """Devices as those of tensors without data."""
    is_cpu = value.type == "cpu" if isinstance(value, torch.device) else type(value) is str and value == "cpu"
    return _META if is_cpu else value


def _signature(model: torch.nn.Module) -> str:
    parameters = inspect.signature(model.forward).parameters.values()
    return " ".join(f"{p.kind.name} {p.name}" for p in parameters)


def _weight_lines(model: torch.nn.Module, weights: Mapping[str, torch.Tensor], recorder: _Recorder) -> list[str]:
    """What an import depends on: names, types, which share memory, the values of single numbers and of rows of
    integers, such as zero points."""
    first = first_names({name: tensor.detach() for name, tensor in weights.items()})
    lines = [
        f"{name!r} as {first[name]!r} {_value(tensor)} {_tensor_line(tensor, recorder)}"
        for name, tensor in weights.items()
    ]
    return [*lines, repr(list(model.state_dict()))]


def _value(tensor: torch.Tensor) -> str:
    """The value that an import may read, in a line of its key."""
    if not tensor.dim():
        return repr(tensor.item())
    row = tensor.dim() == 1 and tensor.dtype in (torch.int32, torch.int64)
    return store.digest(str(tensor.tolist())) if row else ""


def _array(data: str, dtype: str, shape: list[int]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(data), dtype).reshape(shape).copy()


def _tensor_line(tensor: torch.Tensor, recorder: _Recorder) -> str:
    facts = (tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.requires_grad)
    return f"{recorder.number(tensor)}: {facts}"


@contextlib.contextmanager
def _as_exported() -> Iterator[None]:
    """What torch.export tells forward about itself."""
    state = torch.compiler
    flags = state._is_compiling_flag, state._is_exporting_flag
    state._is_compiling_flag = state._is_exporting_flag = True
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        state._is_compiling_flag, state._is_exporting_flag = flags


KIND = "imports"
_CONSTANTS = 1 << 20
"""The most bytes of constants in an entry."""


def load_or_import(key: str | None, model: torch.nn.Module, make: Callable[[], Graph]) -> Graph:
    """The graph of an earlier import of this key, or the one of `make()`, which is then kept; None: it is not kept."""
    graph = None if key is None else _load_graph(key, model)
    if graph is None:
        graph = make()
        if key is not None:
            _store_graph(key, graph, model)
    return graph


def import_key(
    model: torch.nn.Module,
    args: tuple[object, ...],
    kwargs: Mapping[str, object],
    dynamic_shapes: DynamicShapes,
    options: tuple[str, ...],
) -> str | None:
    """The name of an import in the cache; None without a cache, and where the calls do not tell all that forward
    computes. options: what else it depends on."""
    if not store.limit():
        return None
    try:
        with evaluation_mode(model):
            calls = recorded_calls(model, args, kwargs, dynamic_shapes)
    except Exception as error:  # NotRecorded, or the export fails as well and tells why
        log("DEBUG", "%s: its import is not cached: %s", type(model).__name__, error)
        return None
    version = f"{torch.__version__} {torch.version.git_version}"
    return store.digest(fingerprint.installation(), fingerprint.package(), version, calls, *options)


def _load_graph(key: str, model: torch.nn.Module) -> Graph | None:
    """The graph of an earlier import, with the weights of this module."""
    entry = store.load(KIND, key)
    if entry is None:
        return None
    head, _, text = entry.partition(b"\n")
    facts, tensors = json.loads(head), named_tensors(model)
    with enter_context():
        module = ir.Module.parse(text.decode())
        made = {name: _array(*fact) for name, fact in facts["constants"].items()}
        weights = {name: made[name] if name in made else array(tensors[name]) for name in facts["weights"]}
        return Graph(IRModule(module), weights, facts["name"])


def _store_graph(key: str, graph: Graph, model: torch.nn.Module) -> None:
    """Keep a graph whose weights are parameters and buffers of the module, and small constants, which follow from the
    calls."""
    own = named_tensors(model)
    constants = {name: value for name, value in graph.weights.items() if name not in own}
    if sum(value.nbytes for value in constants.values()) > _CONSTANTS:
        log("DEBUG", "%s: its import is not cached: constants of more than %d bytes", type(model).__name__, _CONSTANTS)
        return
    if not fingerprint.package_unchanged():
        return
    with enter_context():
        text = str(graph.module.mlir)
    facts = {name: (base64.b64encode(v.tobytes()).decode(), str(v.dtype), v.shape) for name, v in constants.items()}
    head = json.dumps({"name": graph.name, "weights": list(graph.weights), "constants": facts})
    store.save(KIND, key, f"{head}\n{text}".encode())


class SymbolicInputs:
    """shapes: of tensors with sizes that vary, by their ids, each such size a symbol of its own."""

    def __init__(
        self, model: torch.nn.Module, args: tuple[object, ...], kwargs: Mapping[str, object], spec: DynamicShapes
    ):
        self._env, self.text = ShapeEnv(), ""
        self.shapes: dict[int, tuple[int | torch.SymInt, ...]] = {}
        self.tracing: AbstractContextManager[object] = nullcontext()
        """What makes tensors without data that may have such sizes, while it is entered."""
        if spec is None:
            return
        mode = self.tracing = FakeTensorMode(shape_env=self._env)
        dimensions = Dimensions(model, args, kwargs, spec)
        self.text = str(dimensions.shapes) + _limits(dimensions.shapes)
        for number, (tensor, dims) in enumerate(dimensions.leaves()):
            axes = {axis for axis, dim in by_axis(dims).items() if dim is not None and not isinstance(dim, int)}
            if not isinstance(tensor, torch.Tensor) or not axes:
                continue
            if id(tensor) in self.shapes or not tensor.is_contiguous():
                raise ValueError("a tensor with sizes that vary is given twice, or has strides")
            kinds = [DimDynamic.DYNAMIC if axis in axes else DimDynamic.STATIC for axis in range(tensor.dim())]
            context = StatelessSymbolicContext(dynamic_sizes=kinds)
            source = ConstantSource(f"input_{number}")
            self.shapes[id(tensor)] = tuple(mode.from_tensor(tensor, source=source, symbolic_context=context).shape)

    def conditions(self) -> list[str]:
        """What was asked of the sizes, each with its answer."""
        return [str(guard.expr) for guard in self._env.guards]


def _limits(spec: SizeSpec) -> str:
    """The ranges of Dims, which their text may lack."""
    if isinstance(spec, Mapping):
        return "".join(_limits(value) for value in spec.values())
    if isinstance(spec, (tuple, list)):
        return "".join(_limits(value) for value in spec)
    return f" {getattr(spec, 'min', '')}..{getattr(spec, 'max', '')}"
