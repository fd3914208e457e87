"""Before the conversion: bufferize, generalize named ops, expand those that it does not take, results to parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import arith, linalg, math, memref, tensor
from mlir.passmanager import PassManager

from tir_mlir.dialect.constants.dense import array_dtype, dense_array, is_dense, splat_of
from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import Func, attrs, direct_ops, funcs, walk
from tir_mlir.dialect.ir.lowering_op_views import (
    EmptyOp,
    FillOp,
    LinalgGenericOp,
    SoftmaxOp,
    TensorFromElementsOp,
    TensorReshapeOp,
)
from tir_mlir.dialect.ir.op_views import (
    AllocOp,
    ConstantOp,
    CopyOp,
    FPowIOp,
    GetGlobalOp,
    GlobalOp,
    MemrefCastOp,
    defining_op,
    isa,
)
from tir_mlir.passes.linalg import reshapes
from tir_mlir.passes.linalg.emit_linalg import generic_op

ALLOCATED_PARAMETER = "tir.claim"  # on an allocation that became a parameter: its position, until its sizes are known
BUFFERIZE = "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
GENERALIZE = "linalg-generalize-named-ops"
UPSTREAM = (BUFFERIZE, GENERALIZE)
_COMMAND = BUFFERIZE.replace("{", '="').replace("}", '"')
_HINT = (
    f"; tensors are converted to memrefs by `mlir-opt --{_COMMAND}`, which stops here: remove "
    "this op from the program first"
)


def prepare(module: ir.Module) -> dict[str, dict[int, np.ndarray]]:
    """In place: make every tensor a memref and every linalg op a `linalg.generic`, and remove function results.

    The name of a named op is kept in the location of its generic, for the name of the block. Returns the constants that
    became parameters, by function and number.
    """
    for op in walk.ops(module.operation):
        if op.name.startswith("linalg.") and not isa(op, LinalgGenericOp) and len(op.regions):
            op.location = ir.Location.name(op.name.partition(".")[2], op.location)
    if any(_has_tensor(op) for op in walk.ops(module.operation)):
        rewrite_tensor_reshapes(module)
        own_destinations(module)
        run_upstream(module, [BUFFERIZE], _HINT)
    expand_integer_powers(module)
    decompose_softmax(module)
    constants = {func.name: constants_to_params(module, func) for func in funcs(module)}
    for func in funcs(module):
        results_to_params(func)
    erase_globals(module)
    run_upstream(module, [GENERALIZE])
    return constants


def _has_tensor(op: ir.Operation) -> bool:
    values = [*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)]
    return any(isinstance(v.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for v in values)


def results_to_params(func: Func) -> None:
    """`return %alloc` -> an additional parameter instead of the allocation; a returned parameter is dropped, and a
    returned view, such as a reshaped buffer, is copied to a parameter of its shape.
    """
    if len(func.op.regions[0].blocks) != 1:
        raise LinalgError(f"function {func.name} has several basic blocks; only one is supported", func.op.location)
    end = list(func.body.operations)[-1].operation
    facts = _argument_facts(func)
    returned = list(dict.fromkeys(_source(v, end) for v in end.operands))
    for value in returned:
        if reshapes.is_view(value):
            type_ = ir.MemRefType(value.type)
            arg = func.body.add_argument(ir.MemRefType.get(type_.shape, type_.element_type), value.owner.location)
            with ir.InsertionPoint(end), value.owner.location:
                memref.copy(value, arg)
            facts.append(ir.DictAttr.get({}))
        elif not isinstance(value.owner, ir.Block):
            arg = func.body.add_argument(value.type, value.owner.location)
            value.replace_all_uses_with(arg)
            value.owner.operation.attributes[ALLOCATED_PARAMETER] = attrs.to_attr(len(facts))
            facts.append(ir.DictAttr.get({}))
    if len(end.operands):
        with ir.InsertionPoint(end), end.location:
            ir.Operation.create("func.return")
        end.erase()
    if "res_attrs" in func.op.attributes:
        del func.op.attributes["res_attrs"]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(facts)
    update_type(func)


def _source(value: ir.Value, end: ir.Operation) -> ir.Value:
    """The parameter, the allocation (also through casts) or the view that is returned."""
    while cast := defining_op(value, MemrefCastOp):
        value = cast.source
    owner = value.owner
    if isinstance(owner, ir.Block) or isa(owner, AllocOp) or reshapes.is_view(value):
        if isinstance(value.type, ir.MemRefType):
            return value
    what = "a parameter" if isinstance(owner, ir.Block) else owner.name
    raise LinalgError(
        f"the function returns a {value.type} made by {what}; it may return whole buffers that it "
        "allocates, or write its results to parameters",
        end.location,
    )


def _argument_facts(func: Func) -> list[ir.Attribute]:
    """The attributes of the arguments, none of those that were added."""
    existing = list(ir.ArrayAttr(func.op.attributes["arg_attrs"])) if "arg_attrs" in func.op.attributes else []
    return [*existing, *(ir.DictAttr.get({}) for _ in func.args[len(existing) :])]


def update_type(func: Func) -> None:
    """Set the type of the function to that of its block arguments, without results."""
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in func.args], []))


def run_upstream(module: ir.Module, passes: Sequence[str], hint: str = "") -> None:
    """Run passes in order, in place. Errors: LinalgError with the first diagnostic, followed by `hint`."""
    errors: list[Any] = []

    def take(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            errors.append((diagnostic.message, diagnostic.location))
        return True

    context: Any = module.context
    handler = context.attach_diagnostic_handler(take)
    # otherwise the bindings abort when a pass emits an error but succeeds
    context.emit_error_diagnostics = True
    try:
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        errors = errors or [(str(error).splitlines()[0], None)]
    finally:
        context.emit_error_diagnostics = False
        handler.detach()
    if errors:
        message, location = errors[0]
        raise LinalgError(message + hint, location)


# --- `math.fpowi` with a known exponent as products ------------------------------------------------------------------


MOST = 64
"""The largest exponent that becomes products."""


def expand_integer_powers(module: ir.Module) -> None:
    """Replace each power of a float by a known integer, in place: by squares, and products of them.

        math.fpowi %x, 3   -->   %x2 = %x * %x; %x2 * %x
        math.fpowi %x, -2  -->   1 / (%x * %x)

    Errors: LinalgError for an exponent that is not a constant, or beyond 64.
    """
    for power in walk.views_in(module.operation, FPowIOp):
        with ir.InsertionPoint(power.op), power.op.location:
            power.result.replace_all_uses_with(_power(power.lhs, _exponent(power)))
        power.op.erase()


def _exponent(power: FPowIOp) -> int:
    owner = power.rhs.owner
    if isinstance(owner, ir.Block) or not isa(owner, ConstantOp):
        raise LinalgError(
            "the exponent of math.fpowi is not a constant; fix: math.powf, with it as a float", power.op.location
        )
    number = ir.IntegerAttr(owner.attributes["value"]).value
    if abs(number) > MOST:
        raise LinalgError(
            f"math.fpowi with the exponent {number}; fix: math.powf, with it as a float", power.op.location
        )
    return number


def _power(base: ir.Value, exponent: int) -> ir.Value:
    product, square, bits = None, base, abs(exponent)
    while bits:
        if bits & 1:
            product = square if product is None else arith.mulf(product, square)
        bits >>= 1
        square = arith.mulf(square, square) if bits else square
    if product is not None and exponent > 0:
        return product
    unit = arith.constant(base.type, ir.FloatAttr.get(base.type, 1.0))
    return unit if product is None else arith.divf(unit, product)


# --- a destination of its own for each linalg op, where the program shares one `tensor.empty` ------------------------


def own_destinations(module: ir.Module) -> None:
    """Repeat what makes a tensor of no values, or of one number, for each op that writes it, in place.

        %e = tensor.empty()                                 %e = tensor.empty()
        %p = linalg.fill ins(%zero) outs(%e)                %p = linalg.fill ins(%zero) outs(%e)
        %q = linalg.matmul ins(%a, %b) outs(%p)     ->      %q = linalg.matmul ins(%a, %b) outs(%p)
        %r = linalg.add ins(%q, %c) outs(%e)                %e1 = tensor.empty()
                                                            %r = linalg.add ins(%q, %c) outs(%e1)

    Common subexpression elimination joins them. In one buffer the second op would overwrite what the first one made,
    and no step could move or fuse them.
    """
    for kind in (FillOp, EmptyOp):
        for op in [o for o in walk.ops(module.operation) if isa(o, kind) and len(o.results) == 1]:
            if kind is FillOp and not _is_empty(FillOp(op).target):
                continue
            for use in _destination_uses(op)[1:]:
                with ir.InsertionPoint(use.owner):
                    use.owner.operands[use.operand_number] = op.clone().results[0]


def _destination_uses(op: ir.Operation) -> list[ir.OpOperand]:
    """The uses of a result as a destination of linalg ops, in the order of the program."""
    uses = [use for use in op.results[0].uses if _is_destination(use)]
    return uses[::-1]  # MLIR lists the last one first


def _is_destination(use: ir.OpOperand) -> bool:
    owner = use.owner
    return owner.name.startswith("linalg.") and use.operand_number >= len(owner.operands) - len(owner.results)


def _is_empty(value: ir.Value) -> bool:
    return defining_op(value, EmptyOp) is not None


# --- `linalg.softmax` on buffers as reductions and pointwise ops -----------------------------------------------------


def decompose_softmax(module: ir.Module) -> None:
    """Replace each softmax on buffers, in place.

        linalg.softmax dimension(1) ins(%A) outs(%B)
    -->
        m[i] = max over j of A[i, j];  e[i, j] = exp(A[i, j] - m[i]);  s[i] = sum over j of e[i, j]
        B[i, j] = e[i, j] / s[i]

    Errors: LinalgError for elements that are no floats.
    """
    for softmax in walk.views_in(module.operation, SoftmaxOp):
        _Softmax(softmax).run()
        softmax.op.erase()


class _Softmax:
    def __init__(self, softmax: SoftmaxOp):
        self.source, self.target, op = softmax.source, softmax.target, softmax.op
        self.op, self.type = op, ir.MemRefType(self.source.type)
        if not isinstance(self.type.element_type, (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)):
            raise LinalgError(f"linalg.softmax of {self.type.element_type}: its elements are floats", op.location)
        self.axis = ir.IntegerAttr(op.attributes["dimension"]).value
        self.kept = [d for d in range(self.type.rank) if d != self.axis]
        self.all = ir.AffineMap.get_identity(self.type.rank)
        self.row = ir.AffineMap.get(self.type.rank, 0, [ir.AffineExpr.get_dim(d) for d in self.kept])

    def run(self) -> None:
        with ir.InsertionPoint(self.op), self.op.location:
            largest = self._buffer(self.kept, float("-inf"))
            self._generic("max", [self.source], largest, [self.all, self.row], lambda x, m: arith.maximumf(x, m))
            powers = self._buffer(range(self.type.rank))
            self._generic("exp", [self.source, largest], powers, [self.all, self.row, self.all],
                          lambda x, m, _: math.exp(arith.subf(x, m)))  # fmt: skip
            total = self._buffer(self.kept, 0.0)
            self._generic("sum", [powers], total, [self.all, self.row], lambda x, s: arith.addf(s, x))
            self._generic("div", [powers, total], self.target, [self.all, self.row, self.all],
                          lambda x, s, _: arith.divf(x, s))  # fmt: skip

    def _buffer(self, axes: Sequence[int], start: float | None = None) -> ir.Value:
        """A buffer over some axes of the operand, filled with a number."""
        shape = [self.type.shape[a] for a in axes]
        sizes = [
            memref.dim(self.source, arith.constant(ir.IndexType.get(), a)) for a in axes if self.type.is_dynamic_dim(a)
        ]
        buffer = memref.alloc(ir.MemRefType.get(shape, self.type.element_type), sizes, [])
        if start is not None:
            with ir.Location.name("fill", self.op.location):
                value = arith.constant(self.type.element_type, ir.FloatAttr.get(self.type.element_type, start))
                linalg.fill(value, outs=[buffer])
        return buffer

    def _generic(
        self, word: str, inputs: Sequence[ir.Value], output: ir.Value, maps: Sequence[ir.AffineMap],
        value: Callable[..., ir.Value],
    ) -> None:  # fmt: skip
        """A generic over all axes: a reduction along that of the softmax if its output does not have it."""
        folds = maps[-1] == self.row
        kinds = ["R" if d == self.axis and folds else "S" for d in range(self.type.rank)]
        with ir.Location.name(f"softmax_{word}", self.op.location):
            generic = generic_op(inputs, [output], maps, kinds)
            with ir.InsertionPoint(generic.regions[0].blocks[0]):
                ir.Operation.create("linalg.yield", operands=[value(*generic.regions[0].blocks[0].arguments)])


# `tensor.reshape` to sizes that the program computes, as collapse_shape and expand_shape.


def rewrite_tensor_reshapes(module: ir.Module) -> None:
    """Replace each reshape whose shape is given by numbers or single values, in place.

        %s = tensor.from_elements %n, %c4        tensor.expand_shape %x [[0, 1]] output_shape [%n, 4]
        tensor.reshape %x(%s)              -->   (after tensor.collapse_shape to one axis, if %x has several)

    One whose shape is made otherwise remains, and is refused later.
    """
    for reshape in walk.views_in(module.operation, TensorReshapeOp):
        op, source, shape = reshape.op, reshape.source, reshape.shape
        sizes = _sizes(shape, ir.RankedTensorType(op.results[0].type), op)
        if sizes is None:
            continue
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(emit_reshape(source, ir.RankedTensorType(op.results[0].type), sizes))
        op.erase()
        if not any(True for _ in shape.uses) and not isinstance(shape.owner, ir.Block):
            shape.owner.operation.erase()


def _sizes(shape: ir.Value, result: ir.RankedTensorType, op: ir.Operation) -> list[ir.Value] | None:
    """The sizes of the dynamic dimensions of the result; None if they are no single values."""
    unknown = [d for d in range(result.rank) if result.is_dynamic_dim(d)]
    if not unknown:
        return []
    owner = defining_op(shape)
    if owner is None or not isa(owner, TensorFromElementsOp):
        return None
    values = [list(owner.operands)[d] for d in unknown]
    with ir.InsertionPoint(op), op.location:
        index = ir.IndexType.get()
        return [v if isinstance(v.type, ir.IndexType) else arith.index_cast(index, v) for v in values]


def emit_reshape(source: ir.Value, result_type: ir.RankedTensorType, sizes: Sequence[ir.Value]) -> ir.Value:
    """A tensor in another shape, at the insertion point. sizes: of its dynamic dimensions."""
    type_ = ir.RankedTensorType(source.type)
    unknown = ir.ShapedType.get_dynamic_size()
    if type_.rank > 1:
        count = unknown if not type_.has_static_shape else _product(type_.shape)
        flat = ir.RankedTensorType.get([count], type_.element_type)
        source = tensor.collapse_shape(flat, source, [list(range(type_.rank))])
    if result_type.rank == 0:
        return tensor.collapse_shape(result_type, source, [])
    if result_type.rank == 1 and type_.rank > 0:
        return source if source.type == result_type else tensor.cast(result_type, source)
    groups = [list(range(result_type.rank))] if type_.rank else []
    static = [
        unknown if result_type.is_dynamic_dim(d) else result_type.get_dim_size(d) for d in range(result_type.rank)
    ]
    return tensor.expand_shape(result_type, source, groups, list(sizes), static)


def _product(shape: Sequence[int]) -> int:
    product = 1
    for size in shape:
        product *= size
    return product


# Constant buffers (`memref.get_global`) as fills, or as parameters whose values come with the program.


_FIX = "fix: make it a parameter"


def constants_to_params(module: ir.Module, func: Func) -> dict[int, np.ndarray]:
    """Append a parameter for each constant that a function reads; one number everywhere is a fill instead.

        %w = memref.get_global @w : memref<2xf32>      -->   func.func @main(..., %w: memref<2xf32>)
        %z = memref.get_global @z  (of dense<0.0>)     -->   %z = memref.alloc(); linalg.fill ins(%c0) outs(%z)

    Returns the values by the number of the parameter. Errors: LinalgError for a constant without values.
    """
    arrays: dict[int, np.ndarray] = {}
    params: dict[str, ir.Value] = {}
    for op in [o for o in walk.ops(func.op) if isa(o, GetGlobalOp)]:
        name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        value = _initial_value(module, name, op)
        if (number := splat_of(value)) is not None:
            _fill(op, number)
        else:
            if name not in params:
                params[name] = func.body.add_argument(op.results[0].type, op.location)
                type_ = ir.MemRefType(op.results[0].type)
                arrays[len(func.args) - 1] = constant_array(module, value, type_, op.location)
            op.results[0].replace_all_uses_with(params[name])
        op.erase()
    return arrays


def erase_globals(module: ir.Module) -> None:
    """Erase the constants of a module, which no function reads any more."""
    for op in direct_ops(module.operation):
        if isa(op, GlobalOp):
            op.erase()


def _initial_value(module: ir.Module, name: str, op: ir.Operation) -> ir.Attribute:
    global_op = ir.SymbolTable(module.operation)[name].operation
    if "constant" not in global_op.attributes:
        raise LinalgError(f"the global buffer {name} is not a constant: {_FIX}", op.location)
    if isinstance(global_op.attributes.get("initial_value"), (type(None), ir.UnitAttr)):
        raise LinalgError(f"the constant {name} has no value: {_FIX}", op.location)
    return global_op.attributes["initial_value"].maybe_downcast()


def _fill(op: ir.Operation, number: ir.Attribute) -> None:
    """A copy of the constant becomes a fill of its target, other uses read a buffer that is filled."""
    buffer = op.results[0]
    type_ = ir.MemRefType(buffer.type)
    named = ir.Location.name("fill", op.location)
    copies = [u.owner.operation for u in buffer.uses if isa(u.owner, CopyOp) and u.operand_number == 0]
    for copy in copies:
        with ir.InsertionPoint(copy), named:
            linalg.fill(arith.constant(type_.element_type, number), outs=[CopyOp(copy).memref])
        copy.erase()
    if any(True for _ in buffer.uses):
        with ir.InsertionPoint(op), named:
            filled = memref.alloc(type_, [], [])
            ir.OpResult(filled).owner.operation.location = op.location  # its name in the text
            linalg.fill(arith.constant(type_.element_type, number), outs=[filled])
        buffer.replace_all_uses_with(filled)


def constant_array(module: ir.Module, value: ir.Attribute, type_: ir.ShapedType, location: ir.Location) -> np.ndarray:
    """The values of a constant as an array; bfloat16 as its bits. Errors: LinalgError if the text has none."""
    shape, element = tuple(type_.shape), type_.element_type
    if is_dense(value):
        return dense_array(value)
    name = re.match(r"dense_resource<([\w.$-]+)>", str(value))
    if name is None or array_dtype(element) == "bool":  # whose bytes may be bits
        raise LinalgError(f"the constant {str(value)[:40]} of {type_} is not dense<...>: {_FIX}", location)
    blob = _resource(module, name[1])
    dtype, count = array_dtype(element), int(np.prod(shape))
    if blob is None or len(blob) != count * np.dtype(dtype).itemsize:
        raise LinalgError(f"the text has no values for the constant dense_resource<{name[1]}>: {_FIX}", location)
    return np.frombuffer(blob, dtype).reshape(shape).copy()


def _resource(module: ir.Module, name: str) -> bytes | None:
    """The bytes of a resource: as text, the alignment in four bytes and then the data, in hexadecimal digits."""
    match = re.search(rf'\b{re.escape(name)}: "0x([0-9A-Fa-f]*)"', str(module).rpartition("{-#")[2])
    return bytes.fromhex(match[1])[4:] if match is not None else None
