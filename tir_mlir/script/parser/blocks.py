"""`with T.block(...)`: axes, predicate, declared regions, annotations, init."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.analysis.indirect_accesses import affine_value
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Block, Constraint, Index, IterSpec, annotation_keys, attrs, create
from tir_mlir.dialect.ir.op_views import ApplyOp, FloorDivOp, isa
from tir_mlir.dialect.presburger import disjunction, domain, holds, intervals, question
from tir_mlir.script.language.words import AXES
from tir_mlir.script.parser import arithmetic, calls, loops, regions
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.function_state import AllocationScope, BlockNodes
from tir_mlir.script.parser.items import AffineCondition, Const, ScriptValue, as_index, describe, dtype_of, is_expr
from tir_mlir.script.parser.source import ParseError

ParseBody = Callable[[list[ast.stmt]], None]
_HEADER = ("where", "reads", "writes", "block_attr")


@dataclass
class BlockHeader:
    """The statements of a block sorted into axes, predicates, regions, annotations and body."""

    axes: list[tuple[ast.expr, ast.Call]] = field(default_factory=list)
    where: list[ast.Call] = field(default_factory=list)
    reads: ast.Call | None = None
    writes: ast.Call | None = None
    annotations: dict[str, object] = field(default_factory=dict)
    body: list[ast.stmt] = field(default_factory=list)


def construct_of(evaluate: Evaluator, node: ast.AST | None) -> str | None:
    """The name of the construct that a call invokes, or None."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
        return None
    callee = evaluate(node.func)
    return getattr(callee, "tir_construct", None)


def header_of(evaluate: Evaluator, body: list[ast.stmt]) -> BlockHeader:
    """Sort the statements of a `with T.block` into its header and its body."""
    header = BlockHeader()
    for stmt in body:
        if is_breakpoint(stmt):
            header.annotations["breakpoint"] = True
            continue
        value = getattr(stmt, "value", None)
        word = _header_construct(evaluate, stmt, value)
        if word is None:
            header.body.append(stmt)
        elif word == "axis" or not isinstance(value, ast.Call):
            if any(not _is_doc(s) for s in header.body):
                raise evaluate.state.error(stmt, "the axes of a block come first, before its other statements")
            assert isinstance(stmt, ast.Assign)
            header.axes += _axis_pairs(stmt)
        elif word == "block_attr":
            header.annotations |= _attributes(evaluate, value)
        elif word == "where":
            header.where.append(value)
        elif value.keywords:
            raise evaluate.state.error(stmt, f"T.{word} takes regions only")
        elif getattr(header, word) is not None:
            raise evaluate.state.error(stmt, f"T.{word} is given twice in this block")
        else:
            setattr(header, word, value)
    return header


def _attributes(evaluate: Evaluator, call: ast.Call) -> dict[str, object]:
    annotations = evaluate.python(calls.bind(evaluate(call.func), call)["attributes"], "a block attribute")
    if not isinstance(annotations, dict):
        raise evaluate.state.error(call, f"T.block_attr takes a dictionary, not {annotations!r}")
    evaluate.state.source.check_annotations(call, annotations, annotation_keys.BLOCK)
    return annotations


def _header_construct(evaluate: Evaluator, stmt: ast.stmt, value: object) -> str | None:
    if isinstance(stmt, ast.Expr) and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute | ast.Name):
        if isinstance(value.func, ast.Attribute) and value.func.attr in ("access_ptr", "scope"):
            return None
        word = construct_of(evaluate, value)
        return word if word in _HEADER else None
    if isinstance(stmt, ast.Assign) and isinstance(value, ast.Call | ast.Tuple):
        first = value.elts[0] if isinstance(value, ast.Tuple) and value.elts else value
        is_call = isinstance(first, ast.Call) and isinstance(first.func, ast.Attribute)
        if is_call and isinstance(first.func.value, ast.Attribute) and first.func.value.attr == "axis":  # type: ignore[union-attr]
            return "axis"
    return None


def is_breakpoint(stmt: ast.stmt) -> bool:
    """Whether a statement is `breakpoint()`, where the interpreter stops."""
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and ast.unparse(stmt.value) == "breakpoint()"


def _is_doc(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _axis_pairs(stmt: ast.Assign) -> list[tuple[ast.expr, ast.Call]]:
    target, value = stmt.targets[0], stmt.value
    if isinstance(value, ast.Tuple) and isinstance(target, ast.Tuple) and len(value.elts) == len(target.elts):
        return list(zip(target.elts, value.elts, strict=True))  # type: ignore[arg-type]
    return [(target, value)]  # type: ignore[list-item]


# ---- axes


def iters_of(evaluate: Evaluator, header: BlockHeader) -> list[tuple[IterSpec, ast.expr, ast.AST]]:
    """One spec per iter, with the target that names it and the node that declares it."""
    iters: list[tuple[IterSpec, ast.expr, ast.AST]] = []
    for target, node in header.axes:
        word = construct_of(evaluate, node)
        try:
            if word == "remap":
                iters += _remap(evaluate, target, node)
            elif word in AXES:
                iters.append((_axis(evaluate, word, target, node), target, node))
            else:
                raise ParseError("not an axis of T.axis")
        except ParseError as refused:
            raise evaluate.state.error(node, str(refused)) from None
    names = [spec.name for spec, _, _ in iters]
    for (spec, _, node), position in zip(iters, range(len(names)), strict=True):
        if spec.name in names[:position]:
            raise evaluate.state.error(node, f"iter {spec.name} is declared twice in this block")
    return iters


def _target_name(target: ast.expr) -> str:
    if isinstance(target, ast.Tuple) and len(target.elts) == 1:
        target = target.elts[0]
    if not isinstance(target, ast.Name):
        raise ParseError("an axis declares one iter: vi = T.axis.spatial(extent, value)")
    return target.id


def _axis(evaluate: Evaluator, word: str, target: ast.expr, node: ast.Call) -> IterSpec:
    args = calls.bind(evaluate(node.func), node)
    low, extent = _domain(evaluate, args["domain"])
    with evaluate.state.source.location(node):
        binding = _binding(evaluate, args["value"], _target_name(target))
    return IterSpec(_target_name(target), AXES[word], low, extent, binding, _is_wide(evaluate, args["domain"]))


def _is_wide(evaluate: Evaluator, node: ast.expr) -> bool:
    """Whether a domain is of int64."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return any(arithmetic.is_wide(evaluate(part)) for part in parts)


def _binding(evaluate: Evaluator, node: ast.expr, name: str) -> Any:
    """The value bound to an iter: an affine expression, or an integer computed otherwise (an item `Value`)."""
    item = evaluate(node)
    index = as_index(item)
    if index is not None:
        return index
    if not is_expr(item) or not dtype_of(item).startswith(("int", "uint")):
        raise evaluate.state.error(node, f"the value bound to {name} must be an integer, not {describe(item)}")
    if isinstance(item, ScriptValue) and isinstance(item.ssa.type, ir.IndexType):
        return item  # indices are computed in 64 bits
    return arithmetic.cast(item, dtype_of(item))


def _domain(evaluate: Evaluator, node: ast.expr) -> tuple[Index, Index]:
    """Lower bound and extent of a domain: `128` is [0, 128), `(4, 12)` is [4, 12)."""
    if isinstance(node, ast.Tuple | ast.List):
        if len(node.elts) != 2:
            raise ParseError("the domain of an axis is an extent, or (begin, end)")
        low, high = (_domain_bound(evaluate, e) for e in node.elts)
        return low, (high - low).simplify()
    return Index.constant(0), _domain_bound(evaluate, node)


def _domain_bound(evaluate: Evaluator, node: ast.expr) -> Index:
    """A bound of a domain; it must be invariant in the function."""
    index = evaluate.index(node, "the domain of an axis")
    if not all(regions.is_size(v) for v in index.values):
        raise ParseError(
            f"the domain of an axis is made of numbers and sizes; {ast.unparse(node)} varies between runs of the "
            "block: declare the largest domain, and restrict it by T.where or by a loop inside the block"
        )
    return index


def _remap(evaluate: Evaluator, target: ast.expr, node: ast.Call) -> list[tuple[IterSpec, ast.expr, ast.AST]]:
    args = calls.bind(evaluate(node.func), node)
    kinds = evaluate.python(args["kinds"], "the kinds of axes")
    values = args["loops"].elts if isinstance(args["loops"], ast.List | ast.Tuple) else [args["loops"]]
    targets = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if not isinstance(kinds, str):
        raise ParseError(f'the kinds in T.axis.remap are a string of S, R and O, such as "SSR", not {kinds!r}')
    if len(kinds) != len(values) or len(targets) != len(values):
        counts = f"{len(kinds)} kinds, {len(values)} loops and {len(targets)} names"
        raise ParseError(f"T.axis.remap has {counts}; it needs as many of each")
    iters = []
    for letter, value, name in zip(kinds, values, targets, strict=True):
        if letter not in ("S", "R", "O"):
            raise ParseError(f'the kind of an axis in T.axis.remap is "S", "R" or "O", not "{letter}"')
        item = evaluate(value)
        var = item.is_value() if isinstance(item, Index) else None
        loop = evaluate.state.loops.get(var) if var is not None else None
        if loop is None or not isinstance(item, Index):
            expression = ast.unparse(value)
            raise ParseError(f"T.axis.remap binds loop variables, not {expression}: use T.axis.spatial(extent, value)")
        low, extent = loops.domain_of(loop)
        wide = attrs.is_wide(loop.var)
        iters.append((IterSpec(_target_name(name), letter, low, extent, item, wide), name, value))
    return iters


# ---- the block


def with_block(evaluate: Evaluator, node: ast.With, call: ast.Call, run: ParseBody, is_only: bool) -> None:
    """Parse a `with T.block(name):` statement. `is_only`: it is the only statement of the function."""
    state = evaluate.state
    args = calls.bind(evaluate(call.func), call)
    name = evaluate.python(args["name"], "the name of a block") if "name" in args else ""
    if not isinstance(name, str):
        raise state.error(call, f"the name of a block is a string, not {name!r}")
    state.scope.in_header = True
    try:
        header = header_of(evaluate, node.body)
        emitted = list(ir.InsertionPoint.current.block.operations)
        specs = iters_of(evaluate, header)
        predicate = predicate_of(evaluate, header.where, [s for s, _, _ in specs])
    finally:
        state.scope.in_header = False
    if is_only and not specs and not predicate and _no_regions(header) and _is_root(evaluate, name, header):
        _root(header)
        run(header.body)
        return
    with state.source.location(node):
        locations = [state.source.location(axis) for _, _, axis in specs]
        anchor, iters = insert_predicate(predicate, [s for s, _, _ in specs], emitted, locations)
        with anchor:
            encoded = {key: header.annotations.pop(key, None) for key in attrs.OF_REGIONS}  # no annotations
            block = create.block(name, iters, header.annotations)
            for key, words in encoded.items():
                attrs.put(block.op, key, words)
    block_nodes = BlockNodes(call, {s.name: anchor for s, _, anchor in specs}, header.reads, header.writes)
    state.block_nodes[block.id] = block_nodes
    with state.nest("a block", block_with_iters=bool(specs)):
        _body(evaluate, block, specs, header, run)
        state.scope.in_regions = True
        regions.declare_regions(evaluate, block, header.reads, header.writes)
        state.scope.in_regions = False


def _is_root(evaluate: Evaluator, name: str, header: BlockHeader) -> bool:
    """Whether a block is the root block: it is named root, or unnamed without views and init."""
    if name:
        return name == "root"
    starts = [s.items[0].context_expr for s in header.body if isinstance(s, ast.With)]
    values = [s.value for s in header.body if isinstance(s, ast.Assign)]
    return not any(construct_of(evaluate, node) in ("init", "match_buffer") for node in (*starts, *values))


def _root(header: BlockHeader) -> None:
    """Move the annotations of the root block to the function, which stands for it."""
    if header.annotations:
        func = ir.InsertionPoint.current.block.owner.operation
        attrs.put(func, attrs.ANNOTATIONS, header.annotations)


def _no_regions(header: BlockHeader) -> bool:
    return not any(regions.region_nodes(call) for call in (header.reads, header.writes) if call is not None)


def _body(
    evaluate: Evaluator,
    block: Block,
    specs: Sequence[tuple[IterSpec, ast.expr, ast.AST]],
    header: BlockHeader,
    run: ParseBody,
) -> None:
    state = evaluate.state
    for (spec, target, _), value in zip(specs, block.body.arguments, strict=False):
        state.scope.define(spec.name, Index.from_value(value), target, "iter")
    state.allocation_scopes.append(AllocationScope(block.body))
    state.blocks.append(block)
    try:
        with create.at_end(block.body):
            run(header.body)
    finally:
        state.blocks.pop()
        state.allocation_scopes.pop()


def with_init(evaluate: Evaluator, node: ast.With, run: ParseBody) -> None:
    """Parse `with T.init():`, directly in the body of a block."""
    state = evaluate.state
    block = state.blocks[-1] if state.blocks else None
    if block is None or ir.InsertionPoint.current.block != block.body:
        raise state.error(node, "T.init must be directly in the body of a block")
    if block.init is not None:
        raise state.error(node, "this block already has a T.init")
    with state.source.location(node):
        with state.allocation_scopes[-1].point():
            op = create.init(block)
        with create.at_end(op.regions[0].blocks[0]), state.nest("T.init"):
            run(node.body)


@dataclass
class BlockPredicate:
    """A conjunction: affine conditions of the loops, and computed bools."""

    affine: list[Constraint] = field(default_factory=list)
    tests: list[ir.Value] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.affine or self.tests)


def insert_predicate(
    predicate: BlockPredicate, specs: Sequence[IterSpec], prior: Sequence[object], locations: Sequence[ir.Location]
) -> tuple[ir.InsertionPoint, list[IterSpec]]:
    """The position of a block, and its iters, bound to affine expressions.

    An affine predicate is an `affine.if`, a computed one an `scf.if`, a computed binding a search of its domain (see
    `create.bound_value`). If the ops that compute others (those not in `prior`) must not run where the affine one does
    not hold, as they load or divide, it is an `if` around these. `locations`: where the iters are declared.
    """
    guard, point = predicate.affine, ir.InsertionPoint.current
    values = [arithmetic.index_of(s.binding) if isinstance(s.binding, ScriptValue) else None for s in specs]
    if guard and (predicate.tests or any(v is not None for v in values)):
        computed = [op.operation for op in point.block.operations if op not in prior and len(op.results)]
        if not all(map(_runs_anywhere, computed)):
            outer = create.guard(guard).regions[0].blocks[0]
            for op in computed:
                op.move_before(list(outer.operations)[-1])
            guard, point = [], create.at_end(outer)
    with point:
        test = _all(predicate.tests) if predicate.tests else None
    bound_iters = []
    for spec, value, location in zip(specs, values, locations, strict=True):
        if value is not None:
            with point, location:
                loop, body = create.bound_value(spec.name, spec.min, spec.extent, value)
            spec, point = replace(spec, binding=Index.from_value(loop.var)), create.at_end(body)
        bound_iters.append(spec)
    with point:
        if test is not None:
            point = create.at_end(create.data_where(test).regions[0].blocks[0])
    with point:
        if guard:
            point = create.at_end(create.where(guard).regions[0].blocks[0])
    return point, bound_iters


def _runs_anywhere(op: ir.Operation) -> bool:
    """Whether an op may run where a guard does not hold: arithmetic that divides by nothing that may be 0."""
    if not op.name.startswith("arith.") or isa(op, FloorDivOp):
        return isa(op, ApplyOp) or (isa(op, FloorDivOp) and _divides_by_size(op))
    return "div" not in op.name and "rem" not in op.name


def _divides_by_size(op: ir.Operation) -> bool:
    """Whether the divisor is at least 1 in all iterations of the loops around, as `m` is in `range(n * m)`."""
    divisor = affine_value(FloorDivOp(op).rhs, op)
    try:
        with question("whether a divisor may be 0"):
            return divisor is not None and holds(domain(op, extra=[divisor]), divisor - 1)
    except NotProvable:
        return False


def _all(tests: Sequence[ir.Value]) -> ir.Value:
    conjunction = tests[0]
    for test in tests[1:]:
        conjunction = arith.andi(conjunction, test)
    return conjunction


def predicate_of(evaluate: Evaluator, calls: Sequence[ast.Call], specs: Sequence[IterSpec]) -> BlockPredicate:
    """The conjunction of all T.where of a block; iters are replaced by their bindings."""
    predicate = BlockPredicate()
    with evaluate.state.scope.frame():
        for call in calls:
            for spec in specs:
                evaluate.state.scope.define(spec.name, spec.binding, call, "value")
            if len(call.args) != 1:
                raise evaluate.state.error(call, "T.where takes one condition; join several with `and`")
            for part in _conjuncts(call.args[0]):
                try:
                    condition = _condition(evaluate, call, part)
                except ParseError as refused:
                    raise evaluate.state.error(call, str(refused)) from None
                if isinstance(condition, ir.Value):
                    predicate.tests.append(condition)
                else:
                    predicate.affine += condition
    return predicate


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    """`a and (b or c)` -> a, `b or c`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for value in node.values for part in _conjuncts(value)]
    return [node]


def _condition(evaluate: Evaluator, call: ast.Call, node: ast.expr) -> list[Constraint] | ir.Value:
    """A conjunct of T.where: an affine comparison, or the disjunction of two; anything else as a computed bool."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        sides = [evaluate(value) for value in node.values]
        parts = [_constraints(side) for side in sides]
        if [len(part or ()) for part in parts] == [1, 1]:
            box = intervals.body_ranges(ir.InsertionPoint.current.block.owner.operation)
            first, second = (p for part in parts for p in part or ())
            if (both := disjunction(first, second, box)) is not None:
                return [both]
        test = arithmetic.logical("or", *sides)
    else:
        test = arithmetic.condition(evaluate(node))
    if test == Const(True):
        return []
    affine = _constraints(test)
    if affine is not None:
        return affine
    with evaluate.state.source.location(call):
        return arithmetic.to_value(test, "bool")


def _constraints(item: object) -> list[Constraint] | None:
    """The affine constraints that a condition is the conjunction of, if it is one."""
    return item.constraints() if isinstance(item, AffineCondition) else None
