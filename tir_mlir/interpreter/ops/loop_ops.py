"""Loops: serial, with iter_args, and concurrent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mlir import ir

from tir_mlir.dialect.ir import Block, Index, Loop, attrs, bound_value, is_block, read_map, walk
from tir_mlir.dialect.ir.op_views import AffineForOp, isa
from tir_mlir.interpreter import buffer_names
from tir_mlir.interpreter.codegen import FunctionWriter, writes

DEEPEST = 16
"""Maximum loop depth in one Python function (CPython's limit is 20); deeper loops become a nested function."""


@writes("affine.for")
def affine_for(w: FunctionWriter, op: ir.Operation) -> None:
    loop = Loop(op)
    if (bound := bound_value(op)) is not None:
        w.put(f"{w.define(loop.var, loop.name)} = {w.value(bound[0])}")
        w.body(bound[1].regions[0].blocks[0])
        return
    low, high = (_bound_text(w, bounds, word) for bounds, word in ((loop.lowers, "max"), (loop.uppers, "min")))
    step = ir.IntegerAttr(op.attributes["step"]).value if "step" in op.attributes else 1
    steps = [low, high] if step == 1 else [low, high, str(step)]
    inits = list(op.operands)[len(op.operands) - len(op.results) :]
    concurrent = buffer_names.is_concurrent(op, w.has_blocks)
    with carry_iter_args(w, op, inits, loop.body.arguments[1:]) as carry:
        if concurrent:
            sums = bool(_reduction_group(loop)) and any(Block(o).init is not None for o in walk.ops(op) if is_block(o))
            emit_concurrent_loops(w, op, [(loop.var, loop.name, steps)], carry, loop.body, sums=sums)
        else:
            serial(w, loop.var, loop.name, steps, lambda: carry(w.body(loop.body)))


@writes("scf.for")
def scf_for(w: FunctionWriter, op: ir.Operation) -> None:
    low, high, step, *inits = op.operands
    body = op.regions[0].blocks[0]
    steps = w.values([low, high, step]) if w.value(step) != "1" else w.values([low, high])
    with carry_iter_args(w, op, inits, list(body.arguments)[1:]) as carry:
        serial(w, body.arguments[0], attrs.get(op, attrs.LOOP, "i"), steps, lambda: carry(w.body(body)))


@writes("scf.parallel")
def scf_parallel(w: FunctionWriter, op: ir.Operation) -> None:
    body = op.regions[0].blocks[0]
    count = len(body.arguments)
    steps = w.values(list(op.operands))
    bounds = [(v, f"i{n}", steps[n : 3 * count : count]) for n, v in enumerate(body.arguments)]
    with carry_iter_args(w, op, list(op.operands)[3 * count :], []) as carry:
        reduce = list(body.operations)[-1].operation
        emit_concurrent_loops(w, op, bounds, lambda yielded: carry(_combine_reductions(w, op, reduce, yielded)), body)


def _combine_reductions(w: FunctionWriter, op: ir.Operation, reduce: ir.Operation, yielded: Sequence[str]) -> list[str]:
    """The reduced values so far combined with those of an iteration."""
    combined = []
    for region, result, value in zip(reduce.regions, op.results, yielded, strict=True):
        first, second = region.blocks[0].arguments
        w.variables[first], w.variables[second] = w.variables[result], value
        combined += w.body(region.blocks[0])
    return combined


@writes("affine.parallel")
def affine_parallel(w: FunctionWriter, op: ir.Operation) -> None:
    if is_block(op):
        from tir_mlir.interpreter.ops.block_ops import realize

        realize(w, Block(op))
        return
    body = op.regions[0].blocks[0]
    low, high = attrs.map_of(op.attributes["lowerBoundsMap"]), attrs.map_of(op.attributes["upperBoundsMap"])
    operands = list(op.operands)
    lowers = read_map(low, operands[: low.n_inputs])
    uppers = read_map(high, operands[low.n_inputs : low.n_inputs + high.n_inputs])
    bounds = []
    for n, (var, step) in enumerate(zip(body.arguments, op.attributes["steps"], strict=True)):  # type: ignore[arg-type]
        mine = [_group(op, "lowerBoundsGroups", n, lowers), _group(op, "upperBoundsGroups", n, uppers)]
        texts = [_bound_text(w, mine[0], "max"), _bound_text(w, mine[1], "min"), str(ir.IntegerAttr(step).value)]
        bounds.append((var, f"i{n}", texts))
    emit_concurrent_loops(w, op, bounds, lambda _: None, body)


def _group(op: ir.Operation, key: str, number: int, bounds: Sequence[Index]) -> Sequence[Index]:
    """The bounds of one dimension of an affine.parallel."""
    counts = [int(n) for n in op.attributes[key]]  # type: ignore[union-attr]
    start = sum(counts[:number])
    return bounds[start : start + counts[number]]


@writes("omp.wsloop")
def omp_wsloop(w: FunctionWriter, op: ir.Operation) -> None:
    nest = op.regions[0].blocks[0].operations[0].operation
    body = nest.regions[0].blocks[0]
    count = len(body.arguments)
    steps = w.values(list(nest.operands))
    inclusive = "loop_inclusive" in nest.attributes
    bounds = []
    for n, var in enumerate(body.arguments):
        low, high, step = steps[n : 3 * count : count]
        bounds.append((var, f"i{n}", [low, f"{high} + 1" if inclusive else high, step]))
    emit_concurrent_loops(w, op, bounds, lambda _: None, body)


@writes("scf.while")
def scf_while(w: FunctionWriter, op: ir.Operation) -> None:
    condition_block, body_block = (region.blocks[0] for region in op.regions)
    variables = [w.define(a, "") for a in condition_block.arguments]
    _assign(w, variables, w.values(list(op.operands)))
    results = [w.define(r, "") for r in op.results]
    w.put("while True:")
    with w.text.deeper(), w.names.scope(), w.count_region():
        for argument in condition_block.arguments:
            w.unpack(argument)
        going, *forwarded = w.body(condition_block)
        w.put(f"if not {going}:")
        with w.text.deeper():
            _assign(w, results, forwarded)
            w.put("break")
        _assign(w, [w.define(a, "") for a in body_block.arguments], forwarded)
        for argument in body_block.arguments:
            w.unpack(argument)
        _assign(w, variables, w.body(body_block))
    for result in op.results:
        w.unpack(result)


# --- common emission --------------------------------------------------------------------------------------------------


def _bound_text(w: FunctionWriter, bounds: Sequence[Index], word: str) -> str:
    texts = [w.index(i) for i in bounds]
    return texts[0] if len(texts) == 1 else f"{word}({', '.join(texts)})"


def _assign(w: FunctionWriter, targets: Sequence[str], texts: Sequence[str]) -> None:
    pairs = [(t, x) for t, x in zip(targets, texts, strict=True) if t != x]
    if pairs:
        w.put(f"{', '.join(t for t, _ in pairs)} = {', '.join(x for _, x in pairs)}")


@contextmanager
def carry_iter_args(
    w: FunctionWriter, op: ir.Operation, inits: Sequence[ir.Value], arguments: Sequence[ir.Value]
) -> Iterator[Callable[[Sequence[str]], None]]:
    """The iter_args of a loop: one variable for the initial value, the region argument and the result."""
    if not len(op.results):
        yield lambda _: None
        return
    targets, level = [w.define(r) for r in op.results], w.level
    _assign(w, targets, w.values(inits))
    for argument, target in zip(arguments, targets, strict=False):
        w.variables[argument] = target
        w.unpack(argument)

    def assign_yielded(yielded: Sequence[str]) -> None:
        _assign(w, targets, yielded)
        if w.level > level:
            w.outer.update(targets)
        for argument in arguments:
            w.unpack(argument)

    yield assign_yielded
    for result in op.results:
        w.unpack(result)


def serial(
    w: FunctionWriter, var: ir.Value, name: str, steps: Sequence[str], inner: Callable[[], None], back: str = ""
) -> None:
    """Emit one loop around the output of `inner`. `back`: the Python name that reverses a range, or ""."""
    header = w.text.op
    numbers = [int(s) if s.lstrip("-").isdigit() else None for s in steps]
    if None in numbers:
        runs, over = "len(_r)", "_r"
        w.put(f"_r = range({', '.join(steps)})")
    else:
        over = f"range({', '.join(steps)})" if steps[0] != "0" or len(steps) > 2 else f"range({steps[1]})"
        runs = str(len(range(*[n for n in numbers if n is not None])))
    with w.names.scope():
        variable = w.define(var, name)
        with w.count_region(runs):
            w.put(f"for {variable} in {f'{back}({over})' if back else over}:")
            w.nested += 1
            with w.text.deeper():
                _suite(w, inner)
            w.nested -= 1
        w.text.op = header


def _suite(w: FunctionWriter, inner: Callable[[], None]) -> None:
    """Emit the body of a loop; beyond Python's nesting limit as a nested function, a closure."""
    if w.nested % DEEPEST:
        inner()
        return
    name = w.names.temporary() + "_deep"
    w.put(f"def {name}():")
    with w.text.deeper():
        saved, w.nested, w.outer, w.level = (w.nested, w.outer), 0, set(), w.level + 1
        start = len(w.text.lines)
        inner()
        if w.outer:
            w.text.insert(start, f"nonlocal {', '.join(sorted(w.outer))}")
        (w.nested, w.outer), w.level = saved, w.level - 1
    w.put(f"{name}()")


def _reduction_group(loop: Loop) -> str:
    """The iterations of a loop that may reduce into one element: "lanes", "threads" of one block, or none."""
    return {"vectorized": "lanes"}.get(loop.kind, "threads" if loop.kind.startswith("threadIdx.") else "")


def emit_concurrent_loops(
    w: FunctionWriter,
    op: ir.Operation,
    bounds: Sequence[tuple[ir.Value, str, Sequence[str]]],
    carry: Callable[[Sequence[str]], None],
    body: ir.Block,
    sums: bool = False,
) -> None:
    """Emit concurrent loops: in reverse order (lanes with reductions forwards), with race detection."""
    title = Loop(op).name if isa(op, AffineForOp) else " and ".join(n for _, n, _ in bounds)
    together = _reduction_group(Loop(op)) if isa(op, AffineForOp) else ""
    private = "".join(f"{w.value(v)}, " for v in buffer_names.private_buffers(w.func, op) if v in w.variables)
    w.put(f"_watch.enter({title!r}, ({private}), {together!r})")

    def nest(inner: Sequence[tuple[ir.Value, str, Sequence[str]]]) -> None:
        if inner:
            var, name, steps = inner[0]
            serial(w, var, name, steps, lambda: nest(inner[1:]), "" if sums else "reversed")
            return
        now = ", ".join(w.value(v) for v, _, _ in bounds)
        w.put(f"_watch.now[-1] = {now if len(bounds) == 1 else f'({now})'}")
        carry(w.body(body))

    nest(bounds)
    w.put("_watch.leave()")
