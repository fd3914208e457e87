"""Parsing of `for` statements: T.grid, T.serial / range, T.parallel, T.vectorized, T.unroll, T.thread_binding."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tir_mlir.dialect.ir import Index, Loop, create
from tir_mlir.dialect.presburger import intervals
from tir_mlir.script.language.operations import LOOPS
from tir_mlir.script.parser import calls
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.items import AffineMin, as_index, describe
from tir_mlir.script.parser.regions import is_size
from tir_mlir.script.parser.source import ParseError

_TAGS = ("blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z")
_FORMS = "T.grid(...), range(n), T.serial(n), T.parallel(n), T.vectorized(n), T.unroll(n) or T.thread_binding(n, tag)"


def parse_for(evaluate: Evaluator, node: ast.For, run: Callable[[list[ast.stmt]], None]) -> None:
    """Parse a `for` statement: create its loops, outermost first, and parse its body."""
    state = evaluate.state
    if node.orelse:
        raise state.error(node.orelse[0], "a for loop cannot have an else branch")
    if not isinstance(node.iter, ast.Call):
        raise state.error(node.iter, f"a loop iterates over {_FORMS}")
    call = node.iter
    word, callee = _word(evaluate, call)
    if word == "grid":
        targets = list(node.target.elts) if isinstance(node.target, ast.Tuple) else [node.target]
        if call.keywords:
            raise state.error(call, "T.grid takes extents only")
        if len(targets) != len(call.args):
            raise state.error(node.target, f"T.grid has {len(call.args)} extents for {len(targets)} loop variables")
        bounds = [(Index.constant(0), _upper(evaluate, a), a) for a in call.args]
        _nest(evaluate, node, list(zip(targets, bounds, strict=True)), "serial", {}, run)
        return
    args = _arguments(evaluate, word, callee, call)
    start, stop = args.get("start"), args.get("stop")
    if start is None:
        raise state.error(call, "a loop needs an extent")
    low = evaluate.index(start, "the start of a loop") if stop is not None else Index.constant(0)
    end = stop if stop is not None else start
    kind = LOOPS.get(word) or _tag(evaluate, args, call)
    annotations = evaluate.python(args["annotations"], "an annotation") if "annotations" in args else {}
    if not isinstance(annotations or {}, dict):
        raise state.error(args["annotations"], f"the annotations of a loop are a dictionary, not {annotations!r}")
    _nest(evaluate, node, [(node.target, (low, _upper(evaluate, end), end))], kind, annotations or {}, run)


def _word(evaluate: Evaluator, call: ast.Call) -> tuple[str, Any]:
    callee = evaluate(call.func)
    if callee is range:
        return "serial", callee
    word = getattr(callee, "tir_construct", None)
    if word not in (*LOOPS, "grid", "thread_binding"):
        raise evaluate.state.error(call, f"a loop iterates over {_FORMS}, not {ast.unparse(call.func)}(...)")
    return word, callee


def _arguments(evaluate: Evaluator, word: str, callee: Any, call: ast.Call) -> dict[str, ast.expr]:
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
    return tag


def _upper(evaluate: Evaluator, node: ast.expr) -> list[Index]:
    """The operands of an upper bound: one expression, or those of a T.min."""
    item = evaluate(node)
    if isinstance(item, AffineMin):
        return list(item.parts)
    index = as_index(item)
    if index is None:
        raise evaluate.state.error(
            node, f"a loop bound must be an affine expression of loops, iters and sizes, not {describe(item)}"
        )
    return [index]


def _nest(
    evaluate: Evaluator,
    node: ast.For,
    parts: list[tuple[ast.expr, tuple[Index, list[Index], ast.expr]]],
    kind: str,
    annotations: dict[str, Any],
    run: Callable[[list[ast.stmt]], None],
) -> None:
    if not parts:
        run(node.body)
        return
    (target, (low, uppers, place)), rest = parts[0], parts[1:]
    state = evaluate.state
    if not isinstance(target, ast.Name):
        raise state.error(target, "a loop variable is a plain name")
    extent = (uppers[0] - low).simplified().as_constant()
    if extent is not None and extent < 0:
        raise state.error(place, f"loop {target.id} has a negative extent: {extent}")
    with state.source.location(node):
        loop = create.loop(target.id, low, uppers, kind, annotations)
    state.loops[loop.var] = loop
    with state.scope.frame(), create.at_end(loop.body):
        state.scope.define(target.id, Index.of(loop.var), target, "loop")
        _nest(evaluate, node, rest, kind, annotations, run)


def domain_of(loop: Loop) -> tuple[Index, Index]:
    """Lower bound and extent of the domain of an iter bound to a loop.

    For a loop whose bounds use other loops (`for j in range(i)`), the interval hull of its values.
    """
    single = len(loop.lowers) == 1 and len(loop.uppers) == 1
    if single and all(is_size(v) for v in (*loop.lower.values, *loop.upper.values)):
        return loop.lower, loop.extent
    low, high = intervals.within(loop.op)[loop.var]
    if low is None or high is None:
        what = "uses other loops" if single else "is not a single expression"
        raise ParseError(f"the range of loop {loop.name} {what}: write the domain, T.axis.spatial(n, {loop.name})")
    return Index.constant(low), Index.constant(max(high - low + 1, 0))
