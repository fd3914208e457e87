"""`from_torch`: a PyTorch model as a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.importers.aten import aten_complex, translations
from tir_mlir.graph.importers.aten.torch_emitter import PARTS, TorchEmitter, TorchSizes, dtype_name, is_float8
from tir_mlir.graph.importers.data_sizes import data_dependent_names, number_from_data
from tir_mlir.graph.importers.random_numbers import RandomState
from tir_mlir.graph.importers.refusals import Refusals
from tir_mlir.graph.importers.torch_export import dynamic_sizes, given_model
from tir_mlir.graph.importers.torch_export.control_flow import RegionRefused, control_flow
from tir_mlir.graph.importers.torch_export.export_model import (
    READS,
    clone_repeated_inputs,
    decompose_unknown_operators,
    enlarge_example_inputs,
    export_program,
    known_operator_name,
)
from tir_mlir.graph.importers.torch_export.export_refusals import source_line
from tir_mlir.graph.importers.torch_export.run_time_checks import RunTimeChecks, is_check, is_size
from tir_mlir.graph.importers.torch_export.size_guards import tied_sizes
from tir_mlir.graph.importers.torch_export.torch_weights import array, first_names
from tir_mlir.graph.operators import foreign_operators
from tir_mlir.graph.units.unit_queries import start_workers
from tir_mlir.runtime.progress import follow_build, stage

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.graph import Graph


def from_torch(
    model: Any,
    example_inputs: Any = None,
    example_kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    dynamic: Any = None,
    ops: Mapping[Any, Callable[..., Any]] | None = None,
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
    module = given_model.as_module(model, example_inputs, example_kwargs)
    given_model.warn_of_training(module)

    shapes = _single_option(dynamic_shapes, dynamic)
    example_inputs, example_kwargs = clone_repeated_inputs(example_inputs, example_kwargs)
    example_inputs, example_kwargs = enlarge_example_inputs(module, example_inputs, example_kwargs, shapes)

    def import_model() -> Graph:
        start_workers(given_model.number_of_operators(module))  # its build follows
        with stage("torch.export"):
            program, names, from_two = export_program(module, example_inputs, example_kwargs, shapes)
        with stage("decomposition"):
            decomposed = decompose_unknown_operators(program, {*translations(), *aten_complex.TABLE, *user_ops})
        with stage("translation"):
            return TorchImporter(GraphBuilder(name), decomposed, names, user_ops, mutated, from_two).graph()

    with follow_build("import of a model"), given_model.drop_caches(module):
        if not cache or user_ops or foreign_operators():
            graph = import_model()
        else:
            graph = cached_import.load_or_import(
                module, example_inputs, example_kwargs, (mutated, name), import_model, shapes
            )
    if shapes is not None:
        dynamic_sizes.warn_of_multiples(graph, module, example_inputs, example_kwargs, shapes)
    return graph


def _single_option(dynamic_shapes: Any, dynamic: Any) -> Any:
    if dynamic_shapes is not None and dynamic is not None:
        raise GraphError("from_torch: dynamic_shapes and dynamic, which are the same\n  fix: dynamic_shapes only")
    return dynamic_shapes if dynamic is None else dynamic


def operator_name(op: Any) -> str:
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


class TorchImporter:
    """One import: `graph()` is its result."""

    def __init__(
        self,
        builder: GraphBuilder,
        program: Any,
        size_names: Mapping[str, str],
        user_ops: Mapping[str, Callable[..., Any]],
        mutated: str,
        from_two: Collection[str] = (),
    ):
        """from_two: names of sizes that the user said to be at least 2."""
        self.from_two = from_two
        self.builder, self.program, self.given = builder, program, user_ops
        self.mutated = mutated
        self.sizes = TorchSizes(dict(size_names), tied_sizes(program))
        self.emitter = TorchEmitter(builder, self.sizes)
        self.emitter.random = self.random = RandomState(builder, mutated != "refuse")
        self.checks = RunTimeChecks(self)
        self.refusals, self.translations = Refusals(), translations()
        self.values: dict[Any, Any] = {}
        self.owner = program.graph_module  # of the graphs that nodes run

    def graph(self) -> Graph:
        """The Graph, or GraphError that tells all that is not known."""
        self._check_writes()
        self._inputs()
        self.translate(self.program.graph)
        self.refusals.check("from_torch", _FIX)
        self._ranges()
        self._outputs()
        return self.builder.finish()

    def translate(self, graph: Any) -> None:
        """Write the nodes of a graph: of the program, or one that a branch or a loop runs."""
        for node in graph.nodes:
            if node.op == "call_function":
                self.values[node] = self._translate_node(node)

    @staticmethod
    def is_refused(value: Any) -> bool:
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
        nodes = {n.name: n for n in self.program.graph.nodes if n.op == "placeholder"}
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

    def _weights(self, stored: Mapping[str, str], nodes: Mapping[str, Any]) -> None:
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

    def _input(self, node: Any, name: str) -> None:
        value = node.meta.get("val")
        if not hasattr(value, "shape"):
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
            self.values[node] = aten_complex.from_last_axis(self.emitter, tensor)
        else:
            self.values[node] = tensor = self.builder.input(name, self.sizes.shape(value), dtype)
        self.emitter.inputs.append(tensor)

    def _stored_tensor(self, target: str) -> torch.Tensor:
        tensor = self.program.state_dict.get(target)
        return self.program.constants[target] if tensor is None else tensor

    def _weight(self, target: str) -> Value:
        tensor = self._stored_tensor(target)
        if not tensor.dim():
            number = tensor.item()
            return self.emitter.constant(number, dtype_name(tensor.dtype))
        dtype = dtype_name(tensor.dtype)
        weight = self.builder.weight(target, array(tensor), PARTS.get(dtype, dtype))
        return aten_complex.from_last_axis(self.emitter, weight) if dtype in PARTS else weight

    def _outputs(self) -> None:
        node = next(n for n in self.program.graph.nodes if n.op == "output")
        kinds = [spec.kind.name for spec in self.program.graph_signature.output_specs]
        outputs = [
            (kind, value)
            for kind, value in zip(kinds, node.args[0], strict=True)
            if value is not None and kind not in ("TOKEN", "LOSS_OUTPUT")
        ]
        for _, value in outputs:
            if value not in self.values:
                raise GraphError(
                    f"from_torch: forward returns {value!r}, which is not a tensor\n  fix: return tensors only"
                )
        outputs.sort(key=lambda pair: pair[0] != "USER_OUTPUT")
        pairs = zip(kinds, node.args[0], strict=True)
        returned = [value for kind, value in pairs if kind == "USER_OUTPUT"]
        nones = [position for position, value in enumerate(returned) if value is None]
        state = self.random.next_state(self.emitter)
        drawn = [] if state is None else [state]
        results = [self._real(self.values[value]) for _, value in outputs]
        self.builder.output(*results, *drawn, checks=self.checks.values, nones=nones)
        if self.mutated == "in_place":
            self._donate([value for _, value in outputs])
            if self.random.value is not None:
                self.builder.donate(self.random.value, len(outputs))

    def _donate(self, outputs: Sequence[Any]) -> None:
        """Let the new value of what is written take the memory of the old one."""
        signature = self.program.graph_signature
        nodes = {n.name: n for n in self.program.graph.nodes if n.op == "placeholder"}
        placeholders = {target: name for name, target in signature.inputs_to_buffers.items()}
        written = {name: placeholders[target] for name, target in signature.buffers_to_mutate.items()}
        written |= signature.user_inputs_to_mutate
        numbers = {value.name: number for number, value in enumerate(outputs)}
        for result, name in written.items():
            self.builder.donate(self.values[nodes[name]], numbers[result])

    def _real(self, value: Value) -> Value:
        """A result as it is; of complex numbers their parts as a last axis, as torch.view_as_real."""
        return aten_complex.to_last_axis(self.emitter, value) if isinstance(value, aten_complex.Pair) else value

    # nodes

    def _translate_node(self, node: torch.fx.Node) -> Any:
        if is_size(node.meta.get("val")):
            if str(node.target) in READS and node.args[0] in self.values:
                self._read_number(node)
            return None  # every use of a size reads torch's expression of it
        if not hasattr(node.target, "_schema"):
            return self._translate_python(node)
        if is_check(node):
            return self.checks.add(node)
        op_name = known_operator_name(node.target, self.given) or known_operator_name(node.target, self.translations)
        if _rounds_to_float8(node):
            return self._refuse(node, "it rounds to float8, which only weights have\n  fix: bfloat16")
        if self._is_complex(node):
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
            return self._check_types(node, result)
        except TirError as error:
            return self._refuse(node, str(error))

    def _read_number(self, node: Any) -> None:
        """Remember the tensor of a number that `item` reads, by the name that torch gives it: u0, of a bool Eq(u0, 1).
        Where torch knows the number, as a check tells it, there is none."""
        value = node.meta["val"]
        symbols = getattr(getattr(value, "node", None), "expr", None)
        for symbol in () if symbols is None else symbols.free_symbols:
            self.emitter.numbers[self.sizes.names.get(str(symbol), str(symbol))] = self.values[node.args[0]]

    def _is_complex(self, node: torch.fx.Node) -> bool:
        """Whether a node makes complex numbers, or takes them."""
        return _complex_type(node) is not None or any(_complex_type(n) is not None for n in node.all_input_nodes)

    def _translate_complex(self, node: Any, op_name: str | None) -> Any:
        """The result for complex numbers, which are pairs of tensors."""
        name = known_operator_name(node.target, aten_complex.TABLE)
        both = op_name is not None and op_name.removeprefix("aten.") in aten_complex.BY_PARTS
        operands = [self.values.get(n) for n in node.all_input_nodes]
        if any(isinstance(o, _Refused) for o in operands):
            return _Refused()
        if name is None and not both:
            return self._refuse(node, f"it is not known of complex numbers{_NO_COMPLEX}")
        self.emitter.node = node
        try:
            if name is not None:
                function = aten_complex.TABLE[name]
                return function(self.emitter, **self._arguments(node, function))
            function = self.translations[str(op_name)]
            return aten_complex.by_parts(self.emitter, function, self._arguments(node, function))
        except TirError as error:
            return self._refuse(node, str(error))

    def _translate_python(self, node: torch.fx.Node) -> Any:
        """Nodes of Python's own: one of several results."""
        if getattr(node.target, "__name__", "") == "getitem":
            results = self.values[node.args[0]]
            return results if isinstance(results, _Refused) else results[node.args[1]]
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

    def _refuse(self, node: Any, reason: str) -> _Refused:
        self.refusals.add(str(node.target), node.name, source_line(node), reason)
        return _Refused()

    def _check_types(self, node: Any, result: Any) -> Any:
        """The result, if its types are those that torch says."""
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        for value, expected in zip(results, self.emitter.results, strict=False):
            if value is None or not hasattr(expected, "dtype"):
                continue
            shape, dtype = self.sizes.shape(expected), dtype_name(expected.dtype)
            fits = len(shape) == len(value.shape) and all(map(_may_be_equal, shape, value.shape))
            if value.dtype != dtype or not fits:
                raise GraphError(f"its result is {value.dtype}{list(value.shape)}, in torch {dtype}{list(shape)}")
        return result

    def _by_user(self, node: Any, function: Callable[..., Any]) -> Any:
        args = [self._value(a) for a in node.args]
        return self.builder.call_te(function, *args, **{k: self._value(v) for k, v in node.kwargs.items()})

    def _arguments(self, node: Any, function: Callable[..., Any]) -> dict[str, Any]:
        """The arguments of a node by the names of torch's schema, for a function that takes some of them."""
        parameters = inspect.signature(function).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        kwargs: dict[str, Any] = {}
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

    def _number(self, argument: Any, value: Any) -> Any:
        """An argument that is a number from data as a tensor; bounds of slices remain text. Errors: GraphError."""
        if isinstance(value, str) and str(argument.type) == "Tensor":
            return number_from_data(self.emitter, value, self.emitter.numbers)
        if not isinstance(value, (str, list)) or not (names := data_dependent_names(value, self.emitter.numbers)):
            return value
        if isinstance(value, str) and str(argument.type) == "number":
            return number_from_data(self.emitter, value, self.emitter.numbers)
        if isinstance(value, str) and str(argument.name) in ("start", "end", "length", "index"):
            return value
        raise GraphError(
            f"{argument.name}={value}, where {names[0]} is a number from data\n"
            f"  fix: make {argument.name} Python numbers, with one graph for each"
        )

    def _value(self, argument: Any) -> Any:
        """An argument: Values for nodes, sizes as numbers or text, types by name."""
        if isinstance(argument, (tuple, list)):
            return [self._value(g) for g in argument]
        if hasattr(argument, "all_input_nodes"):
            value = argument.meta.get("val")
            return self.sizes.size(value) if is_size(value) else self.values[argument]
        return (
            dtype_name(argument)
            if type(argument).__module__ == "torch" and type(argument).__name__ == "dtype"
            else argument
        )


def _complex_type(node: Any) -> str | None:
    """The complex type that a result of a node has, None if there is none."""
    value = node.meta.get("val")
    results = value if isinstance(value, (tuple, list)) else [value]
    types = [dtype_name(r.dtype) for r in results if hasattr(r, "dtype")]
    return next((t for t in types if t.startswith("complex")), None)


def _rounds_to_float8(node: torch.fx.Node) -> bool:
    """Whether the result of a node has a type of 8 bits that none of its operands has."""
    dtype = getattr(node.meta.get("val"), "dtype", None)
    return is_float8(dtype) and all(getattr(n.meta.get("val"), "dtype", None) != dtype for n in node.all_input_nodes)


def _is_random(node: Any) -> bool:
    return "nondeterministic_seeded" in {tag.name for tag in getattr(node.target, "tags", ())}


def _may_be_equal(a: int | str, b: int | str) -> bool:
    return a == b if isinstance(a, int) and isinstance(b, int) else True
