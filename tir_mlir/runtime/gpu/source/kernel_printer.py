"""Print the kernels of a device module as C: loops as loops, names from the program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.constants.dense import dense_numbers
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import Index, attrs, bits, over_dims, read_map, to_name, walk
from tir_mlir.dialect.ir.lowering_op_views import (
    BarrierOp,
    BroadcastOp,
    DotAccumulateOp,
    DynamicSharedMemoryOp,
    ExtractOp,
    FromElementsOp,
    GPUFuncOp,
    GPUReturnOp,
    GridIdOp,
    InsertOp,
    ShuffleOp,
)
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineForOp,
    AffineIfOp,
    AllocaOp,
    ApplyOp,
    AssumeAlignmentOp,
    AtomicOp,
    ByteViewOp,
    ConstantOp,
    CountedLoopOp,
    DimOp,
    ElementLoadOp,
    ElementStoreOp,
    IfOp,
    LoadOp,
    MappedOp,
    ScfIfOp,
    StoreOp,
    VectorStoreOp,
    ViewLikeOp,
    YieldOp,
    defining_op,
    dyn_cast,
    isa,
)
from tir_mlir.dialect.presburger import intervals
from tir_mlir.runtime.gpu.source.buffers import BufferView, Number, plus, text_of, times, view_of
from tir_mlir.runtime.gpu.source.dialects import CUDA_C, Dialect
from tir_mlir.runtime.gpu.source.expressions import AND, UNARY, AffineText, CExpression, Range, Scalars, call, cast

_AXES = "xyz"
_COPY_GROUPS = {
    "nvvm.cp.async.commit.group": "__pipeline_commit",
    "nvvm.cp.async.wait.group": "__pipeline_wait_prior",
}
"""What ends a group of asynchronous copies, and waits for all but the last groups, in CUDA C."""
_LOADS, _STORES = ElementLoadOp.names | {"vector.load"}, ElementStoreOp.names | {"vector.store"}
_RESERVED = frozenset(
    "auto break case char const continue default do double else enum extern float for goto half if inline int long "
    "register return short signed sizeof static struct switch typedef union unsigned void volatile while bool kernel "
    "global local constant private min max exp log sqrt y0 y1 j0 j1 gamma".split()
)


def source_of(device: ir.Module, dialect: Dialect = CUDA_C) -> str:
    """The text of all kernels of a module, with functions that launch them. Raises BuildError for what C has no word
    for."""
    unit = Unit(dialect)
    kernels = [op for op in walk.ops(device.operation) if isa(op, GPUFuncOp)]
    texts = [KernelPrinter(op, unit).text() for op in kernels]
    return "\n\n".join([*unit.head(), *texts]) + "\n"


class Unit:
    """What the functions of a text share: headers, helper functions, structs for vectors."""

    def __init__(self, dialect: Dialect):
        self.dialect = dialect
        self._headers: dict[str, None] = {}
        self._helpers: dict[str, None] = {}
        self._structs: dict[str, None] = {}

    def helper(self, name: str) -> str:
        """A function of the language, or one that the text then defines, with those that it calls."""
        if name in self.dialect.helpers:
            self._helpers |= dict.fromkeys(n for n in self.dialect.helpers if f"{n}(" in self.dialect.helpers[name])
            self._helpers[name] = None
        return name

    def include(self, header: str) -> None:
        self._headers[f"#include <{header}>"] = None

    def type(self, type_: ir.Type) -> str:
        """The type of an element or vector."""
        if isinstance(type_, ir.VectorType):
            element, count = str(type_.element_type), type_.shape[0]
            self.type(type_.element_type)
            if not self.dialect.has_vector(element, count):
                size = count * bits(to_name(type_.element_type)) // 8
                self._structs[self.dialect.struct(element, count, size)] = None
            return self.dialect.vector(element, count)
        name = str(type_)
        if name in self.dialect.headers:
            self._headers[self.dialect.headers[name]] = None
        return self.dialect.type(name)

    def head(self) -> list[str]:
        words = {"inline": self.dialect.inline, "long": self.dialect.index64}
        texts = [text for name, text in self.dialect.helpers.items() if name in self._helpers]
        helpers = [text.format(**words) if "{inline}" in text else text for text in texts]
        return [part for part in ("\n".join(self._headers), *self._structs, *helpers) if part]


class KernelPrinter:
    """The text of one kernel."""

    def __init__(self, op: ir.Operation, unit: Unit):
        self._op, self._unit, self._dialect = op, unit, unit.dialect
        self._body = op.regions[0].blocks[0]
        memrefs = [v.type for o in walk.ops(op) for v in (*o.operands, *o.results) if isinstance(v.type, ir.MemRefType)]
        is_small = all(ir.MemRefType(t).has_static_shape and _elements(t) < 2**31 for t in memrefs)
        self._index = self._dialect.index32 if is_small else self._dialect.index64
        self._scalars = Scalars(self._dialect, self._index, unit.helper)
        self._values: dict[ir.Value, CExpression] = {}
        self._places: dict[ir.Value, BufferView] = {}
        self._ranges: dict[ir.Value, Range] = {}
        self._inlined_loads: set[ir.Value] = set()
        self._names: set[str] = set()
        self._lines: list[str] = []
        self._count = 0
        self._written = self._written_roots()

    def text(self) -> str:
        name = attrs.get(self._op, "sym_name")
        block = list(attrs.get(self._op, "known_block_size"))
        shared = attrs.get(self._op, "workgroup_attributions", 0)
        arguments = list(self._body.arguments)
        count = len(arguments) - shared
        facts = attrs.get(self._op, "arg_attrs", [{}] * count)
        parameters = [self._parameter(a, f) for a, f in zip(arguments[:count], facts, strict=False)]
        notes = attrs.get(self._op, "workgroup_attrib_attrs", [{}] * shared)
        for number, (argument, note) in enumerate(zip(arguments[count:], notes, strict=True)):
            self._declare_shared(argument, note, number)
        self._block(self._body, 1, block)
        return "\n".join([self._dialect.kernel(name, parameters, block), *self._lines, "}"])

    # --- names ---

    def _name(self, wish: str) -> str:
        """A new name, like the one asked for."""
        plain = re.sub(r"\W", "_", wish) or "v"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        name, number = plain, 0
        while name in self._names or name in _RESERVED or name in self._dialect.types.values():
            number += 1
            name = f"{plain}_{number}"
        self._names.add(name)
        return name

    def _written_roots(self) -> set[ir.Value]:
        """The buffers that the kernel writes."""
        written = set()
        for op in walk.ops(self._op):
            if not _only_computes(op) and not isa(op, ViewLikeOp):
                for value in op.operands:
                    while source := defining_op(value, ViewLikeOp):
                        value = source.source
                    written.add(value)
        return written

    def _parameter(self, argument: ir.Value, fact: dict) -> str:
        if not isinstance(argument.type, ir.MemRefType):
            if str(argument.type) == "!llvm.ptr":  # a tensor map
                name = attrs.get(self._op, "sym_name")
                raise BuildError(
                    f"{name} copies by the TMA, for which {self._dialect.name} has no words here; fix: lib.assembly is "
                    "its text"
                )
            is_index = isinstance(argument.type, ir.IndexType)
            name = self._name(fact.get(attrs.NAME, "n"))
            self._values[argument] = CExpression(name)
            self._ranges[argument] = (0, None) if is_index else (None, None)
            return f"const {self._dialect.index64 if is_index else self._unit.type(argument.type)} {name}"
        type_ = ir.MemRefType(argument.type)
        name = self._name(fact.get(attrs.NAME, "A"))
        self._places[argument] = BufferView.of_type(name, type_)
        const = "" if argument in self._written else "const "
        restrict = self._dialect.restrict if "llvm.noalias" in fact else ""
        return f"{self._dialect.pointers['global']}{const}{self._unit.type(type_.element_type)} *{restrict}{name}"

    def _declare_shared(self, argument: ir.Value, note: dict, number: int) -> None:
        type_ = ir.MemRefType(argument.type)
        name = self._name(note.get(attrs.NAME, f"shared_{number}"))
        self._unit.type(type_.element_type)
        self._lines.append(
            "  "
            + self._dialect.declare_shared(str(type_.element_type), name, _elements(type_), note.get("llvm.align", 16))
        )
        self._places[argument] = BufferView.of_type(name, type_)

    # --- statements ---

    def _line(self, depth: int, text: str) -> None:
        self._lines.append("  " * depth + text)

    def _block(
        self,
        body: ir.Block,
        depth: int,
        block: Sequence[int] = (),
        targets: Sequence[str] = (),
        lifted: ir.Operation | None = None,
    ) -> None:
        """Print the ops of a body. targets: the variables that its yield sets. lifted: a barrier that stands before."""
        for view in body.operations:
            op = view.operation
            if isa(op, YieldOp):
                self._yield(op, depth, targets)
            elif isa(op, GridIdOp):
                self._axis(op, depth, block)
            elif isa(op, CountedLoopOp):
                self._loop(op, depth)
            elif isa(op, IfOp):
                self._if(op, depth)
            elif isa(op, BarrierOp):
                if lifted is None or op != lifted:
                    self._line(depth, self._dialect.barrier)
            elif not isa(op, GPUReturnOp):
                self._statement(op, depth)

    def _axis(self, op: ir.Operation, depth: int, block: Sequence[int]) -> None:
        axis = str(op.attributes["dimension"]).split()[-1].strip(">")
        kind, number = op.name.removeprefix("gpu.").removesuffix("_id"), _AXES.index(axis)
        name = self._name(f"{kind}_{axis}")
        self._line(depth, f"const {self._index} {name} = {self._dialect.ids[kind].format(axis=axis, number=number)};")
        self._values[op.results[0]] = CExpression(name)
        self._ranges[op.results[0]] = (0, block[number] - 1 if kind == "thread" else None)

    def _yield(self, op: ir.Operation, depth: int, targets: Sequence[str]) -> None:
        values = [self._value(v).text for v in op.operands]
        if len(values) > 1:  # one may be read by the next
            names = [self._name("next") for _ in values]
            for name, value, operand in zip(names, values, op.operands, strict=True):
                self._line(depth, f"const {self._type(operand.type)} {name} = {value};")
            values = names
        for target, value in zip(targets, values, strict=True):
            self._line(depth, f"{target} = {value};")

    def _type(self, type_: ir.Type) -> str:
        return self._index if isinstance(type_, ir.IndexType) else self._unit.type(type_)

    def _loop(self, op: ir.Operation, depth: int) -> None:
        body = op.regions[0].blocks[0]
        variable, *carried = list(body.arguments)
        name = self._name(attrs.get(op, attrs.LOOP, "i"))
        if isa(op, AffineForOp):
            low, high = attrs.map_of(op.attributes["lowerBoundMap"]), attrs.map_of(op.attributes["upperBoundMap"])
            operands = list(op.operands)
            lows, highs = operands[: low.n_inputs], operands[low.n_inputs : low.n_inputs + high.n_inputs]
            start, end = self._map_extremum(low, lows, "max"), self._map_extremum(high, highs, "min")
            step = ir.IntegerAttr(op.attributes["step"]).value
            first = [intervals.expr_interval(e, self._known_ranges(lows))[0] for e in over_dims(low)]
            last = [intervals.expr_interval(e, self._known_ranges(highs))[1] for e in over_dims(high)]
            ends = [n for n in last if n is not None]
            self._ranges[variable] = (None if None in first else max(first), min(ends) - 1 if ends else None)  # type: ignore[type-var]
            inits = operands[low.n_inputs + high.n_inputs :]
        else:
            start, end, by = (self._value(v) for v in list(op.operands)[:3])
            step, inits = by.text, list(op.operands)[3:]
        results = self._variables(op.results, carried, inits, depth)
        advance = f"++{name}" if step in (1, "1") else f"{name} += {step}"
        self._line(
            depth, f"for ({self._index} {name} = {start.text}; {name} < {end.as_operand(UNARY - 5)}; {advance}) {{"
        )
        self._values[variable] = CExpression(name)
        self._block(body, depth + 1, targets=results)
        self._line(depth, "}")
        self._names.discard(name)  # the next loop may have it again

    def _variables(
        self, results: Sequence[ir.Value], carried: Sequence[ir.Value], inits: Sequence[ir.Value], depth: int
    ) -> list[str]:
        """Declare a variable for each value that a loop carries."""
        names = []
        for result, inner, init in zip(results, carried, inits, strict=True):
            names.append(self._name("carried"))
            self._line(depth, f"{self._type(result.type)} {names[-1]} = {self._value(init).text};")
            self._values[result] = self._values[inner] = CExpression(names[-1])
        return names

    def _if(self, op: ir.Operation, depth: int) -> None:
        names = []
        for result in op.results:
            names.append(self._name("chosen"))
            self._line(depth, f"{self._type(result.type)} {names[-1]};")
            self._values[result] = CExpression(names[-1])
        lifted = self._first_barrier(op)
        if lifted is not None:
            self._line(depth, self._dialect.barrier)
        self._line(depth, f"if ({self._condition(op).text}) {{")
        self._block(op.regions[0].blocks[0], depth + 1, targets=names, lifted=lifted)
        if len(op.regions[1].blocks) and len(op.regions[1].blocks[0].operations) > (0 if op.results else 1):
            self._line(depth, "} else {")
            self._block(op.regions[1].blocks[0], depth + 1, targets=names)
        self._line(depth, "}")

    def _first_barrier(self, op: ir.Operation) -> ir.Operation | None:
        """A barrier with which the body of a condition starts, for OpenCL. All threads of a block have the same
        condition, so it may stand before; PoCL 3 loses it where it is, in a loop."""
        if self._dialect is CUDA_C or not isa(op, AffineIfOp) or len(op.regions[1].blocks):
            return None
        body = (o.operation for o in op.regions[0].blocks[0].operations)
        first = next(o for o in body if not isa(o, ConstantOp))
        return first if isa(first, BarrierOp) else None

    def _condition(self, op: ir.Operation) -> CExpression:
        if isa(op, ScfIfOp):
            return self._value(ScfIfOp(op).condition)
        parts = []
        for condition in walk.constraints(op):
            index = condition.index
            affine = self._affine(index.values)
            parts.append(affine.condition(index.expr, condition.is_eq))
        if len(parts) == 1:
            return parts[0]
        return CExpression(" && ".join(p.as_operand(AND + 1) for p in parts), AND)

    # --- values ---

    def _value(self, value: ir.Value) -> CExpression:
        return self._values[value]

    def _known_ranges(self, values: Sequence[ir.Value]) -> list[Range]:
        return [self._ranges.get(v, (None, None)) for v in values]

    def _affine(self, values: Sequence[ir.Value]) -> AffineText:
        return AffineText([self._value(v) for v in values], self._known_ranges(values), self._unit.helper)

    def _map_extremum(self, map_: ir.AffineMap, operands: Sequence[ir.Value], joint: str) -> CExpression:
        """The maximum or minimum of the results of a map."""
        affine = self._affine(operands)
        results = [affine.print_expr(e) for e in over_dims(map_)]
        text = results[0]
        for other in results[1:]:
            text = call(
                self._unit.helper(self._dialect.functions.get(joint, joint)),
                *(CExpression(f"({self._index}){r.as_operand(UNARY)}") for r in (text, other)),
            )
        return text

    def _statement(self, op: ir.Operation, depth: int) -> None:
        name = op.name
        if isa(op, AllocaOp):
            self._local(op, depth)
        elif isa(op, DynamicSharedMemoryOp):
            self._dynamic(op)
        elif isa(op, ByteViewOp):
            self._dynamic_view(op, depth)
        elif name in ViewLikeOp.names:
            self._places[op.results[0]] = view_of(op, self._places[ViewLikeOp(op).source], self._value)
        elif name in _STORES:
            self._store(op, depth)
        elif isa(op, AtomicOp):
            self._update(op, depth)
        elif name in _COPY_GROUPS:
            self._line(depth, f"{_COPY_GROUPS[name]}({attrs.get(op, 'n', '')});")
        elif len(op.results) and any(True for r in op.results for _ in r.uses):
            self._compute(op, depth)
        elif not _only_computes(op) and not isa(op, AssumeAlignmentOp, ShuffleOp):
            raise BuildError(f"{self._dialect.name} of {name} is not supported; lib.assembly is the code")

    def _local(self, op: ir.Operation, depth: int) -> None:
        type_ = ir.MemRefType(op.results[0].type)
        name = self._name(attrs.get(op, attrs.NAME, "own"))
        align = f" __attribute__((aligned({attrs.get(op, 'alignment', 4)})))" if self._dialect is not CUDA_C else ""
        word = f"__align__({attrs.get(op, 'alignment', 4)}) " if self._dialect is CUDA_C else ""
        self._line(depth, f"{word}{self._unit.type(type_.element_type)} {name}[{_elements(type_)}]{align};")
        self._places[op.results[0]] = BufferView.of_type(name, type_)

    def _dynamic(self, op: ir.Operation) -> None:
        if self._dialect is not CUDA_C:
            raise BuildError("OpenCL C declares its shared memory; fix: build for OPENCL")
        name = self._name("dynamic_shared")
        self._line(1, f"extern __shared__ __align__(16) unsigned char {name}[];")
        self._places[op.results[0]] = BufferView(name, 0, (), (1,), "shared", "i8")

    def _dynamic_view(self, op: ir.Operation, depth: int) -> None:
        type_ = ir.MemRefType(op.results[0].type)
        name, element = self._name(attrs.get(op, attrs.NAME, "shared")), self._unit.type(type_.element_type)
        source = self._places[ByteViewOp(op).source].name
        start = self._value(ByteViewOp(op).shift)
        self._line(depth, f"{element} *const {name} = ({element} *)({source} + {start.text});")
        self._places[op.results[0]] = BufferView.of_type(name, type_)

    def _store(self, op: ir.Operation, depth: int) -> None:
        if _is_asynchronous(op):
            return self._asynchronous_copy(op, depth)
        target, value = self._element(op, 1), self._value(StoreOp(op).value)
        self._line(depth, f"{target} = {value.text};")

    def _update(self, op: ir.Operation, depth: int) -> None:
        """`atomicAdd(&H[i], 1);`"""
        words = {"add": "Add", "max": "Max", "min": "Min", "and": "And", "or": "Or", "xor": "Xor"}
        kind = arith.AtomicRMWKind(attrs.get(op, "kind")).name.rstrip("ifsu")
        if self._dialect is not CUDA_C or kind not in words:
            raise BuildError(f"{self._dialect.name} of {op.name} is not supported; lib.assembly is the code")
        address, value = f"&{self._scalar(op, 1)}", self._value(AtomicOp(op).value).text
        if kind == "add" and to_name(op.results[0].type) == "int64":  # CUDA has it unsigned only
            address, value = f"(unsigned long long *){address}", f"(unsigned long long)({value})"
        self._line(depth, f"atomic{words[kind]}({address}, {value});")

    def _asynchronous_copy(self, store: ir.Operation, depth: int) -> None:
        value = StoreOp(store).value
        load, type_, count = defining_op(value, LoadOp), value.type, 1
        assert load is not None, "tir-lower-gpu-async-copies marks stores of what is loaded"
        if isinstance(type_, ir.VectorType):
            type_, count = type_.element_type, type_.shape[0]
        self._unit.include("cuda_pipeline.h")
        size = count * bits(to_name(type_)) // 8
        self._line(depth, f"__pipeline_memcpy_async(&{self._scalar(store, 1)}, &{self._scalar(load.op, 0)}, {size});")

    def _element(self, op: ir.Operation, position: int) -> str:
        """The element, or vector, of an access whose buffer is operand number `position`."""
        view, element = self._places[op.operands[position]], self._scalar(op, position)
        vector = op.results[0].type if len(op.results) else StoreOp(op).value.type
        if not isinstance(vector, ir.VectorType):
            return element
        space = self._dialect.pointers[view.space]
        const = "const " if len(op.results) else ""
        return f"*({const}{space}{self._unit.type(vector)} *)&{element}"

    def _scalar(self, op: ir.Operation, position: int) -> str:
        """The element, the first one of a vector, of an access whose buffer is operand number `position`."""
        view = self._places[op.operands[position]]
        indices = list(op.operands)[position + 1 :]
        offset: Number = view.offset
        if op.name.startswith("affine."):
            parts = read_map(attrs.map_of(op.attributes["map"]), indices)
            offset = plus(offset, self._linear(parts, view)) if parts else offset
        else:
            for index, stride in zip(indices, view.strides, strict=True):
                offset = plus(offset, times(self._value(index), stride))
        return f"{view.name}[{text_of(offset).text}]"

    def _linear(self, indices: Sequence[Index], view: BufferView) -> Number:
        """The offset of an element at affine indices, as one expression where the strides are constant."""
        strides = [s for s in view.strides if isinstance(s, int)]
        if len(strides) == len(view.strides):
            total = sum((i * s for i, s in zip(indices, strides, strict=True)), start=indices[0] * 0).simplify()
            return self._affine(total.values).print_expr(total.expr)
        result: Number = 0
        for index, stride in zip(indices, view.strides, strict=True):
            result = plus(result, times(self._affine(index.values).print_expr(index.expr), stride))
        return result

    def _compute(self, op: ir.Operation, depth: int) -> None:
        """Name the result of an op, or keep its expression for its only use."""
        if isa(op, ShuffleOp):
            value, offset, width = (self._value(v).text for v in op.operands)
            self._declare(op.results[0], CExpression(self._dialect.shuffle(value, offset, width)), depth)
            return
        if isa(op, LoadOp) and all(_is_asynchronous(use.owner.operation) for use in op.results[0].uses):
            return
        text, result = self._expression(op), op.results[0]
        if isa(op, ApplyOp):
            index = read_map(attrs.map_of(op.attributes["map"]), list(op.operands))[0]
            self._ranges[result] = intervals.expr_interval(index.expr, self._known_ranges(index.values))
        is_load = isa(op, LoadOp) or any(v in self._inlined_loads for v in op.operands)
        if isa(op, ConstantOp) or self._is_inlined(op, is_load):
            self._values[result] = text
            if is_load:
                self._inlined_loads.add(result)
        else:
            self._declare(result, text, depth)

    def _declare(self, value: ir.Value, text: CExpression, depth: int) -> None:
        name = self._name(f"v{self._count}")
        self._count += 1
        self._line(depth, f"const {self._type(value.type)} {name} = {text.text};")
        self._values[value] = CExpression(name)

    def _is_inlined(self, op: ir.Operation, is_load: bool) -> bool:
        """Whether an expression is only used once, in the same body, and before memory changes."""
        uses = list(op.results[0].uses)
        if len(uses) != 1 or uses[0].owner.operation.block != op.block:
            return False
        user = uses[0].owner.operation
        if isa(user, ExtractOp, ShuffleOp) or isinstance(op.results[0].type, ir.VectorType):
            return isa(user, VectorStoreOp) and not is_load
        if not is_load:
            return True
        listed = [o.operation for o in op.block.operations]
        between = listed[listed.index(op) + 1 : listed.index(user)]
        return all(_only_computes(o) and not len(o.regions) for o in between)

    def _dot(self, dot: DotAccumulateOp) -> CExpression:
        """`__dp4a(v0, v1, sum)`; CUDA has it of operands with the same sign."""
        signs = ["unsigned" in str(dot.op.attributes[name]) for name in ("a_type", "b_type")]
        if self._dialect is not CUDA_C or signs[0] != signs[1]:
            raise BuildError(f"{self._dialect.name} of {dot.op.name} is not supported; lib.assembly is the code")
        type_ = "unsigned" if signs[0] else "int"
        words = [f"*(const {type_} *)&{self._value(v).text}" for v in (dot.lhs, dot.rhs)]
        total = self._value(dot.total).text
        return CExpression(f"__dp4a({', '.join(words)}, {f'({type_})({total})' if signs[0] else total})")

    def _expression(self, op: ir.Operation) -> CExpression:
        name = op.name
        if isa(op, ApplyOp):
            return self._map_extremum(attrs.map_of(op.attributes["map"]), list(op.operands), "max")
        if isa(op, MappedOp):
            return self._map_extremum(attrs.map_of(op.attributes["map"]), list(op.operands), name.split(".")[1])
        if name in _LOADS:
            element = CExpression(self._element(op, 0))
            element = element._replace(level=UNARY) if element.text[0] == "*" else element
            read_as = self._places[op.operands[0]].read_as
            return cast(read_as, element) if read_as else element
        if dim := dyn_cast(op, DimOp):
            number = ir.IntegerAttr(dim.axis.owner.attributes["value"]).value
            return text_of(self._places[dim.source].sizes[number])
        if dot := dyn_cast(op, DotAccumulateOp):
            return self._dot(dot)
        if name.startswith("vector."):
            return self._vector(op)
        if isinstance(op.results[0].type, ir.VectorType):
            return self._lanes(op)
        self._type(op.results[0].type)
        return self._scalars.print_op(op, [self._value(v) for v in op.operands])

    # --- vectors ---

    def _vector(self, op: ir.Operation) -> CExpression:
        type_ = op.results[0].type
        if isa(op, ExtractOp) and not isinstance(type_, ir.VectorType) and len(op.operands) == 1:
            return self._lane(ExtractOp(op).source, attrs.integers(op, "static_position")[0])
        if isa(op, FromElementsOp) and _is_plain(type_):
            return self._make_vector(type_, [self._value(v).text for v in op.operands])
        if isa(op, BroadcastOp) and _is_plain(type_):
            return self._make_vector(type_, [self._value(BroadcastOp(op).source).text] * ir.VectorType(type_).shape[0])
        if isa(op, InsertOp) and len(op.operands) == 2 and _is_plain(type_):
            position = attrs.integers(op, "static_position")[0]
            lanes = [self._lane(InsertOp(op).target, n).text for n in range(ir.VectorType(type_).shape[0])]
            lanes[position] = self._value(InsertOp(op).value).text
            return self._make_vector(type_, lanes)
        raise BuildError(f"{self._dialect.name} of {op.name} is not supported; lib.assembly is the code")

    def _lane(self, value: ir.Value, number: int) -> CExpression:
        type_ = ir.VectorType(value.type)
        component = self._dialect.component(str(type_.element_type), type_.shape[0], number)
        return CExpression(self._value(value).as_operand(15) + component)

    def _make_vector(self, type_: ir.Type, parts: Sequence[str]) -> CExpression:
        vector = ir.VectorType(type_)
        self._unit.type(vector)
        return CExpression(self._dialect.make_vector(str(vector.element_type), parts))

    def _lanes(self, op: ir.Operation) -> CExpression:
        """An operation on vectors, lane by lane."""
        type_ = ir.VectorType(op.results[0].type)
        if isa(op, ConstantOp):
            numbers = dense_numbers(op.attributes["value"])
            return self._make_vector(type_, [self._scalars.literal(n, type_.element_type).text for n in numbers])
        raise BuildError(f"{self._dialect.name} of {op.name} on vectors is not supported; lib.assembly is the code")


def _is_asynchronous(op: ir.Operation) -> bool:
    """Whether an op is the store of a copy that runs while threads compute, see `tir-lower-gpu-async-copies`."""
    return "nontemporal" in op.attributes


def _only_computes(op: ir.Operation) -> bool:
    """Whether an op at most reads memory."""
    return is_pure(op) or (op.name.startswith("vector.") and not isa(op, VectorStoreOp))


def _is_plain(type_: ir.Type) -> bool:
    return isinstance(type_, ir.VectorType) and type_.rank == 1


def _elements(type_: ir.Type) -> int:
    total = 1
    for size in ir.MemRefType(type_).shape:
        total *= size
    return total
