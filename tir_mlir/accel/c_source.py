"""A program of a machine as C99: its calls in loops, addresses as named constants, nothing of a C library."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.cores import loop_over_cores
from tir_mlir.accel.operands import FLAGS, Number
from tir_mlir.accel.program import (
    Allocate,
    Clipped,
    For,
    HostCode,
    Issue,
    MachineBuffer,
    MachineProgram,
    Node,
    TileAddress,
    Value,
    When,
    walk,
)
from tir_mlir.dialect.diagnostics import IntrinError
from tir_mlir.dialect.ir import dtypes, enter_context, funcs
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr, Operation, Symbol, c_code, fold, operation
from tir_mlir.dialect.symbolic.expression import SUMS
from tir_mlir.runtime.drivers.c_entry import C_TYPES
from tir_mlir.runtime.gpu.source.plain_c import C99, CText

if TYPE_CHECKING:
    from tir_mlir.accel.machine import Machine

_SLOT = re.compile(r"\{(\w+)(?:\.(row)|\.strides\[(\d+)\])?\}")
_INDENT = "  "
ALIGNED = """#if defined(__GNUC__)
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif"""
_NO_LIBRARY = """#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("no-tree-loop-distribute-patterns") /* no loop becomes a call of memset */
#endif"""
"""Loops remain loops, and a product and a sum are rounded one after the other."""
RESERVED = frozenset(C99.helpers) | {"ALIGNED"}
"""Names that a file may define."""


def print_c(header: str, functions: Mapping[str, PlacedProgram]) -> str:
    """The C source of programs of a machine, by the names of their functions.

    It needs the functions that the calls of instructions name: `header` declares them. Temporaries of the CPU are in
    arrays that all functions share: they run one after the other. Errors: IntrinError for a call that names anything
    but its operands, BuildError for a statement of the CPU that C99 has nothing for.
    """
    text = CText()
    texts = [_Printer(placed, text).text(name) for name, placed in functions.items()]
    sizes: dict[str, int] = {}
    for placed in functions.values():
        for dtype, count in placed.temporary_elements().items():
            sizes[dtype] = max(count, sizes.get(dtype, 0))
    arrays = [f"static {C_TYPES[dtype]} {_array(dtype)}[{max(1, n)}] ALIGNED;" for dtype, n in sizes.items()]
    if arrays:
        arrays = ["", "/* temporaries of the CPU; the functions run one after the other */", *arrays]
    if arrays or any(b.values is not None for placed in functions.values() for b in _buffers(placed.program)):
        arrays = [ALIGNED, *arrays]
    includes = ["#include <stdbool.h>", "#include <stdint.h>", *([header] if header else [])]
    parts = ["/* made by tir_mlir */", _NO_LIBRARY, *includes, *text.head(), *arrays]
    return "\n".join([*parts, "", *texts])


def _array(dtype: str) -> str:
    """The array of the temporaries of a type."""
    return f"{dtype}_temporaries"


def print_calls(machine: Machine, issue: Issue) -> list[str]:
    """The statements that issue an instruction outside of a program; its buffers begin at row 0."""
    rows = {t.buffer: 0 for t in issue.tiles.values() if t.buffer.memory is not None}
    printer = _Printer(PlacedProgram(MachineProgram("", machine, [], [issue]), rows, {}), CText())
    return [*printer.addresses(), *(f"{call};" for call in printer.calls(issue))]


class _Printer:
    """Prints the function of a program; `c` gets the functions that it needs."""

    def __init__(self, placed: PlacedProgram, c: CText):
        self.program, self.placed, self.c = placed.program, placed, c
        self.taken = {b.name for b in _buffers(self.program)} | {
            n.var for n in self.program.nodes() if isinstance(n, For)
        }
        self.constants: dict[MachineBuffer, str] = {}
        for buffer in placed.rows:
            name = buffer.name.upper()
            while name in self.taken or name in RESERVED:
                name += "_"
            self.constants[buffer] = name
            self.taken.add(name)
        self.taken |= {_array(dtype) for dtype in placed.temporary_elements()}
        self.ranges: dict[str, tuple[int | None, int | None]] = {}

    def text(self, name: str) -> str:
        body: list[str] = []
        self._body(self.program.body, _INDENT, body, ([], []))
        params = parameters(self.program)
        used = {b for n in self.program.nodes() for b in _used_buffers(n)}
        lines = [
            f"/* {p.name}: {' x '.join(map(_extent_text, p.extents))} of {p.dtype} */" for p in self.program.params
        ]
        if loop_over_cores(self.program) is not None:
            lines.append("/* core: the number of the core that calls it */")
        attributes = f"{a} " if (a := self.program.machine.attributes) else ""
        lines += [f"void {name}({params});", f"{attributes}void {name}({params})", "{"]
        lines += [*self.addresses(), *self._declarations(), *self._temporaries()]
        lines += [f"{_INDENT}(void){p.name};" for p in self.program.params if p not in used]
        words = set(re.findall(r"\w+", "\n".join(body)))
        lines += [f"{_INDENT}(void){size};" for size in self.program.sizes.values() if size not in words]
        return "\n".join([*lines, *body, "}", ""])

    def _index(self, expr: IntExpr) -> str:
        return c_text(self._bound_variables(expr))

    def _bound_variables(self, expr: IntExpr) -> IntExpr:
        """An index with loop variables that are at least 0 as sizes, which are, too: C divides these as Python does."""

        def leaf(inner: IntExpr) -> IntExpr:
            low = self.ranges.get(inner.name, (None, None))[0] if isinstance(inner, Dim) else None
            return Symbol(str(inner)) if low is not None and low >= 0 else inner

        return fold(expr, leaf, operation)

    def _choice(self, function: str, first: str, second: str) -> str:
        return f"{self.c.helper(function)}({first}, {second})"

    def addresses(self) -> list[str]:
        lines: list[str] = []
        for buffer, row in self.placed.rows.items():
            assert buffer.memory is not None
            last = row + buffer.rows - 1
            shape, memory = " x ".join(map(str, buffer.shape)), buffer.memory.name
            constant = self.constants[buffer]
            if buffer.memory.immediate:
                lines.append(f"{_INDENT}/* rows {row} to {last} of {memory}: {buffer.name}, {shape} */")
                continue
            lines.append(f"{_INDENT}enum {{ {constant} = {row} }}; /* rows {row} to {last} of {memory}: {shape} */")
        return lines

    def _declarations(self) -> list[str]:
        """The rows that are variables of C."""
        texts: list[str] = []
        for buffer, first in self.placed.rows.items():
            for row in range(first, first + buffer.rows):
                assert buffer.memory is not None
                texts.append(buffer.memory.declared.replace("{row}", str(row)))
        return [f"{_INDENT}{text};" for text in dict.fromkeys(texts) if text]

    def _temporaries(self) -> list[str]:
        """Pointers to the buffers in the memory of the CPU, and its constants."""
        lines: list[str] = []
        for buffer, start in self.placed.temporaries.items():
            shape, type_ = " x ".join(map(str, buffer.shape)), C_TYPES[buffer.dtype]
            place = _array(buffer.dtype) + (f" + {start}" if start else "")
            lines.append(f"{_INDENT}{type_} *const {buffer.name} = {place}; /* {shape} */")
        for buffer in _buffers(self.program):
            if buffer.values is not None:
                lines.append(f"{_INDENT}static {array_text(buffer.name, buffer.values, buffer.dtype)}")
        return lines

    def _body(self, body: Sequence[Node], indent: str, lines: list[str], around: tuple[list[str], list[str]]) -> None:
        """around: the buffers that the comment of an outer loop names: those that are read, those that are written."""
        for node in body:
            if isinstance(node, Issue):
                lines += [f"{indent}{call};" for call in self.calls(node)]
            elif isinstance(node, For) and node.is_over_cores:
                lines.append(f"{indent}if (core < {self._index(node.highs[0])}) {{")
                lines.append(f"{indent + _INDENT}const int32_t {node.var} = core;")
                self._body(node.body, indent + _INDENT, lines, around)
                lines.append(indent + "}")
            elif isinstance(node, HostCode):
                lines += self._host_code(node, indent)
            elif isinstance(node, For):
                names = _reads_and_writes(node)
                comment = f" /* {_flow(names)} */" if names != around else ""
                lines.append(f"{indent}{self._for_header(node)} {{{comment}")
                self._body(node.body, indent + _INDENT, lines, names)
                lines.append(indent + "}")
            elif not isinstance(node, Allocate):
                tests = [condition_text(self._bound_variables(e), is_equality) for e, is_equality in node.conditions]
                lines.append(f"{indent}if ({' && '.join(tests)}) {{")
                self._body(node.body, indent + _INDENT, lines, around)
                lines.append(indent + "}")

    def _for_header(self, node: For) -> str:
        ends = [self._index(e) for e in node.highs]
        end = ends[0]
        for other in ends[1:]:
            end = self._choice("least", end, other)
        start = self._index(node.low)
        first = node.low.value if isinstance(node.low, Constant) else None
        known = [int(e.value) - 1 for e in node.highs if isinstance(e, Constant)]
        self.ranges[node.var] = (first if first is None else int(first), min(known, default=None))
        return f"for (int32_t {node.var} = {start}; {node.var} < {end}; ++{node.var})"

    def _host_code(self, node: HostCode, indent: str) -> list[str]:
        """Statements on the CPU, in braces where they declare what another group may."""
        variables = [(self._index(v), self.ranges.get(str(v), (None, None))) for v in node.variables]
        pointers = [b.name for b in node.buffers]
        with enter_context():
            (function,) = funcs(node.code.module)
            lines = self.c.statements(function.op, pointers, variables, self.taken, len(indent) // 2)
        comment = f"/* on the CPU: {_flow(_reads_and_writes(node))} */"
        is_declared = any(re.match(rf"{indent}(const )?\w+ \w+( =|;)", line) for line in lines)
        if not is_declared:
            return [f"{indent}{comment}", *lines]
        return [f"{indent}{{ {comment}", *(_INDENT + line for line in lines), f"{indent}}}"]

    def calls(self, issue: Issue) -> list[str]:
        return [_SLOT.sub(lambda slot: _insert_text(slot, self._slot(issue, slot)), c) for c in issue.instruction.calls]

    def _slot(self, issue: Issue, slot: re.Match[str]) -> str:
        name, is_row, dimension = slot.groups()
        if name in issue.numbers:
            kind = next((n for n in issue.instruction.numbers if n.name == name), None)
            return self._value(issue.numbers[name], kind)
        address = issue.tiles.get(name)
        if slot[0] == FLAGS and self.program.machine.passes_tokens_by_flags(issue.instruction.unit):
            return self._flags(issue)
        if address is None:
            operands = ", ".join(o.name for o in issue.instruction.operands)
            raise IntrinError(f"the call of {issue.instruction} has {slot[0]}; its operands are {operands}")
        if dimension is not None:
            return self._index(address.strides[int(dimension)])
        return self._row(address) if is_row else self._pointer(address)

    def _flags(self, issue: Issue) -> str:
        """The flags that are set, each where its conditions hold."""
        texts: list[str] = []
        for flag in issue.flags:
            tests = [condition_text(self._bound_variables(e), is_equality) for e, is_equality in flag.conditions]
            (name,) = flag.passes.calls
            texts.append(f"({' && '.join(tests)} ? {name} : 0)" if tests else name)
        return " | ".join(texts) or "0"

    def _row(self, address: TileAddress) -> str:
        if address.buffer.memory is None:
            raise IntrinError(f"{address.buffer.name} is in the memory of the CPU and has no row")
        if address.buffer.memory.immediate and isinstance(address.start, Constant):
            return str(self.placed.rows[address.buffer] + int(address.start.value))
        start = self._index(address.start)
        base = self.constants[address.buffer]
        return base if start == "0" else f"{base} + {start}"

    def _pointer(self, address: TileAddress) -> str:
        if address.buffer.memory is not None:
            return self._row(address)
        start = self._index(address.start)
        return address.buffer.name if start == "0" else f"{address.buffer.name} + {start}"

    def _value(self, value: Value, kind: Number | None) -> str:
        dtype = kind.dtype if kind is not None else "float32"
        if isinstance(value, Clipped):
            text = self._index(value.number)
            text = text if value.high is None else self._choice("least", text, str(value.high))
            return text if value.low is None else self._choice("most", text, str(value.low))
        if isinstance(value, Constant):
            number = dtypes.as_typed(int(value.value), dtype) if dtypes.is_unsigned(dtype) else int(value.value)
            return ("true" if number else "false") if dtype == "bool" else c_integer(number)
        if isinstance(value, IntExpr):
            return self._index(value)
        if math.isfinite(value):
            return c_number(value, dtype)
        form, word, helper = ("<d", "<q", "as_f64") if dtype == "float64" else ("<f", "<i", "as_f32")
        return f"{self.c.helper(helper)}({struct.unpack(word, struct.pack(form, value))[0]})"


def written_buffers(program: MachineProgram) -> set[MachineBuffer]:
    """The buffers that a program writes."""
    return _written(program.body)


def parameters(program: MachineProgram) -> str:
    """The parameters of the function of a program."""
    written = written_buffers(program)
    pointers = [f"{'' if p in written else 'const '}{C_TYPES[p.dtype]} *{p.name}" for p in program.params]
    cores = ["int32_t core"] if loop_over_cores(program) is not None else []
    return ", ".join([*cores, *pointers, *(f"int32_t {size}" for size in program.sizes.values())]) or "void"


def _extent_text(extent: int | IntExpr) -> str:
    return str(extent) if isinstance(extent, int | Symbol) else f"({c_text(extent)})"


def prototype(name: str, placed: PlacedProgram) -> str:
    """The declaration of the function of a program under a name."""
    return f"void {name}({parameters(placed.program)})"


def _buffers(program: MachineProgram) -> list[MachineBuffer]:
    """All buffers of a program, parameters first."""
    touched = [b for n in program.nodes() for b in _used_buffers(n)]
    return list(dict.fromkeys([*program.params, *touched]))


def _used_buffers(node: Node) -> list[MachineBuffer]:
    """The buffers that an instruction or a statement uses."""
    if isinstance(node, Issue):
        return [t.buffer for t in node.tiles.values()]
    return list(node.buffers) if isinstance(node, HostCode) else []


def _written(body: Sequence[Node]) -> set[MachineBuffer]:
    """The buffers that the nodes of a body write."""
    written: set[MachineBuffer] = set()
    for node in walk(body):
        if isinstance(node, Issue):
            written |= {node.tiles[t.name].buffer for t in node.instruction.tiles if "w" in t.access}
        elif isinstance(node, HostCode):
            written |= node.written
    return written


def _reads_and_writes(node: Node) -> tuple[list[str], list[str]]:
    """The names of the buffers that a node reads only, and of those that it writes."""
    inner = list(walk([node]))
    written = _written(inner) if isinstance(node, For | When) else _written([node])
    touched = dict.fromkeys(b for n in inner for b in _used_buffers(n))
    return [b.name for b in touched if b not in written], [b.name for b in touched if b in written]


def _flow(names: tuple[list[str], list[str]]) -> str:
    reads, writes = (", ".join(part) for part in names)
    return f"{reads} -> {writes}" if reads else f"-> {writes}"


def _insert_text(slot: re.Match[str], text: str) -> str:
    """An operand with the parentheses that it needs: none where it is a whole argument."""
    before, after = slot.string[: slot.start()].rstrip()[-1:], slot.string[slot.end() :].lstrip()[:1]
    is_argument = before in ("(", ",") and after in (")", ",")
    return text if is_argument or re.fullmatch(r"[\w.]+", text) else f"({text})"


def c_text(expr: IntExpr) -> str:
    """An index in C: a sum whose first term is positive, if one is."""
    return _sum(_terms(expr, 1))


def _sum(terms: Sequence[tuple[int, str]]) -> str:
    text = ""
    for factor, term in sorted(terms, key=lambda term: term[0] < 0):
        sign = "-" if factor < 0 else "+" if text else ""
        text += f" {sign} " if text else sign
        text += term
    return text or "0"


def condition_text(expr: IntExpr, is_equality: bool) -> str:
    """Whether a number is at least 0, or 0, with no negative term on either side."""
    terms = _terms(expr, 1)
    above, below = [t for t in terms if t[0] > 0], [(-f, text) for f, text in terms if f < 0]
    if all(text.isdigit() for _, text in below):
        return f"{_sum(above)} {'==' if is_equality else '>='} {_sum(below)}"
    return f"{_sum(below)} {'==' if is_equality else '<='} {_sum(above)}"


def _terms(expr: IntExpr, factor: int) -> list[tuple[int, str]]:
    """The terms of a sum times a number, each with a number of its sign; the constant, if not 0, is the last one."""
    terms = _all_terms(expr, factor)
    constant = sum(f for f, text in terms if text.isdigit())
    return [t for t in terms if not t[1].isdigit()] + ([(constant, str(abs(constant)))] if constant else [])


def _all_terms(expr: IntExpr, factor: int) -> list[tuple[int, str]]:
    if isinstance(expr, Constant):
        number = int(expr.value) * factor
        return [(number, str(abs(number)))] if number else []
    if isinstance(expr, Operation) and expr.symbol in SUMS:
        return [*_all_terms(expr.left, factor), *_all_terms(expr.right, factor if expr.symbol == "+" else -factor)]
    if isinstance(expr, Operation) and expr.symbol == "*" and isinstance(expr.right, Constant):
        return _all_terms(expr.left, factor * int(expr.right.value))
    text = c_code(expr)
    return [(factor, text if abs(factor) == 1 else f"{text} * {abs(factor)}")]


def c_integer(number: int) -> str:
    """A number as a constant of C, which has no negative ones."""
    return f"({number + 1} - 1)" if number in (-(2**31), -(2**63)) else str(number)


def c_number(number: float, dtype: str) -> str:
    """A finite number as a constant of C of a type."""
    return repr(float(number)) + ("f" if dtype == "float32" else "")


def array_text(name: str, values: np.ndarray[Any, Any], dtype: str) -> str:
    """The definition of a constant array, sixteen elements a line."""
    flat = np.ascontiguousarray(values).reshape(-1)
    if dtype in ("float32", "float64"):
        texts = [c_number(x, dtype) for x in flat.tolist()]
    else:
        bits = flat.view(np.uint16) if dtype in ("float16", "bfloat16") else flat
        texts = [c_integer(int(x)) for x in bits.tolist()]
    rows = [", ".join(texts[n : n + 16]) for n in range(0, len(texts), 16)]
    return f"const {C_TYPES[dtype]} {name}[{max(1, flat.size)}] ALIGNED = {{\n  " + (",\n  ".join(rows) or "0") + "\n};"
