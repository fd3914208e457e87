"""The exported program of a model, in operators that are known."""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.fronts.torch_export.control_flow import is_control, subgraphs
from tir_mlir.graph.operators import OPERATORS, OperatorKind


def exported(model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic: Any) -> tuple[Any, dict[str, str]]:
    """The program of a module, or the one given, and the names of its size symbols: {"s77": "n"}."""
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        if dynamic is not None:
            raise GraphError(
                "from_torch: dynamic= with an ExportedProgram, whose sizes are fixed already\n"
                "  fix: pass dynamic_shapes to torch.export.export"
            )
        _check_dense({**model.state_dict, **model.constants})
        return model, {}
    if args is None and not kwargs:
        raise GraphError("from_torch: no example inputs\n  fix: from_torch(model, (torch.randn(1, 784),))")
    args = (args,) if isinstance(args, torch.Tensor) else tuple(args or ())
    _check_leaves(args, kwargs or {})
    _check_dense({**dict(model.named_parameters()), **dict(model.named_buffers())})
    named = _by_name(model, args, dict(kwargs or {}))
    dynamic_shapes = _dimensions(named, dynamic)
    from tir_mlir.graph.fronts.torch_export.module_state import kept
    from tir_mlir.graph.fronts.torch_export.recurrent_calls import kept_whole

    with evaluating(model), kept(model), kept_whole():
        program = _export(model, args, dict(kwargs or {}), dynamic_shapes)
    return program, _size_names(program, named, dynamic_shapes)


class evaluating:  # noqa: N801
    """The model in evaluation mode for a while."""

    def __init__(self, model: Any):
        self._training = [m for m in model.modules() if m.training]

    def __enter__(self) -> None:
        for module in self._training:
            module.training = False

    def __exit__(self, *_: object) -> None:
        for module in self._training:
            module.training = True


def _export(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dynamic_shapes: dict[str, Any] | None) -> Any:
    import torch

    try:
        with torch.no_grad():
            return torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes)
    except Exception as error:  # torch's errors have many classes
        raise export_refusal(error) from error


def _check_dense(tensors: Mapping[str, Any]) -> None:
    """Refuse sparse parameters, buffers and constants by name: torch's decompositions abort the process on them."""
    import torch

    for name, tensor in tensors.items():
        if isinstance(tensor, torch.Tensor) and tensor.layout is not torch.strided:
            kind = str(tensor.layout).removeprefix("torch.")
            raise GraphError(
                f"from_torch: {name} is a tensor of layout {kind}, and graphs have dense tensors only\n"
                f"  fix: store {name}.to_dense() in the model"
            )


def _check_leaves(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    from torch.utils._pytree import tree_leaves

    leaves = tree_leaves((args, dict(kwargs)))
    if any(isinstance(leaf, np.ndarray) for leaf in leaves):
        raise GraphError("from_torch: an example input is an array of NumPy\n  fix: torch.from_numpy(x)")
    _check_dense({f"example input {number}": leaf for number, leaf in enumerate(leaves)})


def _by_name(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of forward by name, in order; those of `*args` and `**kwargs` under the names of these."""
    try:
        return dict(inspect.signature(model.forward).bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise GraphError(f"from_torch: the example inputs do not fit forward: {error}") from error


def _dimensions(named: dict[str, Any], dynamic: Any) -> dict[str, Any] | None:
    """dynamic= as torch wants it: all arguments, with a torch Dim for each name."""
    if dynamic is None:
        return None
    if isinstance(dynamic, (tuple, list)):
        dynamic = dict(zip(named, dynamic, strict=False))
    unknown = [name for name in dynamic if name not in named]
    if unknown:
        raise GraphError(
            f"from_torch: dynamic names {short_repr(unknown[0])}, which forward is not called with\n"
            f"  fix: its arguments are {', '.join(named)}"
        )
    dims: dict[str, Any] = {}
    return {name: _with_dims(dynamic.get(name), dims) for name in named}


def _with_dims(spec: Any, dims: dict[str, Any]) -> Any:
    import torch

    if isinstance(spec, str):
        if not spec.isidentifier():
            raise GraphError(
                f"from_torch: dynamic size {spec!r} is no name\n"
                '  fix: use a name such as "n"; for a multiple of a size pass 2 * torch.export.Dim("n")'
            )
        return dims.setdefault(spec, torch.export.Dim(spec))
    if isinstance(spec, Mapping):
        return {key: _with_dims(value, dims) for key, value in spec.items()}
    if isinstance(spec, (tuple, list)):
        return type(spec)(_with_dims(value, dims) for value in spec)
    return spec


def _size_names(program: Any, named: dict[str, Any], dynamic_shapes: dict[str, Any] | None) -> dict[str, str]:
    """The names that the user gave the symbols of the program."""
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    values = [placeholders[name].meta["val"] for name in program.graph_signature.user_inputs if name in placeholders]
    names: dict[str, str] = {}
    specs = (pair for name, value in named.items() for pair in _leaves(value, (dynamic_shapes or {}).get(name)))
    for value, (_, spec) in zip(values, specs, strict=False):
        dims = dict(enumerate(spec)) if isinstance(spec, (tuple, list)) else spec
        for axis, dim in (dims or {}).items() if isinstance(dims, Mapping) else ():
            symbols = getattr(getattr(value.shape[axis], "node", None), "expr", None)
            root = getattr(dim, "root", dim)
            if symbols is not None and len(symbols.free_symbols) == 1 and hasattr(root, "__name__"):
                names.setdefault(str(next(iter(symbols.free_symbols))), root.__name__)
    return names


def _leaves(value: Any, spec: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of an argument with their parts of the specification, in torch's order."""
    import torch

    if isinstance(value, torch.Tensor) or not isinstance(value, (tuple, list, dict)):
        yield value, spec
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, spec.get(key) if isinstance(spec, Mapping) else None)
    else:
        specs = spec if isinstance(spec, (tuple, list)) else [None] * len(value)
        for item, part in zip(value, specs, strict=False):
            yield from _leaves(item, part)


_DATA = ("data-dependent", "DataDependent", "Dynamic control flow")


def export_refusal(error: BaseException) -> GraphError:
    """The GraphError for an exception of torch.export."""
    message = f"{type(error).__name__} {error}"
    source_line = _line_of_model(error)
    location = f"\n    {source_line}" if source_line else ""
    if any(word in message for word in _DATA):
        return GraphError(
            f"from_torch: the model needs a number or a decision that is known only when it runs{location}\n"
            "  fix: torch.where(condition, a, b) of both results; or decide in Python, between two models"
        )
    first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    made_a_number = "Constraints violated" in message
    fix = "\n  fix: leave the size out of dynamic, or remove what needs one number" if made_a_number else ""
    return GraphError(f"from_torch: torch.export.export refused the model: {first}{location}{fix}")


def _line_of_model(error: BaseException) -> str:
    """`model.py:12: if x.sum() > 0:`, the innermost line of the traceback that is of no library; "" without one."""
    libraries = [Path(str(sys.modules["torch"].__file__)).parent, Path(__file__).parents[3]]
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [f for f in frames if not f.filename.startswith("<frozen") and not _is_below(f.filename, libraries)]
    return (
        ""
        if not user_frames
        else f"{Path(user_frames[-1].filename).name}:{user_frames[-1].lineno}: {_code(user_frames[-1])}"
    )


def _is_below(file: str, folders: list[Path]) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders) or file.startswith("<eval_with_key>")


def _code(frame: traceback.FrameSummary) -> str:
    return (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()


def in_known_operators(program: Any, supported: Collection[str]) -> Any:
    """The program without writes through views and without operators that are not known but can be decomposed.

    add_(x[1:], y) -> slice_scatter; cdist -> sqrt(sum(..)). Operators that are known stay whole.
    """
    import torch

    wrapped = any(hasattr(tensor, "__tensor_flatten__") for tensor in program.state_dict.values())  # as torchao's
    if wrapped or not all(writes_are_simple(graph) for graph in subgraphs(program.graph_module)):
        program = _decomposed(program, {})
    table: dict[Any, Any] = {}
    while unknown := {op for op in operators(program) if operator_known(op, supported) is None} - {*table}:
        if not table:
            every = dict(torch.export.default_decompositions().items())
        decompositions = {op: every[op] for op in unknown if op in every}
        if not decompositions:
            break
        table |= decompositions
        program = _decomposed(program, table)
    return program


def _decomposed(program: Any, table: Mapping[Any, Any]) -> Any:
    """The program after torch's pass, which has no writes to views; it refuses those to windows that overlap."""
    try:
        return program.run_decompositions(dict(table))
    except Exception as error:  # torch's errors have many classes
        raise export_refusal(error) from error


def operators(program: Any) -> set[Any]:
    """The operators of torch.ops that a program calls."""
    nodes = [node for graph in subgraphs(program.graph_module) for node in graph.nodes]
    return {n.target for n in nodes if n.op == "call_function" and hasattr(n.target, "_schema")}


def operator_known(op: Any, supported: Collection[str]) -> str | None:
    """The name an operator is known by: its own, that of all overloads, or that of its form that does not write."""
    name = str(op)
    packet, _, overload = name.rpartition(".")
    forms = [name, packet]
    if packet.endswith("_") and not packet.endswith("__"):
        forms += [f"{packet[:-1]}.{overload}", packet[:-1]]
    return next((form for form in forms if form in supported), None)


# Their results share memory with no operand. Torch's schema does not say so of every operator (dropout, pad).
_FRESH = frozenset(
    "linear conv1d conv2d conv3d batch_norm layer_norm group_norm add sub mul div gelu hardtanh leaky_relu elu matmul "
    "mm bmm addmm cat stack max_pool2d avg_pool2d adaptive_avg_pool2d softmax conv_transpose2d embedding sum "
    "mean".split()
)


def _fresh_names() -> frozenset[str]:
    """The operators of torch whose result is memory of its own: those, and all that are elementwise."""
    rows = (row for row in OPERATORS.values() if row.kind is OperatorKind.ELEMENTWISE)
    return _FRESH.union(name.split(".")[0] for row in rows for name in row.torch.split())


def writes_are_simple(graph: Any) -> bool:
    """Whether every write is of an operator `x_` to a value that only operators with fresh results used before: then
    later uses of x are uses of the result, and nothing else sees the write."""
    order, fresh = {node: position for position, node in enumerate(graph.nodes)}, _fresh_names()
    return all(_simple(node, order, fresh) for node in graph.nodes if node.op == "call_function" and _writes(node))


def _writes(node: Any) -> bool:
    """Whether a node writes to an operand, or runs a graph of its own (a region without gradients, say)."""
    if is_control(node.target):
        return False
    schema = getattr(node.target, "_schema", None)
    return schema.is_mutable if schema is not None else node.target.__class__.__module__.startswith("torch")


def _simple(node: Any, order: dict[Any, int], fresh: Collection[str]) -> bool:
    if not _short(node.target)[1] or list(node.args).count(node.args[0]) != 1:
        return False
    operand = node.args[0]
    earlier_users = [user for user in operand.users if order[user] < order[node]]
    return all(n.op == "call_function" and _short(n.target)[0] in fresh for n in (operand, *earlier_users))


def _short(target: Any) -> tuple[str, bool]:
    """("relu", True) of aten.relu_.default: the name, and whether it is the form that writes."""
    parts = str(target).split(".")
    name = parts[1] if len(parts) == 3 and parts[0] == "aten" else ""
    return (name[:-1], True) if name.endswith("_") and not name.endswith("__") else (name, False)
