"""`tvm.relax.frontend.torch`: a graph from a `torch.fx` module, node by node, with functions of the user for each kind
of node, or from `torch.export`, parameters as constants or inputs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tir_mlir.compat.ndarray import NDArray, array
from tir_mlir.compat.relax.transforms import BindParams
from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import encoding, tensor_func
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.expressions import BlockBuilder, Expr, TensorStructInfo, Var, const
from tir_mlir.graph.importers.torch_export.from_torch import from_torch
from tir_mlir.script.module import IRModule
from tir_mlir.script.printer.graphs import WEIGHTS

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

_KEPT = "_kept_params"
FunctionKey = Callable[..., object] | str
"""What a node calls: a function, or the name of a method."""
Converter = Callable[..., Expr]
Key = TypeVar("Key")


def from_fx(
    fx_mod: torch.fx.GraphModule,
    input_shapes: Sequence[Sequence[int]],
    call_function_map: Mapping[FunctionKey, Converter] | None = None,
    call_module_map: Mapping[type[torch.nn.Module], Converter] | None = None,
    input_dtypes: Sequence[str] | None = None,
) -> IRModule:
    """A module whose `main` is the graph of `torch.fx.symbolic_trace(model)`.

    input_shapes: of the inputs in order. call_function_map: for a function such as `torch.matmul` a function
    `(bb, node_map, node) -> value`; call_module_map: for a module class such as `torch.nn.Linear`
    `(bb, node_map, node, module) -> value`. `node_map` has the values of earlier nodes. Weights become constants.
    Raises GraphError for a node that has no function, with its name.
    """
    return _FxImporter(fx_mod, call_function_map or {}, call_module_map or {}).run(input_shapes, input_dtypes)


class _FxImporter:
    def __init__(
        self,
        fx_mod: torch.fx.GraphModule,
        functions: Mapping[FunctionKey, Converter],
        modules: Mapping[type[torch.nn.Module], Converter],
    ):
        self.fx_mod, self.functions, self.modules = fx_mod, functions, modules
        self.named = dict(fx_mod.named_modules())
        self.bb = BlockBuilder()
        self.node_map: dict[torch.fx.Node, Expr] = {}

    def run(self, shapes: Sequence[Sequence[int]], dtypes: Sequence[str] | None) -> IRModule:
        inputs: list[Var] = []
        output = None
        with self.bb.function("main"):
            with self.bb.dataflow():
                for node in self.fx_mod.graph.nodes:
                    if node.op == "placeholder":
                        inputs.append(self._input(node, len(inputs), shapes, dtypes))
                        self.node_map[node] = inputs[-1]
                    elif node.op == "output":
                        output = self.bb.emit_output(self._value(node.args[0]))
                    else:
                        self.node_map[node] = self._node(node)
            self.bb.emit_func_output(output, inputs)
        if len(inputs) != len(shapes):
            raise GraphError(f"the model has {len(inputs)} inputs, and input_shapes {len(shapes)}")
        return self.bb.get()

    def _input(
        self, node: torch.fx.Node, number: int, shapes: Sequence[Sequence[int]], dtypes: Sequence[str] | None
    ) -> Var:
        if number >= len(shapes):
            raise GraphError(f"no shape for the input {node.target}; input_shapes has {len(shapes)}")
        return Var(str(node.target), TensorStructInfo(tuple(shapes[number]), dtypes[number] if dtypes else "float32"))

    def _value(self, argument: Any) -> Expr | Sequence[object]:
        if isinstance(argument, (tuple, list)):
            return type(argument)(self._value(g) for g in argument)
        return self.node_map[argument]

    def _node(self, node: torch.fx.Node) -> Expr:
        if node.op == "get_attr":
            value = operator.attrgetter(str(node.target))(self.fx_mod)
            return const(value.detach().cpu().numpy())
        if node.op == "call_module":
            module = self.named[str(node.target)]
            return self._find_converter(self.modules, type(module), "call_module_map", node)(
                self.bb, self.node_map, node, module
            )
        if node.op in ("call_function", "call_method"):
            return self._find_converter(self.functions, node.target, "call_function_map", node)(
                self.bb, self.node_map, node
            )
        raise GraphError(f"the node {node.name} is a {node.op}, which cannot be imported")

    @staticmethod
    def _find_converter(table: Mapping[Key, Converter], key: Key, word: str, node: torch.fx.Node) -> Converter:
        if key not in table:
            name = getattr(key, "__name__", str(key))
            line = getattr(node, "stack_trace", None) or ""  # of a tracer that records it
            source_line = f" ({line.strip().splitlines()[-1].strip()})" if line.strip() else ""
            raise GraphError(
                f"the node {node.name}{source_line} is {name}, which {word} does not have; fix: {word}={{{name}: ...}}"
            )
        return table[key]


def from_exported_program(
    exported_program: ExportedProgram,
    *,
    keep_params_as_input: bool = False,
    unwrap_unit_return_tuple: bool = False,
    no_bind_return_tuple: bool = False,
) -> IRModule:
    """A module whose `main` is the graph of an ExportedProgram.

    keep_params_as_input: parameters are inputs after the others, see `detach_params`, and not constants.
    unwrap_unit_return_tuple: one result is returned as it is; else in a tuple, as exported programs do.
    no_bind_return_tuple has no effect: a returned tuple has no name in a graph. Errors: GraphError of the importer.
    """
    graph = from_torch(exported_program)
    module = IRModule(graph.module.mlir).clone()
    if not unwrap_unit_return_tuple:
        with enter_context():
            func = tensor_func(module.mlir, graph.name)
            if not func.returns_tuple:
                attrs.put(func.op, encoding.UNIT_TUPLE, True)
    if not keep_params_as_input:
        names = _parameters(module)
        return BindParams("main", {p: graph.weights[w] for p, w in names.items()})(module)
    setattr(module, _KEPT, graph.weights)
    return module


def _parameters(module: IRModule) -> dict[str, str]:
    """The parameters of `main` that are weights, and which ones, in order."""
    with enter_context():
        func = module["main"]
    return dict(func.attrs.get(WEIGHTS, {}))


def detach_params(mod: IRModule) -> tuple[IRModule, dict[str, list[NDArray]]]:
    """The module, and the parameters that `from_exported_program(..., keep_params_as_input=True)` kept, in the order of
    the inputs. Raises GraphError for a module without them."""
    if not isinstance(mod, IRModule) or not hasattr(mod, _KEPT):
        raise GraphError(
            "detach_params takes what from_exported_program(..., keep_params_as_input=True) returned, not "
            f"{short_repr(mod)}"
        )
    weights = getattr(mod, _KEPT)
    return mod.clone(), {"main": [array(weights[w]) for w in _parameters(mod).values()]}
