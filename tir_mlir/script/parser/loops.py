"""Parsing of `for` statements: T.grid, T.serial / range, T.parallel, T.vectorized, T.unroll, T.thread_binding; and of
loops over Python values, which are unrolled."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from mlir import ir

from tir_mlir.dialect.ir import Index, Loop, annotation_keys, attrs, create
from tir_mlir.dialect.presburger import intervals
from tir_mlir.script.language.words import LOOPS
from tir_mlir.script.parser import arithmetic, calls
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.items import (
    AffineExtremum,
    Const,
    ScriptValue,
    as_const,
    as_index,
    describe,
    dtype_of,
    is_expr,
)
from tir_mlir.script.parser.regions import is_size
from tir_mlir.script.parser.source import ParseError

_TAGS = ("blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z", "core")
_FORMS = "T.grid(...), range(n), T.serial(n), T.parallel(n), T.vectorized(n), T.unroll(n) or T.thread_binding(n, tag)"
_MOST_STATIC = 10_000
"""Iterations of a static loop; more of them are a mistake, and would take minutes to parse."""


def parse_for(evaluate: Evaluator, node: ast.For, run: Callable[[list[ast.stmt]], None]) -> None:
    """Parse a `for` statement: create its loops, outermost first, and parse its body."""
    state = evaluate.state
    if node.orelse:
        raise state.error(node.orelse[0], "a for loop cannot have an else branch")
    call = node.iter
    word, callee = _word(evaluate, call) if isinstance(call, ast.Call) else ("", None)
    if not word or word == "static_range" or not isinstance(call, ast.Call):
        _unroll(evaluate, node, _static_range(evaluate, callee, call) if word else evaluate(call), run)
        return
    if word == "grid":
        targets = list(node.target.elts) if isinstance(node.target, ast.Tuple) else [node.target]
        if call.keywords:
            raise state.error(call, "T.grid takes extents only")
        if len(targets) != len(call.args):
            raise state.error(node.target, f"T.grid has {len(call.args)} extents for {len(targets)} loop variables")
        zero = [Index.constant(0)]
        bounds = [Bounds(zero, upper, a, _is_wide(evaluate, upper, a)) for a in call.args
                  for upper in [_parse_bound(evaluate, a, "min")]]  # fmt: skip
        _nest(evaluate, node, list(zip(targets, bounds, strict=True)), "serial", {}, run)
        return
    args = _arguments(evaluate, word, callee, call)
    start, stop = args.get("start"), args.get("stop")
    if start is None:
        raise state.error(call, "a loop needs an extent")
    low = _parse_bound(evaluate, start, "max") if stop is not None else [Index.constant(0)]
    end = stop if stop is not None else start
    upper = _parse_bound(evaluate, end, "min")
    bounds = Bounds(low, upper, end, _is_wide(evaluate, upper, end))
    kind = LOOPS.get(word) or _tag(evaluate, args, call)
    notes = evaluate.python(args["annotations"], "an annotation") if "annotations" in args else None
    notes = notes or {}
    if not isinstance(notes, dict):
        raise state.error(args["annotations"], f"the annotations of a loop are a dictionary, not {notes!r}")
    state.source.check_annotations(call, notes, annotation_keys.LOOP)
    _nest(evaluate, node, [(node.target, bounds)], kind, notes, run)


def is_launch(evaluate: Evaluator, stmt: ast.stmt) -> bool:
    """Whether a statement is `tx = T.launch_thread(axis, n)`, a loop around the rest of its body."""
    call = stmt.value if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
    if not isinstance(call, ast.Call):
        return False
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if not name.endswith("launch_thread"):
        return False
    return getattr(evaluate(call.func), "tir_construct", None) == "launch_thread"


def parse_launch(
    evaluate: Evaluator,
    target: ast.expr | None,
    call: ast.Call,
    body: Sequence[ast.stmt],
    run: Callable[[list[ast.stmt]], None],
) -> None:
    """`tx = T.launch_thread(axis, n)` as a thread-bound loop around `body`."""
    try:
        args = calls.bind(evaluate(call.func), call)
    except ParseError as refused:
        raise evaluate.state.error(call, str(refused)) from None
    if target is None:
        raise evaluate.state.error(call, 'name the loop: with T.launch_thread("threadIdx.x", 32) as tx')
    loop = ast.copy_location(ast.For(target=target, iter=call, body=list(body), orelse=[]), call)
    bounds = Bounds([Index.constant(0)], _parse_bound(evaluate, args["extent"], "min"), args["extent"])
    _nest(evaluate, loop, [(target, bounds)], _tag(evaluate, args, call), {}, run)


def _word(evaluate: Evaluator, call: ast.Call) -> tuple[str, object]:
    """The kind of loop that a call makes, "" for a call of a Python function."""
    callee = evaluate(call.func)
    if callee is range:
        return "serial", callee
    word = getattr(callee, "tir_construct", None)
    if word is None and callable(callee):
        return "", callee
    if word not in (*LOOPS, "grid", "thread_binding", "static_range"):
        raise evaluate.state.error(call, f"a loop iterates over {_FORMS}, not {ast.unparse(call.func)}(...)")
    return word, callee


# ---- loops over Python values


def _static_range(evaluate: Evaluator, callee: object, call: ast.expr) -> range:
    """The iterations of `T.static_range(start, stop, step)`."""
    state = evaluate.state
    assert isinstance(call, ast.Call)
    try:
        args = calls.bind(callee, call)
    except ParseError as refused:
        raise state.error(call, str(refused)) from None
    numbers: dict[str, int] = {}
    for name, node in args.items():
        item = evaluate(node)
        number = as_const(item) if is_expr(item) else item
        if number is None and not is_expr(item):
            continue  # stop=None
        if isinstance(number, bool) or not isinstance(number, int):
            way = "use range(n) or T.serial(n) for a loop that runs with the program"
            text = f"T.static_range is unrolled when the program is parsed: its {name} is a Python integer"
            raise state.error(node, f"{text}, not {describe(item)}; {way}")
        numbers[name] = number
    if numbers.get("step") == 0:
        raise state.error(call, "the step of T.static_range is 0")
    start, stop = numbers["start"], numbers.get("stop")
    return range(*((0, start) if stop is None else (start, stop)), numbers.get("step", 1))


def _unroll(evaluate: Evaluator, node: ast.For, items: object, run: Callable[[list[ast.stmt]], None]) -> None:
    """Parse the body once for each item, with the target bound to it.

    As in Python, the names that the body binds to values keep them in the next iteration, and after the loop; buffers
    belong to their iteration.
    """
    scope = evaluate.state.scope
    frame, outer = scope.frames[-1], scope.unrolled
    assigned = {n.id for stmt in node.body for n in ast.walk(stmt) if isinstance(n, ast.Name) and _is_store(n)}
    scope.unrolled = outer | assigned
    for item in _static_items(evaluate, node, items):
        outer_names = set(frame)
        _bind(evaluate, node.target, item)
        run(node.body)
        for name in [n for n, bound in frame.items() if n not in outer_names and bound.kind == "buffer"]:
            scope.ended[name] = frame.pop(name)
    scope.unrolled = outer


def _is_store(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _static_items(evaluate: Evaluator, node: ast.For, items: object) -> list[object]:
    """The items of a static loop."""
    error = evaluate.state.error
    if is_expr(items) or isinstance(items, str | bytes | set | frozenset) or not isinstance(items, Iterable):
        what = "a set, which has no order" if isinstance(items, set | frozenset) else describe(items)
        text = f"a loop iterates over {_FORMS}, or over a tuple, list or range of Python values; this is {what}"
        raise error(node.iter, text)
    try:
        iterations = list(islice(items, _MOST_STATIC + 1))
    except Exception as failure:
        raise error(node.iter, f"{type(failure).__name__} while iterating: {failure}") from None
    if len(iterations) > _MOST_STATIC:
        text = f"this static loop has more than {_MOST_STATIC} iterations, each of which is parsed"
        raise error(node.iter, f"{text}; use range(n) or T.serial(n) for a loop that runs with the program")
    return iterations


def _bind(evaluate: Evaluator, target: ast.expr, item: object) -> None:
    """Bind the target of a static loop: a name, or nested tuples of names."""
    error = evaluate.state.error
    if isinstance(target, ast.Name):
        try:
            evaluate.state.scope.define(target.id, item, target, "value")
        except ParseError as refused:
            raise error(target, str(refused)) from None
        return
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(e, ast.Starred) for e in target.elts):
        raise error(target, f"a static loop binds names, not {ast.unparse(target)}")
    parts = list(item) if isinstance(item, Iterable) and not isinstance(item, str | bytes) else None
    if parts is None or len(parts) != len(target.elts):
        raise error(target, f"{describe(item)} cannot be unpacked into {ast.unparse(target)}")
    for element, part in zip(target.elts, parts, strict=True):
        _bind(evaluate, element, part)


def _arguments(evaluate: Evaluator, word: str, callee: object, call: ast.Call) -> dict[str, ast.expr]:
    if callee is range:
        if len(call.args) > 2 or call.keywords:
            message = "range takes an extent, or a start and a stop; for a step, scale the index"
            raise evaluate.state.error(call, message)
        return dict(zip(("start", "stop"), call.args, strict=False))
    try:
        args = calls.bind(callee, call)
    except ParseError as refused:
        raise evaluate.state.error(call, str(refused)) from None
    if word == "thread_binding" and "stop" in args and "thread" not in args and _is_string(args["stop"]):
        args["thread"] = args.pop("stop")
    if isinstance(args.get("stop"), ast.Constant) and args["stop"].value is None:  # type: ignore[attr-defined]
        del args["stop"]
    return args


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _tag(evaluate: Evaluator, args: dict[str, ast.expr], call: ast.Call) -> str:
    tag = evaluate.python(args["thread"], "a thread axis") if "thread" in args else ""
    if tag not in _TAGS and not str(tag).startswith("vthread"):
        raise evaluate.state.error(call, f"{tag!r} is not a thread axis; use one of {', '.join(_TAGS)}")
    return str(tag)


@dataclass(frozen=True)
class Bounds:
    """The bounds of a loop: each the operands of a maximum (minimum) of affine expressions, or one value from data."""

    lowers: list[Index] | ScriptValue
    uppers: list[Index] | ScriptValue
    node: ast.expr
    wide: bool = False  # of int64

    @property
    def extent(self) -> int | None:
        if isinstance(self.lowers, ScriptValue) or isinstance(self.uppers, ScriptValue) or len(self.lowers) > 1:
            return None
        return (self.uppers[0] - self.lowers[0]).simplify().as_constant()


def _parse_bound(evaluate: Evaluator, node: ast.expr, op: str) -> list[Index] | ScriptValue:
    """A bound: affine expressions (several for T.min of an upper, T.max of a lower bound), or an integer from data."""
    item = evaluate(node)
    if isinstance(item, AffineExtremum) and item.op == op:
        return list(item.parts)
    index = as_index(item)
    if index is not None:
        return [index]
    if not is_expr(item) or not dtype_of(item).startswith(("int", "uint")):
        raise evaluate.state.error(node, f"a loop bound must be an integer expression, not {describe(item)}")
    with evaluate.state.source.location(node):
        return arithmetic.cast(item, "int64" if dtype_of(item) in ("int64", "uint32", "uint64") else "int32")


def _is_wide(evaluate: Evaluator, bound: list[Index] | ScriptValue, node: ast.expr) -> bool:
    """Whether a bound is an affine expression of int64."""
    return not isinstance(bound, ScriptValue) and arithmetic.is_wide(evaluate(node))


def _nest(
    evaluate: Evaluator,
    node: ast.For,
    parts: list[tuple[ast.expr, Bounds]],
    kind: str,
    annotations: dict[str, object],
    run: Callable[[list[ast.stmt]], None],
) -> None:
    if not parts:
        run(node.body)
        return
    (target, bounds), inner = parts[0], parts[1:]
    state = evaluate.state
    if not isinstance(target, ast.Name):
        raise state.error(target, "a loop variable is a plain name")
    extent = bounds.extent
    if extent is not None and extent < 0:
        raise state.error(bounds.node, f"loop {target.id} has a negative extent: {extent}")
    with state.source.location(node):
        body, variable = _loop(evaluate, target.id, bounds, kind, annotations)
    with state.nest("a loop", repeats=True), create.at_end(body):
        state.scope.define(target.id, variable, target, "loop")
        _nest(evaluate, node, inner, kind, annotations, run)


def _loop(
    evaluate: Evaluator, name: str, bounds: Bounds, kind: str, annotations: dict[str, object]
) -> tuple[ir.Block, Index | ScriptValue]:
    """Create an empty loop: `affine.for`, or `scf.for` where a bound is not an affine expression. Its body and
    variable."""
    if not isinstance(bounds.lowers, ScriptValue) and not isinstance(bounds.uppers, ScriptValue):
        loop = create.loop(name, bounds.lowers, bounds.uppers, kind, annotations)
        attrs.put(loop.op, attrs.DTYPE, "int64" if bounds.wide else None)
        evaluate.state.loops[loop.var] = loop
        return loop.body, Index.from_value(loop.var)
    if kind != "serial" or annotations:
        what = f"is {kind}" if kind != "serial" else "has annotations"
        raise evaluate.state.error(
            bounds.node, f"loop {name} {what}, but its bounds are computed from data; only a plain serial loop may be"
        )
    op = create.data_loop(name, _as_value(bounds.lowers, "max"), _as_value(bounds.uppers, "min"))
    body = op.regions[0].blocks[0]
    return body, ScriptValue(body.arguments[0], "int32")


def _as_value(bound: list[Index] | ScriptValue, op: str) -> ir.Value:
    """A bound as an SSA value of type `index`."""
    item = (
        bound if isinstance(bound, ScriptValue) else bound[0] if len(bound) == 1 else AffineExtremum(op, tuple(bound))
    )
    return arithmetic.index_of(item)


def parse_while(evaluate: Evaluator, node: ast.While, run: Callable[[list[ast.stmt]], None]) -> None:
    """Parse a `while` statement; its condition is evaluated before every iteration."""
    state = evaluate.state
    if node.orelse:
        raise state.error(node.orelse[0], "a while loop cannot have an else branch")

    def test() -> ir.Value:
        item = arithmetic.condition(evaluate(node.test))
        if isinstance(item, Const):
            never = "runs forever" if item.value else "never runs"
            raise state.error(node.test, f"the condition of this while is constant: the loop {never}")
        return arithmetic.to_value(item, "bool")

    with state.nest("a while", repeats=True):
        with state.source.location(node):
            op = create.while_loop(test)
        with create.at_end(op.regions[1].blocks[0]):
            run(node.body)


def domain_of(loop: Loop) -> tuple[Index, Index]:
    """Lower bound and extent of the domain of an iter bound to a loop.

    For a loop whose bounds use other loops (`for j in range(i)`), the interval hull of its values.
    """
    single = len(loop.lowers) == 1 and len(loop.uppers) == 1
    if single and all(is_size(v) for v in (*loop.lower.values, *loop.upper.values)):
        return loop.lower, loop.extent
    low, high = intervals.body_ranges(loop.op)[loop.var]
    if low is None or high is None:
        what = "uses other loops" if single else "is not a single expression"
        raise ParseError(f"the range of loop {loop.name} {what}: write the domain, T.axis.spatial(n, {loop.name})")
    return Index.constant(low), Index.constant(max(high - low + 1, 0))
