"""What is wrong with a program at some sizes, as `timing.faults` looks for it at numbers: proved by isl for all sizes.

Each instruction of the text is a statement over its loops, at a time: its place in the text and the loops, in turns.
The flow of isl says which write each read of a row gets, and which set each need of a register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.operands import Field, Tile
from tir_mlir.accel.program import Clipped, For, Issue, MachineBuffer, MachineProgram, Node, Value, When
from tir_mlir.accel.timing.accesses import limits
from tir_mlir.accel.timing.faults import loops_around
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.presburger.questions import BUILD_OPERATIONS, question
from tir_mlir.dialect.symbolic import Constant, IntExpr, Operation, Polynomial, as_expr, equal, fold
from tir_mlir.dialect.symbolic.expression import DIVISIONS, SUMS


def fault_at_some_sizes(placed: PlacedProgram) -> str | None:
    """The sizes at which an instruction is wrong, why, and its line; None if all are right at all sizes.

    Errors: NotProvable for what isl cannot express or decide.
    """
    program = placed.program
    if any(isinstance(n, For) and n.is_over_cores for n in program.nodes()):
        raise NotProvable("cores beside each other, at sizes that a call decides")
    with question(f"the rows and registers of {program.name} at all sizes", BUILD_OPERATIONS):
        proof = _Proof(placed)
        for find in (proof.bounds, proof.rows, proof.registers):
            if (fault := find()) is not None:
                return fault
    return None


@dataclass(eq=False)
class _Statement:
    """An instruction of the text."""

    number: int
    issue: Issue
    loops: tuple[str, ...]
    conditions: tuple[str, ...]
    time: tuple[str, ...]

    def tuple_of(self) -> str:
        """Its points, with the loops as numbered variables."""
        return f"S{self.number}[{', '.join(self.variables())}]"

    def variables(self, suffix: str = "") -> list[str]:
        return [f"l{n}{suffix}" for n in range(len(self.loops))]


@dataclass(eq=False)
class _Access:
    """What a statement does with rows of a memory, or with a field: a name for it, and the access as a map."""

    name: str
    statement: _Statement
    what: MachineBuffer | Field
    operand: str
    map: isl.Map


@dataclass
class _Proof:
    placed: PlacedProgram
    statements: list[_Statement] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.program: MachineProgram = self.placed.program
        self.sizes = {word: f"p{n}" for n, word in enumerate(self.program.sizes.values())}
        self.head = f"[{', '.join(self.sizes.values())}] -> "
        self.known = [f"{p} >= 0" for p in self.sizes.values()]
        self._add(self.program.body, (), (), ())
        self.depth = max((len(s.time) for s in self.statements), default=0)

    def _add(
        self, body: Sequence[Node], loops: tuple[str, ...], conditions: tuple[str, ...], time: tuple[str, ...]
    ) -> None:
        for place, node in enumerate(body):
            now = (*time, str(place))
            if isinstance(node, Issue):
                self.statements.append(_Statement(len(self.statements), node, loops, conditions, now))
            elif isinstance(node, For):
                inner = (*loops, node.var)
                own = f"l{len(loops)}"
                ends = [f"{own} < {self.text(high, inner)}" for high in node.highs]
                begin = f"{self.text(node.low, inner)} <= {own}"
                self._add(node.body, inner, (*conditions, begin, *ends), (*now, own))
            elif isinstance(node, When):
                tests = [f"{self.text(e, loops)} {'=' if is_eq else '>='} 0" for e, is_eq in node.conditions]
                self._add(node.body, loops, (*conditions, *tests), now)

    def text(self, expr: IntExpr, loops: Sequence[str], suffix: str = "") -> str:
        """An index for isl. Errors: NotProvable for a product of variables."""
        names = self.sizes | {loop: f"l{n}{suffix}" for n, loop in enumerate(loops)}

        def apply(symbol: str, left: str, right: str) -> str:
            if symbol == "//":
                return f"floor(({left})/{right})"
            if symbol == "%":
                return f"(({left}) mod {right})"
            return f"({left} {symbol} {right})"

        _check_affine(expr)
        return fold(expr, lambda leaf: names.get(str(leaf), str(leaf)), apply)

    def less_than(self, variable: str, value: Value, loops: Sequence[str]) -> str:
        """A variable is less than a number of an instruction."""
        if isinstance(value, IntExpr):
            return f"{variable} < {self.text(value, loops)}"
        if not isinstance(value, Clipped):
            raise NotProvable("a size that is not an integer")
        test = f"{variable} < {self.text(value.number, loops)}"
        test = test if value.low is None else f"({test} or {variable} < {value.low})"
        return test if value.high is None else f"({test} and {variable} < {value.high})"

    def points(self, statement: _Statement) -> isl.Set:
        conditions = " and ".join([*self.known, *statement.conditions]) or "true"
        return isl.Set(f"{self.head}{{ {statement.tuple_of()} : {conditions} }}")

    # --- rows and elements that tiles use ---------------------------------------------------------------------------

    def used(self, statement: _Statement, tile: Tile, name: str, first: int = 0) -> isl.Map:
        """The rows that a tile uses, from the first row of its buffer, or of the memory, on; elements on the CPU."""
        address = statement.issue.tiles[tile.name]
        shape, strides = tile.shape, [_constant(s) for s in address.strides]
        if tile.memory is not None:
            shape, strides = tile.grid, tile.strides_in_rows(strides)
        indices = [f"g{n}" for n in range(len(shape))]
        tests = self._bound_tests(statement, tile, shape, indices)
        sums = [f"{index} * {stride}" for index, stride in zip(indices, strides, strict=True)]
        start = self.text(address.start, statement.loops)
        tests.append(f"r = {' + '.join([str(first), start, *sums])}")
        exists = f"exists {', '.join(indices)} : " if indices else ""
        conditions = " and ".join([*self.known, *statement.conditions])
        text = f"{statement.tuple_of()} -> {name}[r] : {conditions} and ({exists}{' and '.join(tests)})"
        return isl.Map(f"{self.head}{{ {text} }}")

    def _bound_tests(
        self, statement: _Statement, tile: Tile, shape: Sequence[int], indices: Sequence[str]
    ) -> list[str]:
        """The conditions under which indices of a tile are of an element that the instruction accesses."""
        limited = limits(statement.issue.instruction, tile)
        tests = [f"0 <= {index} < {size}" for index, size in zip(indices, shape, strict=True)]
        for dimension, limit in limited.items():
            if dimension < len(indices):
                window = indices[dimension]  # the number of the last window that has this index
                if (limit.factor, limit.rest) != (1, 0):
                    window = f"floor(({window} - {limit.rest}) / {limit.factor})"
                    tests.append(self.less_than("0", statement.issue.numbers[limit.size], statement.loops))
                tests.append(self.less_than(window, statement.issue.numbers[limit.size], statement.loops))
        return tests

    def bounds(self) -> str | None:
        """An operand that is not inside of its buffer, or a buffer that is not inside of its memory."""
        for statement, tile in self._tiles():
            buffer = statement.issue.tiles[tile.name].buffer
            if tile.memory is None:
                outside = self._outside_on_host(statement, tile, buffer)
                what = f"operand {tile.name} has an element outside of {buffer.name}"
            else:
                ends = isl.Set(f"{{ rows[r] : 0 <= r < {buffer.rows} }}")
                outside = self.used(statement, tile, "rows").subtract_range(ends).domain()
                what = f"operand {tile.name} has a row outside of {buffer.name}, which has {buffer.rows}"
                if self.placed.rows[buffer] + buffer.rows > tile.memory.rows:
                    outside = self.points(statement)
                    what = f"{buffer.name} ends behind {tile.memory.name}, which has {tile.memory.rows} rows"
            if not outside.is_empty():
                return self._describe_fault(statement, outside, what)
        return None

    def _tiles(self) -> Iterator[tuple[_Statement, Tile]]:
        for statement in self.statements:
            for tile in statement.issue.instruction.tiles:
                yield statement, tile

    def _outside_on_host(self, statement: _Statement, tile: Tile, buffer: MachineBuffer) -> isl.Set:
        """Where an element of a tile in the memory of the CPU is not one of its buffer. Errors: NotProvable where rows
        have a distance that is a size, and an index is not shown to be in its dimension."""
        extents = [as_expr(n) for n in buffer.extents]
        indices = [f"g{n}" for n in range(len(tile.shape))]
        is_linear = all(isinstance(n, Constant) for n in extents[1:])
        parts = _linear(statement, tile, extents) if is_linear else _by_dimension(statement, tile, extents)
        tests = [f"0 <= {index} and {index} < {size}" for index, size in self._index_texts(parts, statement)]
        inside = f"{statement.tuple_of()} -> T[{', '.join(indices)}] : "
        conditions = [*self.known, *statement.conditions, *self._bound_tests(statement, tile, tile.shape, indices)]
        used = isl.Map(f"{self.head}{{ {inside}{' and '.join(conditions)} }}")
        outside = used.subtract(isl.Map(f"{self.head}{{ {inside}{' and '.join(tests)} }}")).domain()
        if not is_linear and not outside.is_empty():
            raise NotProvable(f"the elements of {buffer.name} that {statement.issue.instruction.name} uses")
        return outside

    def _index_texts(self, parts: Sequence[_HostIndex], statement: _Statement) -> Iterator[tuple[str, str]]:
        for part in parts:
            steps = [f" + {step} * g{n}" for n, step in part.steps.items()]
            yield f"({self.text(part.start, statement.loops)}{''.join(steps)})", self.text(part.size, ())

    # --- flow: what each read gets ------------------------------------------------------------------------------------

    def rows(self) -> str | None:
        """A read of a row that was not written, or for another buffer, or in an earlier life of it."""
        for memory in self.program.machine.spaces.values():
            reads, writes = list[_Access](), list[_Access]()
            for statement, tile in self._tiles():
                if tile.memory != memory:
                    continue
                buffer = statement.issue.tiles[tile.name].buffer
                used = self.used(statement, tile, "rows", self.placed.rows[buffer])
                for access, found in (("r", reads), ("w", writes)):
                    if access in tile.access:
                        name = f"S{statement.number}{tile.name}{access}"
                        found.append(
                            _Access(name, statement, buffer, tile.name, used.set_tuple_name(isl.dim_type.in_, name))
                        )
            if (fault := self._flow(reads, writes, self._wrong_row)) is not None:
                return fault
        return None

    def _wrong_row(self, read: _Access, write: _Access, pairs: isl.Map) -> tuple[isl.Set, str] | None:
        """Where a read gets the write of another buffer, or that of an earlier life."""
        buffer = read.what
        assert isinstance(buffer, MachineBuffer)
        where = f"a row of {buffer.name}, operand {read.operand}, has"
        if write.what is not buffer:
            assert isinstance(write.what, MachineBuffer)
            return pairs.range(), f"{where} an element of {write.what.name}, written by"
        around = [n for n, loop in enumerate(read.statement.loops) if loop in loops_around(self.program.body)[buffer]]
        for column in around:
            pairs_same = pairs.equate(isl.dim_type.in_, column, isl.dim_type.out, column)
            if not (old := pairs.subtract(pairs_same)).is_empty():
                return old.range(), f"{where} what an earlier iteration wrote, written by"
        return None

    def registers(self) -> str | None:
        """A need of a register that was not set, or is another number."""
        for needed in sorted({f for s in self.statements for f in s.issue.instruction.needs}, key=str):
            sets = [self._field_access(s, needed, "w") for s in self.statements if needed in s.issue.instruction.sets]
            needs = [self._field_access(s, needed, "r") for s in self.statements if needed in s.issue.instruction.needs]
            if (fault := self._flow(needs, sets, self._wrong_value)) is not None:
                return fault
        return None

    def _field_access(self, statement: _Statement, what: Field, access: str) -> _Access:
        name = f"S{statement.number}{access}"
        points = self.points(statement).set_tuple_name(name)
        return _Access(name, statement, what, str(what), isl.Map.from_domain_and_range(points, isl.Set("{ F[] }")))

    def _wrong_value(self, need: _Access, setter: _Access, pairs: isl.Map) -> tuple[isl.Set, str] | None:
        what = need.what
        assert isinstance(what, Field)
        given = setter.statement.issue.numbers[what.name]
        wanted = need.statement.issue.required_value(need.statement.issue.instruction.needs[what])
        told = f"register {what} is {_number(given)}; it needs {_number(wanted)}; set by"
        if isinstance(given, Clipped) or isinstance(wanted, Clipped):
            raise NotProvable(f"register {what} is a minimum or a maximum")
        if not (isinstance(given, IntExpr) and isinstance(wanted, IntExpr)):
            return None if _as_float(given) == _as_float(wanted) else (pairs.range(), told)
        first, second = setter.statement, need.statement
        given_text, wanted_text = self.text(given, first.loops, "a"), self.text(wanted, second.loops, "b")
        sides = f"{setter.name}[{', '.join(first.variables('a'))}] -> {need.name}[{', '.join(second.variables('b'))}]"
        wrong = pairs.intersect(isl.Map(f"{self.head}{{ {sides} : {given_text} != {wanted_text} }}"))
        return None if wrong.is_empty() else (wrong.range(), told)

    def _flow(
        self,
        reads: Sequence[_Access],
        writes: Sequence[_Access],
        wrong: Callable[[_Access, _Access, isl.Map], tuple[isl.Set, str] | None],
    ) -> str | None:
        """The first fault of reads by the writes that they get. An instruction reads, then writes."""
        if not reads:
            return None
        info = isl.UnionAccessInfo.from_sink(_union([r.map for r in reads]))
        if writes:
            info = info.set_must_source(_union([w.map for w in writes]))
        flow = info.set_schedule_map(_union([self._time(a) for a in (*reads, *writes)])).compute_flow()
        by_name = {a.name: a for a in (*reads, *writes)}
        unset = flow.get_must_no_source()
        for access in reads:
            missing = unset.intersect_domain(isl.UnionSet.from_set(access.map.domain()))
            if not missing.is_empty():
                what = "register" if isinstance(access.what, Field) else "a row of operand"
                verb = "was never set" if isinstance(access.what, Field) else "is read before it is written"
                return self._describe_fault(
                    access.statement, _set_of(missing.domain()), f"{what} {access.operand} {verb}"
                )
        for pairs in _maps(flow.get_must_dependence()):
            write, read = (by_name[pairs.get_tuple_name(side)] for side in (isl.dim_type.in_, isl.dim_type.out))
            if (found := wrong(read, write, pairs)) is not None:
                where, what = found
                line = write.statement.issue.line
                text = f"{what} {write.statement.issue.instruction.name}\n  {line}"
                return self._describe_fault(read.statement, where, text)
        return None

    def _time(self, access: _Access) -> isl.Map:
        statement = access.statement
        time = [*statement.time, *["0"] * (self.depth - len(statement.time)), str(int(access.name[-1] == "w"))]
        variables = ", ".join(statement.variables())
        return isl.Map(f"{{ {access.name}[{variables}] -> [{', '.join(time)}] }}")

    def _describe_fault(self, statement: _Statement, where: isl.Set, what: str) -> str:
        """A fault, with the sizes and the iteration of one point at which it happens."""
        point = where.lexmin().sample_point()
        names = [where.get_dim_name(isl.dim_type.param, n) for n in range(where.dim(isl.dim_type.param))]
        values = {n: point.get_coordinate_val(isl.dim_type.param, names.index(n)).to_python() for n in names}
        sizes = ", ".join(f"{n} = {values.get(self.sizes[word], 0)}" for n, word in self.program.sizes.items())
        at_loops = [point.get_coordinate_val(isl.dim_type.set, n).to_python() for n in range(len(statement.loops))]
        loops = ", ".join(f"{n} = {v}" for n, v in zip(statement.loops, at_loops, strict=True))
        at = f" at {loops}" if loops else ""
        return f"{statement.issue.instruction.name}{at}, where {sizes}: {what}\n  {statement.issue.line}"


@dataclass(frozen=True)
class _HostIndex:
    """An index of an element of a tile: its start, the step of each dimension of the tile, and what it has to be less
    than."""

    start: IntExpr
    steps: Mapping[int, int]
    size: IntExpr


def _linear(statement: _Statement, tile: Tile, extents: Sequence[IntExpr]) -> list[_HostIndex]:
    """Elements behind the first one of a buffer, of which only the first size is a variable."""
    address = statement.issue.tiles[tile.name]
    steps = {n: _constant(stride) for n, stride in enumerate(address.strides)}
    size = extents[0] if extents else Constant(1)
    for extent in extents[1:]:
        size = size * extent
    return [_HostIndex(address.start, steps, as_expr(size))]


def _by_dimension(statement: _Statement, tile: Tile, extents: Sequence[IntExpr]) -> list[_HostIndex]:
    """An index in each dimension of a buffer. Errors: NotProvable for an address that is not a sum of strides."""
    address = statement.issue.tiles[tile.name]
    strides: list[IntExpr] = [Constant(1)]
    for extent in reversed(extents[1:]):
        strides.insert(0, as_expr(strides[0] * extent))
    rest, found = Polynomial.from_expr(address.start), list[_HostIndex]()
    for stride, extent in zip(strides, extents, strict=True):
        steps = {n: 1 for n, own in enumerate(address.strides) if equal(own, stride)}
        index = _quotient(rest, Polynomial.from_expr(stride))
        rest = rest - index * Polynomial.from_expr(stride)
        found.append(_HostIndex(index.expr(), steps, extent))
    if rest.terms or sum(len(part.steps) for part in found) != len(address.strides):
        raise NotProvable(f"the elements of {address.buffer.name} that begin at {address.start}")
    return found


def _quotient(total: Polynomial, stride: Polynomial) -> Polynomial:
    """The terms of a sum that are multiples of a stride, divided by it."""
    ((wanted, factor),) = stride.terms.items()
    found: dict[tuple[IntExpr, ...], int] = {}
    for factors, number in total.terms.items():
        left = list(factors)
        if number % factor == 0 and all(_remove(left, f) for f in wanted):
            found[tuple(left)] = number // factor
    return Polynomial(found)


def _remove(factors: list[IntExpr], factor: IntExpr) -> bool:
    if factor not in factors:
        return False
    factors.remove(factor)
    return True


def _constant(expr: IntExpr) -> int:
    if not isinstance(expr, Constant):
        raise NotProvable(f"a stride, or a register, that is {expr}")
    return int(expr.value)


def _as_float(value: IntExpr | float) -> float:
    if isinstance(value, IntExpr):
        return float(_constant(value))
    return value


def _number(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_affine(expr: IntExpr) -> None:
    """Errors: NotProvable for a product, a quotient or a remainder of variables."""
    if isinstance(expr, Operation):
        if expr.symbol not in SUMS and not isinstance(expr.right, Constant) and not isinstance(expr.left, Constant):
            raise NotProvable(f"{expr}, which is not affine")
        if expr.symbol in DIVISIONS and not isinstance(expr.right, Constant):
            raise NotProvable(f"{expr}, which is not affine")
        _check_affine(expr.left)
        _check_affine(expr.right)


def _union(maps: Sequence[isl.Map]) -> isl.UnionMap:
    union = isl.UnionMap.from_map(maps[0])
    for one in maps[1:]:
        union = union.union(isl.UnionMap.from_map(one))
    return union


def _maps(union: isl.UnionMap) -> list[isl.Map]:
    found: list[isl.Map] = []
    union.foreach_map(found.append)
    return found


def _set_of(union: isl.UnionSet) -> isl.Set:
    found: list[isl.Set] = []
    union.foreach_set(found.append)
    return found[0]
