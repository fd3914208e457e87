"""The nodes of a model of ONNX as nodes of a graph: known ones folded, known operators translated, others by bodies."""

from __future__ import annotations

import inspect
import keyword
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.graph.builder import Value
from tir_mlir.graph.importers.onnx_model.function_bodies import OperatorBody, body_of_function, body_of_schema
from tir_mlir.graph.importers.onnx_model.model_checks import (
    check_node,
    function_key,
    node_name,
    result_name,
    used_names,
)
from tir_mlir.graph.importers.onnx_operators import translations
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import (
    NeedsValue,
    OnnxEmitter,
    Result,
    Results,
    TensorSequence,
    Translation,
)
from tir_mlir.graph.importers.onnx_operators.onnx_sizes import sizes_result
from tir_mlir.graph.importers.onnx_operators.onnx_tensors import (
    GREATEST_BYTES,
    GREATEST_CONSTANT,
    MOST_BYTES,
    array_of,
    bytes_of,
)
from tir_mlir.graph.importers.refusals import Refusals

if TYPE_CHECKING:
    import onnx
    from numpy.typing import ArrayLike

    from tir_mlir.graph.builder import GraphBuilder

MAX_FOLDED_ELEMENTS = 1 << 16
"""Elements of the operands of a node that is computed at import without need; what is larger waits for the weights."""

GROWING = frozenset(
    "BlackmanWindow CenterCropPad Col2Im ConstantOfShape DFT Expand EyeLike HammingWindow HannWindow MelWeightMatrix "
    "OneHot Pad Range Resize STFT Tile Upsample".split()
)
"""Operators whose results can be larger than all that they take: they are translated first."""
_FIT = "\n  fix: inputs and attributes as ONNX defines them for the operator"
MAX_NESTING = 64
"""Bodies in bodies: of functions, and of branches and loops."""
MOST_NODES = 1 << 16
"""The most nodes of a model, with those of the bodies of its functions and loops."""


class TooLarge(GraphError):
    """A model that is given up."""


class Missing(Enum):
    """Instead of a value: of a name that nothing defines; of a node that was refused, and of those that need it."""

    UNDEFINED = 0
    REFUSED = 1


TeFunction = Callable[..., Any]
"""The meaning of an operator: of te tensors and attributes, it returns a te tensor or several."""
UNDEFINED, REFUSED = Missing.UNDEFINED, Missing.REFUSED
Named: TypeAlias = "Result | Missing"
"""What a name is."""


class NodeImporter:
    """Translates nodes to those of a builder. `values`: what names are: Values, known arrays, lists of them."""

    def __init__(self, builder: GraphBuilder, proto: onnx.ModelProto, ops: Mapping[str, TeFunction]):
        versions = {o.domain: o.version for o in proto.opset_import}
        self.builder, self.ops = builder, ops
        self.emitter = OnnxEmitter(builder, versions.get("", versions.get("ai.onnx", 1)))
        self.emitter.graph_results = self.graph_results
        self.functions = {(f.domain, f.name, f.overload): f for f in proto.functions}
        self.refusals, self.translations = Refusals(), translations()
        self.values: MutableMapping[str, Named] = {"": None}
        self._path: list[str] = []  # the nodes whose bodies are being translated
        self._current = ""  # the node that is being translated
        self._count = 0
        self.sources: dict[Value, frozenset[str]] = {}  # the inputs of the graph that a value is computed from
        self.needed: set[str] = set()  # those of values that are not known and have to be

    def add_all(self, nodes: Iterable[onnx.NodeProto]) -> None:
        """Translate nodes in topological order."""
        for node in nodes:
            self._import_node(node)

    def graph_results(
        self, graph: onnx.GraphProto, operands: Sequence[Result], region: GraphBuilder | None = None
    ) -> list[Named]:
        """The results of a branch or the body of a loop, with values of its inputs; it sees the names around it.

        region: the builder that it is written with, of a region of its own; its results are Values then, and sequences
        of them.
        """
        if region is not None:
            with self._switch_builder(region):
                results = self.graph_results(graph, operands)
                if any(x is REFUSED or x is UNDEFINED for x in results):
                    raise GraphError(
                        "what it runs cannot be translated\n"
                        "  fix: see the nodes in it; if an input decides that never changes: from_onnx(..., values=)"
                    )
                value = self.emitter.value
                return [TensorSequence(map(value, x)) if isinstance(x, TensorSequence) else value(x) for x in results]
        bound: dict[str, Named] = dict(zip((x.name for x in graph.input), operands, strict=True))
        bound |= {x.name: array_of(x) for x in graph.initializer}
        names = [result.name for result in graph.output]
        with self._scope(ChainMap(bound, *getattr(self.values, "maps", [self.values])), used_names(graph)):
            self.add_all(graph.node)
            return [self.values.get(name, UNDEFINED) for name in names]

    @contextmanager
    def _switch_builder(self, region: GraphBuilder) -> Iterator[None]:
        """Write nodes to a region; constants that are made there remain there."""
        kept, made = self.builder, dict(self.emitter.made)
        self.builder = self.emitter.builder = region
        try:
            yield
        finally:
            self.builder = self.emitter.builder = kept
            weights = {key: pair for key, pair in self.emitter.made.items() if key in self.emitter.names}
            self.emitter.made = {**weights, **made}

    def _body_results(self, node: onnx.NodeProto, body: OperatorBody, operands: Sequence[Result]) -> list[Named]:
        """The results of a function: its body sees its inputs only."""
        bound = {"": None, **dict(zip(body.inputs, [*operands, *[None] * len(body.inputs)], strict=False))}
        asked = {name for n, name in enumerate(body.outputs) if n < len(node.output) and node.output[n]}
        used = {name for inner in body.nodes for name in inner.input} | asked
        opset, names = self.emitter.opset, body.outputs[: len(node.output)]
        with self._scope(bound, used - {""}):
            try:
                self.emitter.opset = body.opset
                self.add_all(body.nodes)
            finally:
                self.emitter.opset = opset
            return [self.values.get(name, REFUSED) for name in names]

    @contextmanager
    def _scope(self, values: MutableMapping[str, Named], used: set[str]) -> Iterator[None]:
        outer = self.values, self.emitter.used, self.emitter.name, self.emitter.results
        if len(self._path) > MAX_NESTING:
            raise GraphError(f"bodies are nested {len(self._path)} deep, and at most {MAX_NESTING} are possible")
        self.values, self.emitter.used = values, used
        self._path.append(self._current)
        try:
            yield
        finally:
            self._current = self._path.pop()
            self.values, self.emitter.used, self.emitter.name, self.emitter.results = outer

    def _import_node(self, node: onnx.NodeProto) -> None:
        """Translate a node: its results become values; of those that it does not compute, used ones are refused."""
        self._count += 1
        if self._count > MOST_NODES:
            raise TooLarge(
                f"from_onnx: the model has more than {MOST_NODES} nodes, with those of its functions and loops\n"
                "  fix: export a smaller part of it, or loops that are not written out"
            )
        operands = [self.values.get(name, UNDEFINED) for name in node.input]
        results: list[Named] = [REFUSED] * len(node.output)
        if not any(x is REFUSED for x in operands):
            refused_before = len(self.refusals.found)
            try:
                results = self._result_list(self._translate_node(node, operands))
            except TooLarge:
                raise
            except TirError as error:
                self.needed |= self._sources_of([error.value] if isinstance(error, NeedsValue) else [])
                self._refuse(node, str(error))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                if node.op_type in self.ops:  # the error is in the user's function
                    raise
                self._refuse(node, f"its inputs and attributes do not fit: {type(error).__name__}: {error}{_FIT}")
            results = self._refuse_oversized(node, results, operands)
            self._note_sources(operands, results)
            self._note_types(node, operands, results)
            self._check_results(node, results, is_reported=len(self.refusals.found) > refused_before)
        for number, name in enumerate(node.output):
            if name:
                self.values[name] = results[number] if number < len(results) else REFUSED

    def _refuse_oversized(self, node: onnx.NodeProto, results: list[Named], operands: Iterable[Named]) -> list[Named]:
        """The results, refused where one is larger than memory."""
        limit = GREATEST_BYTES if self._sources_of(operands) else GREATEST_CONSTANT
        for result in results:
            if isinstance(result, Value) and (size := bytes_of(result.shape, result.dtype)) > limit:
                self._refuse(node, f"its result {result.type} takes {size} bytes, and at most {limit} are possible")
                return [REFUSED] * len(results)
        return results

    def _result_list(self, results: Results | Sequence[Named]) -> list[Named]:
        """The results of a translation as a list; a sequence is one result."""
        if isinstance(results, TensorSequence):
            return [results]
        return list(results) if isinstance(results, Sequence) else [results]

    def _check_results(self, node: onnx.NodeProto, results: Sequence[Named], is_reported: bool) -> None:
        for number, name in enumerate(node.output):
            if number >= len(results) and name in self.emitter.used and not is_reported:
                output_name = result_name(node, number, self.emitter.opset)
                self._refuse(node, f"its output {output_name} is not computed\n  fix: a model that does not use it")

    def _refuse(self, node: onnx.NodeProto, reason: str) -> None:
        path = self._path[::-1] if len(self._path) <= 4 else [*self._path[:-3:-1], "..", self._path[0]]
        self.refusals.add(node.op_type, " in ".join([node_name(node), *path]), "", reason)

    def note_input(self, name: str, x: Value | TensorSequence) -> None:
        """Remember which input of the model a value, or a sequence of them, is."""
        self.sources |= {value: frozenset([name]) for value in _values_in([x])}

    def _sources_of(self, operands: Iterable[Named]) -> frozenset[str]:
        return frozenset().union(*(self.sources.get(v, ()) for v in _values_in(operands)))

    def _note_sources(self, operands: Iterable[Named], results: Iterable[Named]) -> None:
        sources = self._sources_of(operands)
        for value in _values_in(results):
            self.sources[value] = self.sources.get(value, frozenset()) | sources

    def _note_types(self, node: onnx.NodeProto, operands: Sequence[Named], results: Sequence[Named]) -> None:
        """Results that have the type of an operand stand for the type of few bits that it stands for."""
        import onnx

        small, opset = self.emitter.small, self.emitter.opset
        found = {n: small[x] for n, x in enumerate(operands) if isinstance(x, Value) and x in small}
        if not found or node.domain or not onnx.defs.has(node.op_type, opset, ""):
            return
        schema = onnx.defs.get_schema(node.op_type, opset, "")
        types = {schema.inputs[min(n, len(schema.inputs) - 1)].type_str: name for n, name in found.items()}
        for n, result in enumerate(results):
            name = types.get(schema.outputs[min(n, len(schema.outputs) - 1)].type_str)
            if name and isinstance(result, Value):
                small.setdefault(result, name)

    def _translate_node(self, node: onnx.NodeProto, named: Sequence[Named]) -> Results | list[Named]:
        operands = [x for x in named if not isinstance(x, Missing)]
        if undefined := [name for name, x in zip(node.input, named, strict=True) if isinstance(x, Missing)]:
            raise GraphError(
                f"its input {undefined[0]} is not an input, initializer or result of a node\n"
                "  fix: define it in the model"
            )
        self._current = node_name(node)
        self.emitter.name, self.emitter.results = identifier(self._current), list(node.output)
        if node.op_type in self.ops:
            args = [self.emitter.value(x) for x in operands if x is not None]
            return self.builder.call_te(self.ops[node.op_type], *args, **attributes(node))
        if function := self.functions.get(function_key(node)):
            return self._body_results(node, body_of_function(function, node), operands)
        domain = "" if node.domain == "ai.onnx" else node.domain
        function = self.translations.get(f"{domain}::{node.op_type}" if domain else node.op_type)
        check_node(node, self.emitter.opset, () if function is None else _parameters(function))
        if is_foldable(node, operands, self.emitter):
            with suppress(GraphError):  # the translation tells better what is wrong
                return fold_node(node, operands, self.emitter.opset)
        if not domain and (sizes := sizes_result(self.emitter, node.op_type, operands)) is not None:
            return sizes
        if function is None and is_known(operands, node):
            return fold_node(node, operands, self.emitter.opset)
        try:
            if function is None:
                raise GraphError(reason(node.op_type, domain))
            return self._by_table(function, node, operands)
        except NeedsValue:
            raise
        except GraphError as error:
            body = body_of_schema(node, operands, self.emitter)
            return self._by_body(node, body, operands, error, is_own=function is not None)

    def _by_body(
        self,
        node: onnx.NodeProto,
        body: OperatorBody | None,
        operands: Sequence[Result],
        error: GraphError,
        is_own: bool,
    ) -> list[Named]:
        """The results of a body; `error` of the operator itself where there is none, or where it is refused as well."""
        if body is None:
            raise error
        outer, self.refusals = self.refusals, Refusals()
        try:
            results = self._body_results(node, body, operands)
        finally:
            inner, self.refusals = self.refusals, outer
        if inner.found and is_own:
            raise error
        self.refusals.found += inner.found
        return results

    def _by_table(self, function: Translation, node: onnx.NodeProto, operands: Sequence[Result]) -> Results:
        attrs, parameters = attributes(node), _parameters(function)
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            unknown = [name for name in attrs if name not in parameters]
            if unknown:
                raise GraphError(f"{unknown[0]}={attrs[unknown[0]]} is not supported")
        try:
            return function(self.emitter, *operands, **attrs)
        except TypeError as error:  # of what a translation hands on
            stray = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if stray is None or stray[1] not in attrs:
                raise
            name = stray[1]
            raise GraphError(f"its attribute {name} is not one of {node.op_type}\n  fix: leave it out") from None


def _values_in(named: Iterable[Named]) -> Iterator[Value]:
    """The Values, also those in sequences."""
    parts = (v for x in named for v in (x if isinstance(x, TensorSequence) else [x]))
    return (v for v in parts if isinstance(v, Value))


@lru_cache(maxsize=1024)
def _parameters(function: Translation) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function).parameters


def attributes(node: onnx.NodeProto) -> dict[str, Any]:
    """The attributes of a node by name."""
    import onnx

    return {a.name: _plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}


def _plain(value: Any) -> Any:
    """An attribute as Python's own: text, numbers, lists."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (tuple, list)) or type(value).__name__.startswith("Repeated"):
        return [v.decode() if isinstance(v, bytes) else v for v in value]
    return value


def identifier(name: str) -> str:
    """A name of letters, digits and underscores, no word of Python: "batch size" -> "batch_size", "for" -> "for_"."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    word = f"{word}_" if keyword.iskeyword(word) else word
    return word if word[:1].isalpha() or word[:1] == "_" else f"_{word}"


_RANDOM = "it draws random numbers, and a graph has none\n  fix: make them an input of the model"
_TEXT = "it is of strings, and graphs are of numbers\n  fix: leave the strings out"
_OPTIONAL = "an optional is not a tensor\n  fix: export the model with the tensor itself"
_REASONS = {
    r"Random\w+|Multinomial|Bernoulli": _RANDOM,
    r"String\w+|RegexFullMatch|TfIdfVectorizer": _TEXT,
    r"Optional\w*": _OPTIONAL,
    "ImageDecoder": "it decodes a file\n  fix: decode it before, and pass the image",
    "MelWeightMatrix": "the model computes its numbers\n  fix: make them constants, or inputs: values={name: array}",
}


_EXTENDED = "\n  fix: save the model with the optimization level ORT_ENABLE_EXTENDED, not ORT_ENABLE_ALL"
_DOMAINS = {
    "com.microsoft.nchwc": f"ONNX Runtime wrote it for the vectors of one CPU{_EXTENDED}",
    "com.ms.internal.nhwc": f"ONNX Runtime wrote it for its own use{_EXTENDED}",
    "ai.onnx.ml": "it is not an operator of tensors, but a model or a step of classical machine learning",
    "ai.onnx.preview.training": "it is a step of training\n  fix: export the model for inference",
}
_MICROSOFT = {
    r"\w*BeamSearch|GreedySearch|Sampling":
        "it generates text\n  fix: import the graph of its decoder, and call it for each token",
    r"Packed\w+|\w*PagedAttention|RemovePadding|RestorePadding|QOrdered\w+|LongformerAttention|DecoderMasked\w+|"
    r"Sparse\w+": "ONNX Runtime has it for GPUs\n  fix: optimize the model for the CPU",
    r"Tokenizer|MurmurHash3": _TEXT,
}  # fmt: skip


def reason(op_type: str, domain: str) -> str:
    """What to tell of an operator without a translation."""
    if domain in _DOMAINS:
        return f"{_DOMAINS[domain]} (domain {domain})" if "\n" not in _DOMAINS[domain] else _DOMAINS[domain]
    if domain:
        reasons = _MICROSOFT.items() if domain == "com.microsoft" else ()
        own = (why for names, why in reasons if re.fullmatch(names, op_type))
        return next(own, f"it is not known (domain {domain})")
    return next((why for names, why in _REASONS.items() if re.fullmatch(names, op_type)), "it is not known")


def is_known(operands: Sequence[Result], node: onnx.NodeProto) -> TypeGuard[Sequence[np.ndarray | None]]:
    """Whether ONNX's evaluator can compute a node: known numbers, no bodies, no random numbers, a result that fits."""
    import onnx

    if node.domain not in ("", "ai.onnx") or any(a.HasField("g") for a in node.attribute):
        return False
    arrays = [x for x in operands if x is None or (isinstance(x, np.ndarray) and x.dtype != object)]
    if len(arrays) < len(operands):
        return False
    if node.op_type.startswith(("Random", "String", "Optional", "Bernoulli", "Multinomial", "ImageDecoder")):
        return False
    if not onnx.defs.has(node.op_type, ""):
        return False
    return node.op_type not in GROWING or _grown_bytes(arrays) <= MOST_BYTES


def _grown_bytes(operands: Sequence[np.ndarray | None]) -> int:
    """No less than the bytes of the result of an operator that repeats, pads or counts."""
    total = 16 * max((x.size for x in operands if x is not None), default=1)
    for x in operands[:4]:
        if x is not None and x.dtype.kind in "iu" and x.size <= 64:
            for factor in x.reshape(-1).tolist():
                total *= max(abs(factor), 1)
        elif x is not None and x.dtype.kind == "f" and x.size <= 8:
            for factor in x.reshape(-1):
                total *= max(int(abs(factor)) + 1, 1) if np.isfinite(factor) else 1
    return total


def is_foldable(node: onnx.NodeProto, operands: Sequence[Result], e: OnnxEmitter) -> bool:
    """Whether a node is computed at import rather than by the graph: small, and without the model's float weights."""
    if not operands or node.op_type in GROWING or not is_known(operands, node):
        return False
    if node.op_type == "DequantizeLinear" and operands[0] is not None and operands[0].ndim:
        return False  # of a weight of integers, which a product of integers takes as it is
    if any(x is not None and id(x) in e.names and x.dtype.kind not in "iub" for x in operands):
        return False
    divisor = operands[1] if node.op_type in ("Div", "Mod") else None
    if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
        return False  # the translation refuses it
    return sum(x.size for x in operands if x is not None) <= MAX_FOLDED_ELEMENTS


def fold_node(node: onnx.NodeProto, operands: Sequence[Result], opset: int) -> list[Result]:
    """The results of a node on known operands. Errors: GraphError where ONNX's evaluator refuses them."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    names = [name for name, x in zip(node.input, operands, strict=True) if x is not None]
    output_names = [name for name in node.output if name]
    nothing = onnx.TypeProto()
    graph = onnx.helper.make_graph(
        [node],
        "node",
        [onnx.helper.make_value_info(name, nothing) for name in dict.fromkeys(names)],
        [onnx.helper.make_value_info(name, nothing) for name in output_names],
    )
    feeds = {name: x for name, x in zip(node.input, operands, strict=True) if x is not None}
    try:
        with np.errstate(all="ignore"):
            results = iter(ReferenceEvaluator(graph, opsets={"": opset}).run(None, feeds))
    except Exception as error:
        raise GraphError(f"it cannot be computed from its constants: {type(error).__name__}: {error}") from error
    return [_result_arrays(next(results)) if name else None for name in node.output]


def _result_arrays(result: ArrayLike) -> Result:
    return TensorSequence(map(np.asarray, result)) if isinstance(result, list) else np.asarray(result)
