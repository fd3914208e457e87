"""`from_torch`: a PyTorch model as a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch._ops import OpOverload

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.graph.builder import GraphBuilder, Value
from tir_mlir.graph.importers.aten import translations
from tir_mlir.graph.importers.aten.aten_complex import BY_PARTS, Pair, by_parts, from_last_axis, to_last_axis
from tir_mlir.graph.importers.aten.aten_complex import TABLE as COMPLEX_TABLE
from tir_mlir.graph.importers.aten.torch_emitter import PARTS, TorchEmitter, TorchSizes, dtype_name, is_float8
from tir_mlir.graph.importers.data_sizes import data_dependent_names, number_from_data
from tir_mlir.graph.importers.random_numbers import RandomState
from tir_mlir.graph.importers.refusals import Refusals
from tir_mlir.graph.importers.torch_export.control_flow import RegionRefused, control_flow
from tir_mlir.graph.importers.torch_export.dynamic_sizes import (
    Dimensions,
    DynamicShapes,
    enlarged_examples,
    warn_of_multiples,
)
from tir_mlir.graph.importers.torch_export.export_model import (
    READS,
    decompose_unknown_operators,
    distinct_inputs,
    export_program,
    known_operator_name,
)
from tir_mlir.graph.importers.torch_export.export_refusals import source_line
from tir_mlir.graph.importers.torch_export.given_model import (
    TorchModel,
    as_module,
    drop_caches,
    number_of_operators,
    warn_of_training,
)
from tir_mlir.graph.importers.torch_export.run_time_checks import RunTimeChecks, is_check, is_size
from tir_mlir.graph.importers.torch_export.size_guards import tied_sizes
from tir_mlir.graph.importers.torch_export.torch_weights import array, first_names
from tir_mlir.graph.operators import foreign_operators
from tir_mlir.graph.units.unit_queries import start_workers
from tir_mlir.runtime.progress import follow_build, stage

if TYPE_CHECKING:
    import sympy
    from torch.export import ExportGraphSignature
    from torch.utils._sympy.value_ranges import ValueRanges

    from tir_mlir import te
    from tir_mlir.graph.graph import Graph
    from tir_mlir.graph.importers.aten.aten_table import Translated

UserOperator: TypeAlias = "Callable[..., te.Tensor] | Callable[..., Sequence[te.Tensor]]"
"""What a user says that an operator is: a function of te tensors and the rest of its arguments."""


def from_torch(
    model: TorchModel,
    example_inputs: torch.Tensor | Sequence[object] | None = None,
    example_kwargs: Mapping[str, object] | None = None,
    *,
    dynamic_shapes: DynamicShapes = None,
    dynamic: DynamicShapes = None,
    ops: Mapping[object, UserOperator] | None = None,
    mutated: str = "refuse",
    name: str = "main",
    cache: bool = True,
) -> Graph:
    """Translate a PyTorch model to a Graph: torch.nn.Module, example inputs -> Graph with the model's weights.

        graph = tir_mlir.from_torch(model, (torch.randn(1, 784),))
        graph = tir_mlir.from_torch(model, (x,), dynamic_shapes={"x": {0: "n"}})

    model: a module, exported by `torch.export.export` as for inference (`model.eval()`; a warning tells of layers that
    compute something else in training), a function of tensors (also one of torch in C), a method of a module, another
    object that can be called, or an ExportedProgram.
    example_inputs, example_kwargs: the arguments of `forward`; shapes and types count, values do not.
    dynamic_shapes: dimensions known only when the model runs, as of `torch.export.export`: for each argument, by name
    or in their order, {axis: Dim("n")}, Dim.AUTO, 8 * Dim("n"); a name in text is a Dim, and one that occurs twice is
    one size. Where forward needs it, a size becomes a multiple, another size, or a smaller range: calls check them.
    dynamic: the same, under its older name.
    ops: the meaning of operators, {torch.ops.aten.x.default: f}: f takes te tensors for the operands that are tensors,
    the rest as in torch, and returns a te tensor or several; it comes before what is known.
    mutated: what becomes of inputs and buffers that forward writes to: "refuse", or "return": they are inputs, named
    as in the state dict, after those of forward, and their new values are outputs after those of forward. "in_place":
    the same, and a model writes the new values where the inputs lie, so that it returns these.
    cache: take the graph of an earlier import whose forward made the same calls of torch, which are found by running it
    on tensors without data; not with `ops`, operators of your own in the table, or where the calls do not
    tell all that is computed.

    Inputs are those of forward that are tensors, outputs those it returns, both flattened in the order of
    torch.utils._pytree (tuples and lists by position, dictionaries by insertion). Parameters and buffers become weights
    named as in the state dict; their memory is shared with torch, and a tensor with two names is one weight.
    Raises GraphError that names all operators it does not know, each with the node and the line of the model.
    """
    from tir_mlir.graph.importers.torch_export import cached_import

    if mutated not in ("refuse", "return", "in_place"):
        raise GraphError(f'from_torch: mutated={mutated!r}\n  fix: use "refuse", "return" or "in_place"')
    user_ops = {operator_name(op): function for op, function in (ops or {}).items()}
    args = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs or ())
    kwargs = dict(example_kwargs or {})
    module = as_module(model, len(args), kwargs)
    warn_of_training(module)
    if dynamic_shapes is not None and dynamic is not None:
        raise GraphError("from_torch: dynamic_shapes and dynamic, which are the same\n  fix: dynamic_shapes only")
    shapes = dynamic_shapes if dynamic is None else dynamic
    args, kwargs = distinct_inputs(args, kwargs)
    if isinstance(module, torch.nn.Module):
        if example_inputs is None and not kwargs:
            raise GraphError("from_torch: no example inputs\n  fix: from_torch(model, (torch.randn(1, 784),))")
        if shapes is not None:
            args, kwargs = enlarged_examples(Dimensions(module, args, kwargs, shapes), args, kwargs)

    def import_model() -> Graph:
        start_workers(number_of_operators(module))  # its build follows
        with stage("torch.export"):
            program, names, from_two = export_program(module, args, kwargs, shapes)
        with stage("decomposition"):
            decomposed = decompose_unknown_operators(program, {*translations(), *COMPLEX_TABLE, *user_ops})
        with stage("translation"):
            return TorchImporter(GraphBuilder(name), decomposed, names, user_ops, mutated, from_two).graph()

    with follow_build("import of a model"), drop_caches(module):
        if not cache or user_ops or foreign_operators() or not isinstance(module, torch.nn.Module):
            graph = import_model()
        else:
            key = cached_import.import_key(module, args, kwargs, shapes, (mutated, name))
            graph = cached_import.load_or_import(key, module, import_model)
    if shapes is not None and isinstance(module, torch.nn.Module):
        warn_of_multiples(graph, Dimensions(module, args, kwargs, shapes))
    return graph


def operator_name(op: object) -> str:
    """`torch.ops.aten.add.Tensor`, or all its overloads `torch.ops.aten.add`, or its text, as `aten.add.Tensor`."""
    text = str(op)
    if isinstance(op, str) or callable(op):
        return text.removeprefix("torch.ops.")
    raise GraphError(
        f"from_torch: {text} as a key of ops\n  fix: use an operator of torch.ops: torch.ops.aten.x.default"
    )


_FIX = "from_torch(..., ops={{torch.ops.{op}: f}}), where f makes te tensors of te tensors"
# where the elements lie, and what is meant for a program that is run by torch
_IGNORED = frozenset(
    "layout device pin_memory memory_format non_blocking copy implicit cudnn_enabled cudnn_enable inplace momentum "
    "sparse scale_grad_by_freq padding_idx path sparse_grad".split()
)


_NO_COMPLEX = ", and graphs have no complex numbers\n  fix: compute with the real and the imaginary part, each a tensor"
_RANDOM = "it draws random numbers in a way that is not known\n  fix: pass them as an input"


class _Refused:
    """The value of a node that was refused, and of those that need it."""


Imported: TypeAlias = "Value | Pair | Sequence[Value | Pair | None] | _Refused | None"
"""What a node is in the graph: a tensor or several; None: nothing, as a check or a size."""


@dataclass(frozen=True)
class PartOfProgram:
    """What is read of an exported program, of a part of one."""

    graph_module: torch.fx.GraphModule
    graph_signature: ExportGraphSignature
    state_dict: Mapping[str, torch.Tensor]
    constants: Mapping[str, object]
    range_constraints: Mapping[sympy.Symbol, ValueRanges]


class TorchImporter:
    """One import: `graph()` is its result."""

    def __init__(
        self,
        builder: GraphBuilder,
        program: torch.export.ExportedProgram | PartOfProgram,
        size_names: Mapping[str, str],
        user_ops: Mapping[str, UserOperator],
        mutated: str,
        from_two: Collection[str] = (),
    ):
        """from_two: names of sizes that the user said to be at least 2."""
        self.from_two = from_two
        self.builder, self.program, self.given = builder, program, user_ops
        self.mutated = mutated
        self.sizes = TorchSizes(dict(size_names), tied_sizes(program.graph_module.graph))
        self.emitter = TorchEmitter(builder, self.sizes)
        self.emitter.random = self.random = RandomState(builder, mutated != "refuse")
        self.checks = RunTimeChecks(self)
        self.refusals, self.translations = Refusals(), translations()
        self.values: dict[torch.fx.Node, Imported] = {}
        self.owner = program.graph_module  # of the graphs that nodes run

    def graph(self) -> Graph:
        """The Graph, or GraphError that tells all that is not known."""
        self._check_writes()
        self._inputs()
        self.translate(self.program.graph_module.graph)
        self.refusals.check("from_torch", _FIX)
        self._ranges()
        self._outputs()
        return self.builder.finish()

    def translate(self, graph: torch.fx.Graph) -> None:
        """Write the nodes of a graph: of the program, or one that a branch or a loop runs."""
        for node in graph.nodes:
            if node.op == "call_function":
                self.values[node] = self._translate_node(node)

    @staticmethod
    def is_refused(value: Imported) -> bool:
        """Whether a value is that of a node that was refused, or of one that needs it."""
        return isinstance(value, _Refused)

    # inputs and outputs

    def _check_writes(self) -> None:
        signature = self.program.graph_signature
        written = [*signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values()]
        if written and self.mutated == "refuse":
            raise GraphError(
                f"from_torch: forward writes to {', '.join(written)}, and a graph has no state\n"
                '  fix: pass it as an input and return its new value, or mutated="return" or "in_place", which do so'
            )

    def _inputs(self) -> None:
        signature = self.program.graph_signature
        nodes = {n.name: n for n in self.program.graph_module.graph.nodes if n.op == "placeholder"}
        stored = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
        stored |= signature.inputs_to_lifted_tensor_constants
        written = set(signature.buffers_to_mutate.values())
        for name in signature.user_inputs:
            if isinstance(name, str) and name in nodes:
                self._input(nodes[name], name)
        for name, target in stored.items():
            if target in written:
                self._input(nodes[name], target)
        self._weights({name: target for name, target in stored.items() if target not in written}, nodes)

    def _weights(self, stored: Mapping[str, str], nodes: Mapping[str, torch.fx.Node]) -> None:
        """The weights that are used, in the order of the state dict, then constants; tied ones once."""
        order = {target: position for position, target in enumerate(self.program.state_dict)}
        targets = sorted(stored.values(), key=lambda target: order.get(target, len(order)))
        first = first_names({target: self._stored_tensor(target) for target in targets})
        live = {first[target] for name, target in stored.items() if nodes[name].users}
        weights = {target: self._weight(target) for target in targets if target in live}
        for name, target in stored.items():
            self.values[nodes[name]] = weights.get(first[target])

    def _ranges(self) -> None:
        """The sizes that the program was exported for, where these are not all."""
        for symbol, values in self.program.range_constraints.items():
            least, greatest = (int(v) if v.is_Integer else None for v in (values.lower, values.upper))
            if symbol in self.sizes.equal:
                continue
            named = self.sizes.names.get(str(symbol))
            if least == 2 and named not in self.from_two:  # what torch takes for the least of any size
                least = 0
            if symbol.is_Symbol and (max(least or 0, 1) > 1 or greatest is not None):
                name = str(named or symbol)
                self.builder.size_range(name, least or 0, greatest)

    def _input(self, node: torch.fx.Node, name: str) -> None:
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            if value is not None and hasattr(value, "node"):
                raise GraphError(f"from_torch: input {name} is a number that changes\n  fix: pass a tensor")
            return
        dtype = dtype_name(value.dtype)
        if is_float8(value.dtype):
            raise GraphError(
                f"from_torch: the input {name} is {value.dtype}\n  fix: pass it as bfloat16, which is exact"
            )
        if dtype in PARTS:  # both parts are its last axis
            tensor = self.builder.input(name, (*self.sizes.shape(value), 2), PARTS[dtype])
            self.values[node] = from_last_axis(self.emitter, tensor)
        else:
            self.values[node] = tensor = self.builder.input(name, self.sizes.shape(value), dtype)
        self.emitter.inputs.append(tensor)

    def _stored_tensor(self, target: str) -> torch.Tensor:
        tensor = self.program.state_dict.get(target, self.program.constants.get(target))
        assert isinstance(tensor, torch.Tensor), target
        return tensor

    def _weight(self, target: str) -> Value | Pair:
        tensor = self._stored_tensor(target)
        if not tensor.dim():
            number = tensor.item()
            return self.emitter.constant(number, dtype_name(tensor.dtype))
        dtype = dtype_name(tensor.dtype)
        weight = self.builder.weight(target, array(tensor), PARTS.get(dtype, dtype))
        return from_last_axis(self.emitter, weight) if dtype in PARTS else weight

    def _outputs(self) -> None:
        node = next(n for n in self.program.graph_module.graph.nodes if n.op == "output")
        kinds = [spec.kind.name for spec in self.program.graph_signature.output_specs]
        assert isinstance(node.args[0], (tuple, list))
        pairs = list(zip(kinds, node.args[0], strict=True))
        pairs.sort(key=lambda pair: pair[0] != "USER_OUTPUT")
        outputs: list[torch.fx.Node] = []
        for kind, value in pairs:
            if value is None or kind in ("TOKEN", "LOSS_OUTPUT"):
                continue
            if not isinstance(value, torch.fx.Node) or value not in self.values:
                raise GraphError(
                    f"from_torch: forward returns {value!r}, which is not a tensor\n  fix: return tensors only"
                )
            outputs.append(value)
        returned = [value for kind, value in pairs if kind == "USER_OUTPUT"]
        nones = [position for position, value in enumerate(returned) if value is None]
        state = self.random.next_state(self.emitter)
        drawn = [] if state is None else [state]
        results = [self._real(value) for value in outputs]
        self.builder.output(*results, *drawn, checks=self.checks.values, nones=nones)
        if self.mutated == "in_place":
            self._donate(outputs)
            if self.random.value is not None:
                self.builder.donate(self.random.value, len(outputs))

    def _donate(self, outputs: Sequence[torch.fx.Node]) -> None:
        """Let the new value of what is written take the memory of the old one."""
        signature = self.program.graph_signature
        nodes = {n.name: n for n in self.program.graph_module.graph.nodes if n.op == "placeholder"}
        placeholders = {target: name for name, target in signature.inputs_to_buffers.items()}
        written = {name: placeholders[target] for name, target in signature.buffers_to_mutate.items()}
        written |= signature.user_inputs_to_mutate
        numbers = {value.name: number for number, value in enumerate(outputs)}
        for result, name in written.items():
            self.builder.donate(self.tensor(nodes[name]), numbers[result])

    def _real(self, node: torch.fx.Node) -> Value:
        """A result as it is; of complex numbers their parts as a last axis, as torch.view_as_real."""
        value = self.values[node]
        return to_last_axis(self.emitter, value) if isinstance(value, Pair) else self.tensor(node)

    def tensor(self, node: object) -> Value:
        """The one tensor of real numbers that a node is. Errors: GraphError."""
        value = self.values.get(node) if isinstance(node, torch.fx.Node) else None
        if not isinstance(value, Value):
            raise GraphError(f"from_torch: {node} is not a tensor of real numbers\n  fix: pass tensors only")
        return value

    # nodes

    def _translate_node(self, node: torch.fx.Node) -> Imported:
        if is_size(node.meta.get("val")):
            if str(node.target) in READS and node.all_input_nodes[0] in self.values:
                self._read_number(node)
            return None  # every use of a size reads torch's expression of it
        if not isinstance(node.target, OpOverload):
            return self._translate_python(node)
        if is_check(node):
            return self.checks.add(node)
        op_name = known_operator_name(node.target, self.given) or known_operator_name(node.target, self.translations)
        if _rounds_to_float8(node):
            return self._refuse(node, "it rounds to float8, which only weights have\n  fix: bfloat16")
        if any(_complex_type(n) is not None for n in (node, *node.all_input_nodes)):
            return self._translate_complex(node, op_name)
        if op_name is None:
            return self._refuse(node, _RANDOM if _is_random(node) else "it is not known")
        operands = [self.values.get(n) for n in node.all_input_nodes]
        if any(isinstance(o, _Refused) for o in operands):
            return _Refused()
        self.emitter.node = node
        try:
            if op_name in self.given:
                result = self._by_user(node, self.given[op_name])
            else:
                function = self.translations[op_name]
                result = function(self.emitter, **self._arguments(node, function))
            return self._check_types(result)
        except TirError as error:
            return self._refuse(node, str(error))

    def _read_number(self, node: torch.fx.Node) -> None:
        """Remember the tensor of a number that `item` reads, by the name that torch gives it: u0, of a bool Eq(u0, 1).
        Where torch knows the number, as a check tells it, there is none."""
        value = node.meta["val"]
        symbols = getattr(getattr(value, "node", None), "expr", None)
        for symbol in () if symbols is None else symbols.free_symbols:
            self.emitter.numbers[self.sizes.names.get(str(symbol), str(symbol))] = self.tensor(node.args[0])

    def _translate_complex(self, node: torch.fx.Node, op_name: str | None) -> Imported:
        """The result for complex numbers, which are pairs of tensors."""
        name = known_operator_name(node.target, COMPLEX_TABLE)
        both = op_name is not None and op_name.removeprefix("aten.") in BY_PARTS
        operands = [self.values.get(n) for n in node.all_input_nodes]
        if any(isinstance(o, _Refused) for o in operands):
            return _Refused()
        if name is None and not both:
            return self._refuse(node, f"it is not known of complex numbers{_NO_COMPLEX}")
        self.emitter.node = node
        try:
            if name is not None:
                function = COMPLEX_TABLE[name]
                return function(self.emitter, **self._arguments(node, function))
            function = self.translations[str(op_name)]
            return by_parts(self.emitter, function, self._arguments(node, function))
        except TirError as error:
            return self._refuse(node, str(error))

    def _translate_python(self, node: torch.fx.Node) -> Imported:
        """Nodes of Python's own: one of several results."""
        if getattr(node.target, "__name__", "") == "getitem":
            results, number = self.values[node.all_input_nodes[0]], node.args[1]
            return results[number] if isinstance(results, Sequence) and isinstance(number, int) else results
        if any(isinstance(self.values.get(n), _Refused) for n in node.all_input_nodes):
            return _Refused()
        try:
            results = control_flow(self, node)
        except RegionRefused:
            return _Refused()
        except TirError as error:
            return self._refuse(node, str(error))
        if results is not None:
            return results
        return self._refuse(node, "it is not known, and no operator of torch.ops\n  fix: leave it out")

    def _refuse(self, node: torch.fx.Node, reason: str) -> _Refused:
        self.refusals.add(str(node.target), node.name, source_line(node), reason)
        return _Refused()

    def _check_types(self, result: Translated) -> Translated:
        """The result, if its types are those that torch says."""
        results = [result] if result is None or isinstance(result, Value) else result
        for value, expected in zip(results, self.emitter.results, strict=False):
            if value is None or not hasattr(expected, "dtype"):
                continue
            shape, dtype = self.sizes.shape(expected), dtype_name(expected.dtype)
            fits = len(shape) == len(value.shape) and all(map(_may_be_equal, shape, value.shape))
            if value.dtype != dtype or not fits:
                raise GraphError(f"its result is {value.dtype}{list(value.shape)}, in torch {dtype}{list(shape)}")
        return result

    def _by_user(self, node: torch.fx.Node, function: UserOperator) -> Translated:
        named: dict[str, Any] = {k: self._value(v) for k, v in node.kwargs.items()}  # of the types of the parameters
        return self.builder.call_te(function, *map(self._value, node.args), **named)

    def _arguments(self, node: torch.fx.Node, function: Callable[..., object]) -> dict[str, Any]:
        """The arguments of a node by the names of torch's schema, for a function that takes some of them."""
        parameters = inspect.signature(function).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        kwargs: dict[str, Any] = {}  # of the types of the parameters
        assert isinstance(node.target, OpOverload)
        for position, argument in enumerate(node.target._schema.arguments):
            name = "x" if argument.name in ("self", "input") else str(argument.name)
            operand = (
                node.args[position]
                if position < len(node.args)
                else node.kwargs.get(argument.name, argument.default_value)
            )
            if name in parameters or isinstance(operand, (list, tuple)):
                value = self._number(argument, self._value(operand))
            if name in parameters:
                kwargs[name] = value
            elif not takes_all and name not in _IGNORED and operand != argument.default_value:
                raise GraphError(f"{argument.name}={operand} is not supported")
        return kwargs

    def _number(self, argument: torch._C.Argument, value: object) -> object:
        """An argument that is a size, or a number from data, as a tensor; bounds of slices and ranges remain text.
        Errors: GraphError."""
        names = data_dependent_names(value, self.emitter.numbers)
        if isinstance(value, str) and str(argument.type) in ("Tensor", "number", "Optional[number]"):
            is_bound = not names and str(argument.name) in ("start", "end", "step")
            return value if is_bound else number_from_data(self.emitter, value, self.emitter.numbers)
        if not names:
            return value
        if isinstance(value, str) and str(argument.name) in ("start", "end", "length", "index"):
            return value
        raise GraphError(
            f"{argument.name}={value}, where {names[0]} is a number from data\n"
            f"  fix: make {argument.name} Python numbers, with one graph for each"
        )

    def _value(self, argument: object) -> object:
        """An argument: Values for nodes, sizes as numbers or text, types by name."""
        if isinstance(argument, (tuple, list)):
            return [self._value(g) for g in argument]
        if isinstance(argument, torch.fx.Node):
            value = argument.meta.get("val")
            return self.sizes.size(value) if is_size(value) else self.values[argument]
        return dtype_name(argument) if isinstance(argument, torch.dtype) else argument


def _complex_type(node: torch.fx.Node) -> str | None:
    """The complex type that a result of a node has, None if there is none."""
    value = node.meta.get("val")
    results = value if isinstance(value, (tuple, list)) else [value]
    types = [dtype_name(r.dtype) for r in results if isinstance(r, torch.Tensor)]
    return next((t for t in types if t.startswith("complex")), None)


def _rounds_to_float8(node: torch.fx.Node) -> bool:
    """Whether the result of a node has a type of 8 bits that none of its operands has."""
    dtype = getattr(node.meta.get("val"), "dtype", None)
    return is_float8(dtype) and all(getattr(n.meta.get("val"), "dtype", None) != dtype for n in node.all_input_nodes)


def _is_random(node: torch.fx.Node) -> bool:
    return "nondeterministic_seeded" in {tag.name for tag in getattr(node.target, "tags", ())}


def _may_be_equal(a: int | str, b: int | str) -> bool:
    return a == b if isinstance(a, int) and isinstance(b, int) else True
