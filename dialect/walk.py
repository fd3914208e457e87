"""Finding one's way in a module, and the safe edits: substitute, rebuild, move, erase.

Every IR edit goes through here or `create`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect import attrs
from tir_mlir.dialect.create import Constraint
from tir_mlir.dialect.errors import NotAffine
from tir_mlir.dialect.index import Index, emit_map, is_apply, read_map
from tir_mlir.dialect.memo import remembered
from tir_mlir.dialect.views import Block, Func, Loop, is_block, is_init, is_loop, is_where, parent_op
from tir_mlir.dialect.visiting import visit

AFFINE_ACCESS = ("affine.load", "affine.store", "affine.vector_load", "affine.vector_store")
AFFINE_OPS = (*AFFINE_ACCESS, "affine.apply", "affine.for", "affine.parallel", "affine.if")


def ops(root: ir.Operation, skip: Callable[[ir.Operation], bool] | None = None) -> list[ir.Operation]:
    """All ops from `root` on, pre-order; below an op for which `skip` holds nothing is listed."""
    found: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return ir.WalkResult.SKIP if skip is not None and skip(op) else ir.WalkResult.ADVANCE

    visit(root.operation, look)
    return found


def find(module: ir.Module | ir.Operation, number: int) -> ir.Operation | None:
    """The op whose id is `number`."""
    root = module.operation
    hits: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if attrs.ID in op.attributes and ir.IntegerAttr(op.attributes[attrs.ID]).value == number:
            hits.append(op)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    visit(root, look)
    return hits[0] if hits else None


@remembered
def parents(op: ir.Operation) -> list[ir.Operation]:
    """The ops around `op`, innermost first, up to and with its function."""
    found: list[ir.Operation] = []
    current = op.operation
    while current.name != "func.func" and current.parent is not None:
        current = current.parent.operation
        found.append(current)
    return found


def enclosing_block(op: ir.Operation) -> Block | Func:
    """The block (or function, the root block) whose body an op stands in."""
    for parent in parents(op):
        if is_block(parent):
            return Block(parent)
        if parent.name == "func.func":
            return Func(parent)
    raise ValueError("an op outside any function has no enclosing block")


def loops_above(op: ir.Operation) -> list[Loop]:
    """The loops around an op, outer to inner, up to the block around it."""
    found: list[Loop] = []
    for parent in parents(op):
        if is_block(parent):
            break
        if is_loop(parent):
            found.append(Loop(parent))
    return found[::-1]


def blocks_below(op: ir.Operation, with_init: bool = False) -> list[Block]:
    """The nearest blocks beneath a loop, block or function, in program order (init regions are not entered)."""
    top = op.operation
    found = ops(top, skip=lambda o: o != top and (is_block(o) or (is_init(o) and not with_init)))
    return [Block(o) for o in found if o != top and is_block(o)]


def all_blocks(root: ir.Operation) -> list[Block]:
    """Every block under `root`, nested and init ones too, pre-order."""
    return [Block(o) for o in ops(root) if is_block(o)]


def is_inside(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether `op` is `outer` or stands beneath it."""
    return op == outer or any(p == outer for p in parents(op))


def child_towards(outer: ir.Operation, op: ir.Operation) -> ir.Operation:
    """The op in `outer`'s own body that holds (or is) `op`."""
    current = op.operation
    for parent in parents(op):
        if parent == outer.operation:
            return current
        current = parent
    raise ValueError("the op is not beneath the given one")


def common_parent(items: Sequence[ir.Operation]) -> ir.Operation:
    """The innermost op that holds all of `items`."""
    chains = [parents(op)[::-1] for op in items]
    last = chains[0][0]
    for level in zip(*chains, strict=False):
        if any(op != level[0] for op in level):
            break
        last = level[0]
    return last


def home(value: ir.Value) -> ir.Operation:
    """The op that makes a value, or whose body has it as an argument."""
    owner = value.owner
    return owner.owner.operation if isinstance(owner, ir.Block) else owner.operation


def enclosing_loop_name(value: ir.Value) -> str | None:
    """The name of the loop whose variable `value` is; None for anything else."""
    owner = value.owner
    if isinstance(owner, ir.Block) and is_loop(owner.owner.operation):
        return Loop(owner.owner).name
    return None


def position(op: ir.Operation) -> int:
    """Place of an op in its block."""
    return next(i for i, o in enumerate(op.operation.block.operations) if o.operation == op)


# --- affine ops: reading and rewriting their maps -----------------------------------------------------------------


@lru_cache(maxsize=4096)
def parse_set(text: str) -> tuple[ir.AffineMap, tuple[bool, ...]]:
    """An integer set as the map of its expressions, and which of them are equalities."""
    match = re.fullmatch(r"affine_set<(\([^)]*\)(?:\[[^\]]*\])?) : \((.*)\)>", text)
    if match is None:
        raise ValueError(f"unexpected integer set {text}")
    parts = [p.strip() for p in match[2].split(",")]
    kinds = tuple("==" in p for p in parts)
    exprs = ", ".join(re.sub(r"\s*(==|>=)\s*0$", "", p) for p in parts)
    try:
        return ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{match[1]} -> ({exprs})>")).value, kinds
    except ir.MLIRError:  # pyright: ignore[reportAttributeAccessIssue]  MLIR prints -2**63 and does not read it
        raise NotAffine(f"the condition {exprs} holds a constant that does not fit an index (64 bits)") from None


@remembered
def constraints(if_op: ir.Operation) -> list[Constraint]:
    """The conjunction of an `affine.if` (a set cannot be read through the bindings, so its text is parsed once)."""
    map_, kinds = parse_set(str(if_op.attributes["condition"]))
    indices = read_map(map_, list(if_op.operands))
    return [Constraint(i, k) for i, k in zip(indices, kinds, strict=True)]


@remembered
def access_indices(op: ir.Operation) -> list[Index]:
    """The index expressions of an affine load or store."""
    start = 2 if "store" in op.name else 1
    return read_map(attrs.affine_map(op, "map"), list(op.operands)[start:])


def accessed(op: ir.Operation) -> ir.Value:
    """The memref of a load or store."""
    return op.operands[1] if "store" in op.name else op.operands[0]


def rebuild(op: ir.Operation, operands: Sequence[ir.Value], changes: Mapping[str, ir.Attribute]) -> ir.Operation:
    """Replace an op by itself with other operands and attributes; bodies move, ids and locations stay."""
    attributes = {name: op.attributes[name] for name in op.attributes} | dict(changes)
    with ir.InsertionPoint(op):
        new = ir.Operation.create(
            op.name,
            results=[r.type for r in op.results],
            operands=list(operands),
            attributes=attributes,
            regions=len(op.regions),
            loc=op.location,
        )
    for old_region, new_region in zip(op.regions, new.regions, strict=True):
        for body in list(old_region.blocks):
            body.append_to(new_region)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()
    return new


def _segments(*sizes: int) -> ir.Attribute:
    return ir.DenseI32ArrayAttr.get(list(sizes))


def _map(map_: ir.AffineMap) -> ir.Attribute:
    return ir.AffineMapAttr.get(map_)


def rewrite_indices(op: ir.Operation, change: Callable[[Index], Index]) -> ir.Operation:
    """Apply `change` to every index expression of an affine op; returns the op that stands in its place."""
    if op.name in (*AFFINE_ACCESS, "affine.apply"):
        start = {"affine.apply": 0, "affine.load": 1, "affine.vector_load": 1}.get(op.name, 2)
        operands = list(op.operands)
        indices = read_map(attrs.affine_map(op, "map"), operands[start:])
        map_, used = emit_map([change(i) for i in indices])
        return rebuild(op, operands[:start] + used, {"map": _map(map_)})
    if op.name == "affine.for":
        return set_bounds(op, [change(i) for i in Loop(op).lowers], [change(i) for i in Loop(op).uppers])
    if op.name == "affine.parallel":
        return rebind(op, [change(i) for i in _raw_bindings(op)])
    if op.name == "affine.if":
        return rebuild_guard(op, [Constraint(change(c.index), c.is_eq) for c in constraints(op)])
    raise ValueError(f"{op.name} has no index expressions")


def set_bounds(op: ir.Operation, lowers: Sequence[Index], uppers: Sequence[Index]) -> ir.Operation:
    """Give a loop other bounds; what it carries from iteration to iteration stays."""
    (low, low_used), (high, high_used) = emit_map(lowers), emit_map(uppers)
    carried = list(op.operands)[len(op.operands) - len(op.results) :]
    sizes = _segments(len(low_used), len(high_used), len(carried))
    changes = {"lowerBoundMap": _map(low), "upperBoundMap": _map(high), "operandSegmentSizes": sizes}
    return rebuild(op, [*low_used, *high_used, *carried], changes)


def _raw_bindings(op: ir.Operation) -> list[Index]:
    map_ = attrs.affine_map(op, "lowerBoundsMap")
    return read_map(map_, list(op.operands)[: map_.n_inputs])


def rebind(op: ir.Operation, bindings: Sequence[Index]) -> ir.Operation:
    """Give a block other bindings (as many as before)."""
    low, used = emit_map(bindings)
    high = ir.AffineMap.get(low.n_dims, low.n_symbols, [e + 1 for e in low.results])
    return rebuild(op, used + used, {"lowerBoundsMap": _map(low), "upperBoundsMap": _map(high)})


def rebuild_guard(op: ir.Operation, conditions: Sequence[Constraint]) -> ir.Operation:
    """Give an `affine.if` another conjunction."""
    map_, used = emit_map([c.index for c in conditions])
    set_ = ir.IntegerSet.get(map_.n_dims, map_.n_symbols, list(map_.results), [c.is_eq for c in conditions])
    return rebuild(op, used, {"condition": ir.IntegerSetAttr.get(set_)})


def substitute(mapping: Mapping[ir.Value, Index], root: ir.Operation | None = None) -> None:
    """Replace values by expressions in every affine op that uses them (under `root` when given).

    Other users (data use of a loop variable, non-affine indices) get an `affine.apply` of the expression.
    """
    users: list[ir.Operation] = []
    for value in mapping:
        for use in list(value.uses):
            owner = use.owner.operation
            if owner not in users and (root is None or is_inside(owner, root)):
                users.append(owner)
    for user in users:
        if user.name in AFFINE_OPS:
            rewrite_indices(user, lambda i: i.substitute(mapping))
        else:
            _substitute_operands(user, mapping)


def _substitute_operands(user: ir.Operation, mapping: Mapping[ir.Value, Index]) -> None:
    from tir_mlir.dialect.create import apply  # create builds on this module's neighbours only

    for number, operand in enumerate(list(user.operands)):
        if operand in mapping:
            with ir.InsertionPoint(user), user.location:
                user.operands[number] = apply(mapping[operand])


def fold_applies(root: ir.Operation) -> None:
    """Fold every `affine.apply` under `root` into the affine ops that use it, and drop the unused ones."""
    for op in ops(root):
        if op.name in AFFINE_OPS and any(is_apply(v) for v in op.operands):
            rewrite_indices(op, lambda i: i)
    for op in reversed(ops(root)):
        if op.name == "affine.apply" and not any(True for _ in op.results[0].uses):
            op.erase()


def fold_choices(root: ir.Operation) -> None:
    """Replace every `affine.if` beneath `root` whose condition became constant by the side it takes.

    The parser does the same. Guards and inits stay what they are.
    """
    for op in reversed(ops(root)):
        if op.name != "affine.if" or is_init(op) or is_where(op):
            continue
        known = [(c.index.simplified().as_constant(), c.is_eq) for c in constraints(op)]
        if any(n is None for n, _ in known):
            continue
        taken = all(n == 0 if is_eq else n >= 0 for n, is_eq in known)  # type: ignore[operator]
        _take_side(op, list(op.regions)[0 if taken else 1])


def _take_side(op: ir.Operation, side: ir.Region) -> None:
    if len(side.blocks):
        *held, end = list(side.blocks[0].operations)
        for inner in held:
            inner.move_before(op)
        for result, value in zip(op.results, end.operands, strict=True):
            result.replace_all_uses_with(value)
    op.erase()


# --- moving, cloning, erasing ---------------------------------------------------------------------------------------


def clone(op: ir.Operation, ip: ir.InsertionPoint, mapping: Mapping[ir.Value, ir.Value] | None = None) -> ir.Operation:
    """A copy of an op (bodies too) at `ip`, outside values replaced by `mapping`. Ids are copied: see `renumber`."""
    new = op.operation.clone(ip).operation
    if mapping:
        replace_values(new, mapping)
    return new


def replace_values(root: ir.Operation, mapping: Mapping[ir.Value, ir.Value]) -> None:
    """Replace operands under `root` by other values of the same type."""
    for op in ops(root):
        for number, operand in enumerate(list(op.operands)):
            if operand in mapping:
                op.operands[number] = mapping[operand]


def renumber(root: ir.Operation) -> None:
    """Give every loop and block under `root` an id of its own (after a clone)."""
    from tir_mlir.dialect.create import fresh_id

    for op in ops(root):
        if attrs.ID in op.attributes:
            op.attributes[attrs.ID] = attrs.to_attr(fresh_id(op))


def move_body(source: ir.Block, target: ir.Block) -> None:
    """Move all ops of a body but its terminator before the terminator of another body."""
    end = list(target.operations)[-1]
    for op in list(source.operations)[:-1]:
        op.move_before(end)


def erase(op: ir.Operation) -> None:
    """Erase an op and what only it used. Where another op uses a value of it, MLIR would end the process: an error."""
    user = used_outside(op)
    if user is not None:
        raise RuntimeError(f"{op.name} cannot be erased: {user.name} still uses a value of it")
    owners = [] if len(op.regions) else [v.owner for v in op.operands]
    feeders = [o.operation for o in owners if not isinstance(o, ir.Block)]
    op.operation.erase()
    for feeder in dict.fromkeys(feeders):
        if is_pure(feeder) and not any(True for r in feeder.results for _ in r.uses):
            erase(feeder)


def used_outside(op: ir.Operation) -> ir.Operation | None:
    """An op that is not beneath `op` and uses a value that `op`, or anything beneath it, defines."""
    inner = ops(op)
    known = set(inner)
    for one in inner:
        values = [*one.results, *(a for region in one.regions for block in region.blocks for a in block.arguments)]
        for user in (use.owner.operation for value in values for use in value.uses):
            if user not in known:
                return user
    return None


def is_pure(op: ir.Operation) -> bool:
    """Whether an op only computes a value (loads count: reading has no effect)."""
    dialect = op.name.split(".")[0]
    return dialect in ("arith", "math") or op.name in ("affine.apply", "affine.load", "memref.load", "memref.subview")


def prune(op: ir.Operation, stop: ir.Operation) -> None:
    """Erase an op and the loops and guards around it that are left with nothing in them, up to `stop`."""
    parent = parent_op(op)
    erase(op)
    if parent != stop.operation and (is_loop(parent) or parent.name == "affine.if") and not Loop(parent).body_ops():
        prune(parent, stop)


def rebased(op: ir.Operation) -> list[ir.Value]:
    """Values defined outside `op` and used beneath it."""
    inside = {o for o in ops(op)}
    outer: dict[ir.Value, None] = {}
    for inner in inside:
        for value in inner.operands:
            owner = value.owner
            home = owner.owner.operation if isinstance(owner, ir.Block) else owner
            if home not in inside:
                outer[value] = None
    return list(outer)
