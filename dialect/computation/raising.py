"""Raise a loop nest around one statement, with or without blocks, to its canonical form (`form.Form`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import accesses_of_op, footprint
from tir_mlir.dialect.computation import scalar_tree
from tir_mlir.dialect.computation.form import Axis, Form, IndexCondition, NotRaisable, Operand, Top
from tir_mlir.dialect.computation.scalar_tree import ALL, CHOICE, STORE, Guard, Leaf, OpNode, ScalarArgument, Tree
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Index,
    Iter,
    Loop,
    constraints,
    is_block,
    is_init,
    is_loop,
    is_symbol,
    is_where,
    only_reads,
    ops,
    parent_op,
    parents,
    step,
)
from tir_mlir.dialect.ir.op_traits import (
    ASSOCIATIVE,
    DIFFERENCES,
    accessed_memref,
    is_pure,
)
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AffineVectorAccessOp,
    AllocLikeOp,
    CallOp,
    DimOp,
    ElementLoadOp,
    ElementStoreOp,
    FuncOp,
    IfOp,
    PointerOp,
    StoreOp,
    WriteOp,
    isa,
)
from tir_mlir.dialect.presburger import (
    NotABox,
    Split,
    box_of,
    is_injective,
    only_where,
    sets,
    simplify_index,
    split_linear,
)

_OLD_VALUE = dict.fromkeys(DIFFERENCES, 0) | {"math.fma": 2}  # the operand that may be the old value


@dataclass
class _IteratorNest:
    """The nest from the top to its statement: iterators by value, with names and declared kinds."""

    iterators: list[ir.Value] = field(default_factory=list)
    names: dict[ir.Value, str] = field(default_factory=dict)
    kinds: dict[ir.Value, str] = field(default_factory=dict)
    inits: list[tuple[ir.Operation, Block, int]] = field(default_factory=list)  # with the number of iterators outside
    leaf: list[ir.Operation] = field(default_factory=list)
    inner: Block | None = None
    bindings: dict[ir.Value, Index] = field(default_factory=dict)
    guarded: bool = False
    """Whether there may be conditions."""
    guards: list[ir.Operation] = field(default_factory=list)
    """The conditions under which the statement runs."""


@only_reads
def raise_form(top: Top, numbers: bool = False, guarded: bool = False) -> Form:
    """Raise a block (its iters are parameters), a loop (included) or a function to its canonical form.

    Requires one statement that stores one value, indices linear in the iterators, iterations that fill a box, and a
    result independent of their order. `numbers`: iterators and scalar parameters may be used as data, as nodes
    `linalg.index` (fact `dim`) and `func.arg` (fact `number`). `guarded`: values, and whether they are stored, may
    depend on affine conditions, and on scalar parameters. Errors: NotRaisable.
    """
    if isinstance(top, Loop):
        enclosing, body = parents(top.op)[0], [top.op]
    else:
        enclosing, body = top.op, top.body_ops()
    nest = _descend(body, _IteratorNest(inner=top if isinstance(top, Block) else None, guarded=guarded))
    store = _one_store([o for o in nest.leaf if not (guarded and _is_choice(o))])
    reader = _FormReader(nest, enclosing, store, numbers)
    output = reader.operand(store)
    tree = reader.tree(StoreOp(store).value)
    guards = [g for op in nest.guards for g in reader.guards(op)]
    axes = tuple(_axis(nest, n, e, reader.operands[output]) for n, e in enumerate(reader.extents))
    form = Form(axes, tuple(reader.operands), output, tree, conditions=tuple(reader.conditions), top=top)
    form = replace(form, values=reader.values)
    _check_order_free(form, store)
    if guards:
        form = replace(form, payload=OpNode(STORE, (), "", (OpNode(ALL, (), "i1", tuple(guards)), tree)))
    return _with_init(form, nest, reader, store)


def _descend(body: Sequence[ir.Operation], nest: _IteratorNest) -> _IteratorNest:
    """Follow loops and blocks down to the statement."""
    pending: list[Loop] = []
    owner = nest.inner
    while True:
        inits = [o for o in body if is_init(o)]
        if inits and pending:
            raise NotRaisable(f"its init runs again in every iteration of {pending[0].name}", inits[0])
        if owner is not None:
            nest.inits += [(o, owner, len(nest.iterators)) for o in inits]
        inner = [o for o in body if len(o.regions) and not is_init(o) and not (nest.guarded and _is_choice(o))]
        if not inner:
            break
        if len(inner) > 1:
            raise NotRaisable("it contains several adjacent loops, blocks or conditions, not a single nest", inner[1])
        op = inner[0]
        is_guard = nest.guarded and isa(op, AffineIfOp) and not _else_ops(op)
        if not is_loop(op) and not is_block(op) and not is_guard:
            raise NotRaisable(_condition(op), op)
        _check_other_ops([o for o in body if not len(o.regions)])
        if is_guard:
            nest.guards.append(op)
            body = _then_ops(op)
        elif is_loop(op):
            pending.append(Loop(op))
            body = Loop(op).body_ops()
        else:
            owner = Block(op)
            for it in owner.iters:
                nest.iterators.append(it.var)
                nest.names[it.var], nest.kinds[it.var], nest.bindings[it.var] = it.name, it.kind, it.binding
            pending = [] if owner.iters else pending
            body = owner.body_ops()
    for loop in pending:
        nest.iterators.append(loop.var)
        nest.names[loop.var] = loop.name
    nest.leaf, nest.inner = [o for o in body if not is_init(o)], owner
    return nest


def _is_choice(op: ir.Operation) -> bool:
    """Whether an op chooses between two values by a condition on indices."""
    return isa(op, AffineIfOp) and len(op.results) == 1


def _then_ops(op: ir.Operation) -> list[ir.Operation]:
    return [o.operation for o in op.regions[0].blocks[0].operations][:-1]


def _else_ops(op: ir.Operation) -> bool:
    return len(op.regions[1].blocks) > 0


def _condition(op: ir.Operation) -> str:
    if is_where(op):
        way = only_where(_excluded_iterations(op), op)
        return f"a block in it is guarded by T.where; all iterations must run (choose factors that divide, or pad){way}"
    if isa(op, IfOp):
        return "it contains a condition; every iteration must compute the same"
    return f"it contains {op.name}, which is not a loop over a range"


def _excluded_iterations(guard: ir.Operation) -> isl.Set:
    """The iterations that a guard excludes."""
    dom = sets.domain(guard, extra=[c.index for c in constraints(guard)])
    return dom.set.subtract(sets.guard_set(dom, guard))


def _check_other_ops(outer_ops: Sequence[ir.Operation]) -> None:
    for op in outer_ops:
        if isa(op, AllocLikeOp):
            raise NotRaisable(f"it allocates the buffer {Buffer(op.results[0]).name}", op)
        if not is_pure(op) and not isa(op, PointerOp, DimOp):
            raise NotRaisable(f"it contains a statement ({_op_text(op)}) outside the innermost loop", op)


def _op_text(op: ir.Operation) -> str:
    if isa(op, CallOp):
        return f"a call of {ir.FlatSymbolRefAttr(op.attributes['callee']).value}"
    return f"a store to {Buffer(accessed_memref(op)).name}" if isa(op, WriteOp) else op.name


def _one_store(leaf: Sequence[ir.Operation]) -> ir.Operation:
    vector = next((o for o in leaf if isa(o, AffineVectorAccessOp)), None)
    if vector is not None:
        raise NotRaisable("it accesses several elements at once, as a vector", vector)
    stores = [o for o in leaf if isa(o, ElementStoreOp)]
    for op in sorted(leaf, key=lambda o: not isa(o, CallOp)):
        if op not in stores and not is_pure(op):
            raise NotRaisable(f"it contains {_op_text(op)}, not only arithmetic on elements", op)
    if len(stores) != 1:
        count = "no value" if not stores else f"{len(stores)} values"
        raise NotRaisable(f"an iteration stores {count}; exactly one is needed", stores[1] if stores else None)
    return stores[0]


class _FormReader:
    """Converts accesses and values of the innermost body to operands and trees over the iterators."""

    def __init__(self, nest: _IteratorNest, enclosing: ir.Operation, store: ir.Operation, numbers: bool = False):
        self.nest = nest
        self.numbers = numbers
        self.around = enclosing
        self.operands: list[Operand] = []
        self.conditions: list[IndexCondition] = []
        self.values: dict[Tree, ir.Value] = {}
        try:
            self.mins, self.extents = box_of(nest.iterators, store, enclosing, [nest.names[v] for v in nest.iterators])
        except NotABox as error:
            raise NotRaisable(str(error), store) from error

    def operand(self, op: ir.Operation) -> int:
        """The operand number of a load or store; equal accesses share one."""
        access = accesses_of_op(op)[0]
        buffer = Buffer(access.buffer)
        if not access.exact:
            raise NotRaisable(f"an index of {buffer.name} is not affine", op)
        rows, bases = [], []
        for index in access.mins:
            row, base = self._linear(index, op, f"an index of {buffer.name}")
            rows.append(row)
            bases.append(base)
        accessed = Operand(buffer, tuple(rows), tuple(bases))
        for number, existing in enumerate(self.operands):
            if existing.is_equal_to(accessed):
                return number
        self.operands.append(accessed)
        return len(self.operands) - 1

    def _linear(self, index: Index, op: ir.Operation, what: str) -> Split:
        """The factors of the iterators, which count from 0, in an index, and the rest."""
        split = split_linear(index.simplify(), self.nest.iterators)
        if split is None and self.nest.inner is not None:
            dom = sets.domain(op, self.nest.inner.op, [index])
            split = split_linear(simplify_index(index, dom), self.nest.iterators)
        if split is None:
            raise NotRaisable(f"{what} is not linear in its iterators (a division or remainder)", op)
        base = split.rest
        for factor, low in zip(split.factors, self.mins, strict=True):
            base = base + low * factor
        return Split(split.factors, base.simplify())

    def guards(self, op: ir.Operation) -> list[Guard]:
        """The conditions of an `affine.if`; equal ones share one."""
        numbers = []
        for part in constraints(op):
            row, base = self._linear(self._over_iters(part.index), op, "a condition")
            condition = IndexCondition(row, base, part.is_eq)
            known = next((n for n, c in enumerate(self.conditions) if c.is_equal_to(condition)), None)
            numbers.append(len(self.conditions) if known is None else known)
            self.conditions += [condition] if known is None else []
        return [Guard(n) for n in dict.fromkeys(numbers)]

    def _over_iters(self, index: Index) -> Index:
        """An index of loops around a block, in which its iters stand for what they are bound to."""
        for var, binding in self.nest.bindings.items():
            varying = [v for v in binding.values if not is_symbol(v)]
            split = split_linear(binding, varying)
            if split is None or not varying:
                continue
            steps = [step(index, v) for v in varying]
            times = {Fraction(s, f) if s is not None else None for s, f in zip(steps, split.factors, strict=True)}
            ratio = times.pop() if len(times) == 1 else None
            if ratio and ratio.denominator == 1:
                index = (index + (Index.from_value(var) - binding) * int(ratio)).simplify()
        return index

    def tree(self, value: ir.Value) -> Tree:
        """The tree of a value that the payload computes."""
        tree = self._tree(value)
        self.values.setdefault(tree, value)
        return tree

    def _tree(self, value: ir.Value) -> Tree:
        if isinstance(value.owner, ir.Block):
            if self.nest.guarded and isa(value.owner.owner.operation, FuncOp):
                return ScalarArgument(ir.BlockArgument(value).arg_number, str(value.type))
            if self.numbers and (number := self._number(value)) is not None:
                return number
            raise NotRaisable("a loop variable, iter or scalar parameter is used as data", self._reader_of(value))
        owner = value.owner.operation
        if self.nest.guarded and _is_choice(owner):
            condition = OpNode(ALL, (), "i1", tuple(self.guards(owner)))
            return OpNode(CHOICE, (), str(value.type), (condition, *map(self.tree, AffineIfOp(owner).yielded_values())))
        if isa(owner, ElementLoadOp):
            if owner not in self.nest.leaf and not (self.nest.guarded and _is_choice(parent_op(owner))):
                raise NotRaisable(f"{Buffer(accessed_memref(owner)).name} is read outside the innermost loop", owner)
            return Leaf(self.operand(owner))
        if not is_pure(owner) or len(owner.results) != 1 or len(owner.regions):
            raise NotRaisable(f"its value comes from {_op_text(owner)}, not from arithmetic on elements", owner)
        return scalar_tree.node(owner, tuple(self.tree(v) for v in owner.operands))

    def _number(self, value: ir.Value) -> OpNode | None:
        """An iterator that starts at 0, or a parameter of the function."""
        if value in self.nest.iterators:
            position = self.nest.iterators.index(value)
            if self.mins[position].as_constant() == 0:
                return OpNode("linalg.index", (("dim", str(position)),), "index", ())
        elif isa(value.owner.owner.operation, FuncOp):  # type: ignore[union-attr]
            return OpNode("func.arg", (("number", str(ir.BlockArgument(value).arg_number)),), str(value.type), ())
        return None

    def starts(self, it: Iter) -> bool:
        """Whether the nest always starts at the minimum of an iter's domain."""
        return it.var in self.nest.iterators and self.mins[self.nest.iterators.index(it.var)].is_equal_to(it.min)

    def _reader_of(self, value: ir.Value) -> ir.Operation | None:
        users = [u.owner.operation for u in value.uses]
        return next((o for o in self.nest.leaf if o in users), None)


def _axis(nest: _IteratorNest, number: int, extent: Index, output: Operand) -> Axis:
    kind = "S" if any(row[number] for row in output.rows) else "R"
    return Axis(nest.names[nest.iterators[number]], kind, extent)


# --- independence of the iteration order ------------------------------------------------------------------------------


def _check_order_free(form: Form, store: ir.Operation) -> None:
    """Check that no two iterations write one element, or that all of them fold into it with an associative op."""
    out = form.operands[form.output]
    name = out.buffer.name
    for number in set(scalar_tree.leaves(form.payload)):
        if number != form.output and form.operands[number].buffer == out.buffer:
            raise NotRaisable(f"{name} is read at another index than it is written, so their order matters", store)
    rows, counts = form.operands[form.output].rows, [axis.extent.as_constant() for axis in form.axes]
    if is_injective(rows, counts) or _folds(form.payload, form.output):
        return
    if form.output in scalar_tree.leaves(form.payload):
        what = f"its update of {name} is not a sum, product, minimum or maximum with the old value"
    else:
        what = f"several iterations write the same element of {name}, and the last one wins"
    raise NotRaisable(f"{what}, so the order of iterations matters", store)


def _folds(tree: Tree, output: int) -> bool:
    """Whether a tree is `op(old, e)` with an associative op and e free of the old value, also nested: `(old + e) + f`.

    `old - e` and `fma(a, b, old)` count as sums.
    """
    if not isinstance(tree, OpNode) or tree.op not in ASSOCIATIVE | _OLD_VALUE.keys():
        return False
    old_children = [n for n, c in enumerate(tree.children) if output in scalar_tree.leaves(c)]
    if len(old_children) != 1 or old_children[0] != _OLD_VALUE.get(tree.op, old_children[0]):
        return False
    old = tree.children[old_children[0]]
    return old == Leaf(output) or (isinstance(old, OpNode) and old.op == tree.op and _folds(old, output))


# --- init -------------------------------------------------------------------------------------------------------------


def _with_init(form: Form, nest: _IteratorNest, reader: _FormReader, store: ir.Operation) -> Form:
    if not nest.inits:
        return form
    if len(nest.inits) > 1:
        raise NotRaisable("it contains several inits", nest.inits[1][0])
    op, owner, outside = nest.inits[0]
    value = _fill(op, form, reader, store)
    reset = {i.var for i in owner.iters if i.kind == "R"}
    for var, axis in zip(nest.iterators[:outside], form.axes, strict=False):
        if axis.kind == "R" and not axis.is_unit and var not in reset:
            raise NotRaisable(f"its init runs again in every iteration of {axis.name}", op)
    partial = any(i.kind == "R" and i.extent.as_constant() != 1 and not reader.starts(i) for i in owner.iters)
    return replace(form, init=value, partial_init=partial)


def _fill(op: ir.Operation, form: Form, reader: _FormReader, store: ir.Operation) -> Tree:
    """The constant with which an init fills exactly the region that the nest updates."""
    stores = [o for o in ops(op) if isa(o, ElementStoreOp)]
    if len(stores) != 1 or accesses_of_op(stores[0])[0].buffer != form.operands[form.output].buffer.value:
        raise NotRaisable("its init does more than fill the result", op)
    if any(isa(o, IfOp) for o in ops(op)[1:]):
        raise NotRaisable("its init contains a condition", op)
    value = reader.tree(StoreOp(stores[0]).value)
    if any(True for _ in scalar_tree.leaves(value)):
        raise NotRaisable("its init is not a constant", op)
    filled, updated = (footprint(accesses_of_op(s), reader.around, guards=False)[0] for s in (stores[0], store))
    if not filled.get_space().is_equal(updated.get_space()) or not filled.is_equal(updated):
        raise NotRaisable("its init fills another region than it updates", op)
    return value
