"""The operands of an instruction, and what it needs and assumes, read from the function that describes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from tir_mlir.accel.instruction import Operand
from tir_mlir.accel.operands import (
    Assumption,
    Between,
    Field,
    HostOperand,
    MemorySpace,
    Number,
    Register,
    RowsOf,
    Stride,
    Tile,
    UpTo,
)
from tir_mlir.dialect.diagnostics import ScriptError, TirError
from tir_mlir.dialect.symbolic import Dim, IntExpr, as_expr, from_ast, names_in
from tir_mlir.script.parser import FunctionSource

Kind = MemorySpace | RowsOf | HostOperand | UpTo | Between | str
"""The annotation of an operand; of a number without bounds, its type."""
EVALUATION_ERRORS = (
    ArithmeticError, AttributeError, LookupError, NameError, TirError, TypeError, ValueError,
)  # fmt: skip
"""What Python, and what this package, raises in an expression; functions of the user may raise others."""


class Description:
    """The operands and the statements of a description."""

    def __init__(self, program: FunctionSource, calls: Sequence[str]):
        self.program, self.calls = program, calls
        self.kinds = {a.arg: self._annotation(a) for a in program.node.args.args}
        self.sources: dict[Field, Stride | str | int] = {}
        """What each field that it needs has to be: a stride, an operand that is a number, or a constant."""
        self.assumptions: list[Assumption] = []
        statements = [s for s in program.node.body if not _is_note(s)]
        self.body = [s for s in statements if not self._takes(s)]
        self.operands: dict[str, Operand] = {name: self._operand(name, kind) for name, kind in self.kinds.items()}

    @property
    def needs(self) -> dict[Field, Stride | Number | int]:
        """The fields that the instruction depends on, and what each has to be."""
        numbers = {o.name: o for o in self.operands.values() if isinstance(o, Number)}
        return {f: numbers[s] if isinstance(s, str) else s for f, s in self.sources.items()}

    def error(self, node: ast.AST, message: str) -> ScriptError:
        return self.program.source.error(node, message)

    def _value(self, node: ast.expr) -> object:
        """What an expression of Python is where the instruction is described."""
        names = {
            n.id: self.program.names[n.id]
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and n.id in self.program.names
        }
        try:
            return eval(compile(ast.Expression(node), self.program.source.filename, "eval"), {}, names)
        except EVALUATION_ERRORS as error:
            raise self.error(node, f"this cannot be computed: {error}") from None

    def _annotation(self, arg: ast.arg) -> Kind:
        if arg.annotation is None:
            raise self.error(arg, f"operand {arg.arg} needs an annotation: a memory, m.host(dtype), upto(n) or a type")
        node = arg.annotation
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = ast.copy_location(ast.parse(node.value, mode="eval").body, node)
        kind = self._value(node)
        if isinstance(kind, MemorySpace | RowsOf | HostOperand | UpTo | Between):
            return kind
        dtype = getattr(kind, "dtype", None) or getattr(kind, "name", None)
        if not isinstance(dtype, str):
            raise self.error(arg, f"operand {arg.arg} is a memory, m.host(dtype), upto(n) or a type such as T.int32")
        return dtype

    def _is_number(self, name: str) -> bool:
        return isinstance(self.kinds.get(name), UpTo | Between | str)

    def _takes(self, statement: ast.stmt) -> bool:
        """Whether a statement is a `T.assume` that the instruction takes: of a field that it then needs, such as
        `T.assume(operand == register.field)`, or of strides."""
        match statement:
            case ast.Expr(ast.Call(ast.Attribute(_, "assume"), [ast.Compare(left, [op], [right]) as compare])):
                return self._takes_field(left, op, right) or self._takes_strides(compare, left, op, right)
            case _:
                return False

    def _takes_field(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        """Whether a comparison is `operand == register.field`, in either order."""
        for one, other in ((left, right), (right, left)) if isinstance(op, ast.Eq) else ():
            if (field := self._field(one)) is not None:
                self.sources[field] = self._source(other)
                return True
        return False

    def _takes_strides(self, compare: ast.Compare, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        """Whether a comparison is of strides. Refuses one that has a field in an expression."""
        self._refuse_part(compare)
        if not any(isinstance(n, ast.Attribute) and n.attr == "strides" for n in ast.walk(compare)):
            return False
        symbol = _SYMBOLS.get(type(op))
        if symbol is None:
            raise self.error(compare, "an assumption on strides is an ==, <= or >= of two numbers")
        sides = [from_ast(side, self._number_name, self._stride_name) for side in (left, right)]
        self.assumptions.append(Assumption(ast.unparse(compare), symbol, *sides))
        return True

    def _refuse_part(self, compare: ast.Compare) -> None:
        """Refuse a comparison that has a field in an expression."""
        for node in ast.walk(compare):
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            is_outside = node.value.id not in self.kinds and node.value.id in self.program.names
            if is_outside and self._field(node) is not None:
                raise self.error(compare, _fix(ast.unparse(node)))

    def _number_name(self, name: str) -> IntExpr:
        if not self._is_number(name):
            raise self.error(self.program.node, f"{name} is not an operand that is a number")
        return Dim(name)

    def _stride_name(self, node: ast.expr) -> IntExpr:
        source = self._source(node)
        return as_expr(source) if isinstance(source, int) else Dim(str(source))

    def _field(self, node: ast.expr) -> Field | None:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        register = self._value(node.value)
        if not isinstance(register, Register):
            return None
        if node.attr not in register.fields:
            raise self.error(node, f"register {register.name} has no field {node.attr}: {', '.join(register.fields)}")
        return register.fields[node.attr]

    def _source(self, node: ast.expr) -> Stride | str | int:
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(name), "strides"), ast.Constant(int(dimension))):
                if name in self.kinds:
                    return Stride(name, dimension)
            case ast.BinOp(stride, ast.Mult(), ast.Constant(int(factor))):
                if isinstance(source := self._source(stride), Stride):
                    return replace(source, factor=factor)
            case ast.Name(name) if self._is_number(name):
                return name
            case ast.Constant(int(number)):
                return number
            case _:
                pass
        raise self.error(node, _fix("a field"))

    def _operand(self, name: str, kind: Kind) -> Operand:
        if isinstance(kind, UpTo):
            return Number(name, "int32", kind.high)
        if isinstance(kind, Between):
            high = int(kind.high) if kind.dtype == "int32" and kind.low >= 0 and self._is_size(name) else None
            return Number(name, kind.dtype, high, kind)
        if isinstance(kind, str):
            return Number(name, kind)
        accesses = [
            n for s in self.body for n in ast.walk(s) if isinstance(n, ast.Subscript) and _indexed_name(n) == name
        ]
        if not accesses:
            raise self.error(self.program.node, f"the description does not use operand {name}")
        shape = self._shape(name, accesses)
        stores = [
            t for s in self.body for n in ast.walk(s) if isinstance(n, ast.Assign | ast.AugAssign) for t in _targets(n)
        ]
        writes = any(_indexed_name(t) == name for t in stores)
        reads = any(isinstance(n.ctx, ast.Load) for n in accesses) or any(
            isinstance(n, ast.AugAssign) and _indexed_name(n.target) == name for s in self.body for n in ast.walk(s)
        )
        reads &= not any(name in _initialized_operands(s) for s in self.body)
        access = ("r" if reads else "") + ("w" if writes else "")
        if isinstance(kind, HostOperand):
            return Tile(name, None, kind.dtype, shape, access, free=tuple(range(len(shape) - 1)))
        memory = kind.memory if isinstance(kind, RowsOf) else kind
        count = len(kind.row)
        if len(shape) < count or any(n > size for n, size in zip(shape[-count:], kind.row, strict=True)):
            columns, row = (" x ".join(map(str, n)) for n in (shape[-count:], kind.row))
            raise self.error(
                self.program.node, f"operand {name} has {columns} columns; a row of {memory.name} has {row}"
            )
        shape = (*shape[:-count], *kind.row)
        free = tuple(d for d in range(len(shape) - count) if self._names_stride(name, d))
        return Tile(name, memory, kind.dtype, shape, access, kind.row, free)

    def _is_size(self, name: str) -> bool:
        """Whether a number limits loops or conditions."""
        tests = [n for s in self.body for n in ast.walk(s) if isinstance(n, ast.Compare)]
        tests += [n.iter for s in self.body for n in ast.walk(s) if isinstance(n, ast.For)]
        return any(isinstance(n, ast.Name) and n.id == name for test in tests for n in ast.walk(test))

    def _names_stride(self, name: str, dimension: int) -> bool:
        """Whether a call or an assumption names a stride of an operand."""
        in_calls = any(f"{{{name}.strides[{dimension}]}}" in call for call in self.calls)
        stride = f"{name}.strides[{dimension}]"
        assumed = any(stride in names_in(side) for a in self.assumptions for side in (a.left, a.right))
        needed = any(
            isinstance(s, Stride) and (s.operand, s.dimension) == (name, dimension) for s in self.sources.values()
        )
        return in_calls or assumed or needed

    def _shape(self, name: str, accesses: Sequence[ast.Subscript]) -> tuple[int, ...]:
        """The greatest index in each dimension, plus one."""
        loops = {v: e for s in self.body for v, e in _loops(s)}
        iters = {v: e for s in self.body for v, e in _iters(s)}
        known = {n: int(k.high) for n, k in self.kinds.items() if isinstance(k, UpTo | Between)}
        sizes: list[int] = []
        for access in accesses:
            indices = access.slice.elts if isinstance(access.slice, ast.Tuple) else [access.slice]
            if sizes and len(indices) != len(sizes):
                raise self.error(access, f"operand {name} is used with {len(sizes)} and with {len(indices)} indices")
            for number, index in enumerate(indices):
                greatest = self._greatest(index, loops, iters, known) + 1
                sizes[number : number + 1] = (
                    [max(greatest, *sizes[number : number + 1])] if number < len(sizes) else [greatest]
                )
        return tuple(sizes)

    def _greatest(
        self, index: ast.expr, loops: Mapping[str, ast.expr], iters: Mapping[str, ast.expr], known: Mapping[str, int]
    ) -> int:
        """The greatest value of an index, at the start or the end of each loop, iter of a block and number."""
        words = {n.id for n in ast.walk(index) if isinstance(n, ast.Name)}
        ends = {word: high for word, high in known.items() if word in words}
        ends |= {word: self._greatest(loops[word], {}, {}, known) - 1 for word in words & loops.keys()}
        ends |= {word: self._greatest(iters[word], loops, {}, known) for word in words & iters.keys()}
        code, outer = compile(ast.Expression(index), self.program.source.filename, "eval"), dict(self.program.names)
        corners = product(*((0, end) for end in ends.values()))
        try:
            return max(int(eval(code, {}, {**outer, **dict(zip(ends, c, strict=True))})) for c in corners)
        except EVALUATION_ERRORS as error:
            raise self.error(index, f"the extent of this index is not known: {error}") from None


_SYMBOLS: dict[type[ast.cmpop], str] = {ast.Eq: "==", ast.LtE: "<=", ast.GtE: ">="}


def _fix(field: str) -> str:
    """What may be assumed of a field."""
    return (
        f"{field} alone is on one side of ==, on the other a number, an operand that is one, A.strides[n] or "
        "A.strides[n] * 2; fix: give the field the value that the operand has, and compute what the register holds in "
        'the call that sets it: call="set_rows({rows} / 8)"'
    )


def _is_note(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, `...` or `pass`."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _indexed_name(node: ast.AST) -> str | None:
    return node.value.id if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) else None


def _targets(node: ast.Assign | ast.AugAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _initialized_operands(statement: ast.stmt) -> set[str]:
    """The operands that blocks give start values: what they read of them, they wrote."""
    inits = [
        n
        for n in ast.walk(statement)
        if isinstance(n, ast.With)
        and any(isinstance(i.context_expr, ast.Call) and _is_word(i.context_expr.func, "init") for i in n.items)
    ]
    stores = [t for init in inits for n in ast.walk(init) if isinstance(n, ast.Assign) for t in n.targets]
    return {name for t in stores if (name := _indexed_name(t)) is not None}


def _is_word(node: ast.expr, word: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == word


def _iters(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The iters of blocks, and what is bound to each: `vi, vk = T.axis.remap("SR", [i, k])`."""
    for node in ast.walk(statement):
        match node:
            case ast.Assign(
                [ast.Tuple(targets)], ast.Call(ast.Attribute(_, "remap"), [_, ast.List(values) | ast.Tuple(values)])
            ):
                yield from ((t.id, v) for t, v in zip(targets, values, strict=False) if isinstance(t, ast.Name))
            case ast.Assign([ast.Tuple(targets)], ast.Tuple(declared)):
                yield from (i for t, d in zip(targets, declared, strict=False) for i in _iter(t, d))
            case ast.Assign([target], declared):
                yield from _iter(target, declared)
            case _:
                pass


def _iter(target: ast.expr, declared: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """An iter, and what is bound to it, of a declaration of one: `vi = T.axis.spatial(16, i)`."""
    match target, declared:
        case ast.Name(name), ast.Call(ast.Attribute(ast.Attribute(_, "axis")), [_, value]):
            yield name, value
        case _:
            pass


def _loops(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The loop variables, and the ends of their ranges."""
    for node in ast.walk(statement):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
            variables = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
            ends = node.iter.args if len(variables) > 1 else node.iter.args[-1:]
            yield from ((v.id, e) for v, e in zip(variables, ends, strict=False) if isinstance(v, ast.Name))
