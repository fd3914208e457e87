"""A program of a machine as C99: its calls in loops, addresses as named constants, nothing of a C library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tir_mlir.accel.addresses import PlacedProgram
from tir_mlir.accel.cores import loop_over_cores
from tir_mlir.accel.operands import Number
from tir_mlir.accel.program import (
    Allocate,
    Clipped,
    For,
    Issue,
    MachineBuffer,
    MachineProgram,
    Node,
    TileAddress,
    Value,
)
from tir_mlir.dialect.diagnostics import IntrinError, LoweringError
from tir_mlir.dialect.symbolic import Constant, IntExpr, Operation, c_code
from tir_mlir.dialect.symbolic.expression import SUMS
from tir_mlir.runtime.drivers.c_entry import C_TYPES

_SLOT = re.compile(r"\{(\w+)(?:\.(row)|\.strides\[(\d+)\])?\}")
_INDENT = "  "


def print_c(header: str, functions: Mapping[str, PlacedProgram]) -> str:
    """The C source of programs of a machine, by the names of their functions.

    It needs the functions that the calls of instructions name: `header` declares them. Errors: LoweringError for a
    buffer in the memory of the CPU, IntrinError for a call that names anything but its operands.
    """
    used: set[str] = set()
    texts = [_Printer(placed.program, placed.rows, used).text(name) for name, placed in functions.items()]
    lines = ["/* made by tir_mlir */", "#include <stdbool.h>", "#include <stdint.h>", *([header] if header else [])]
    for name in sorted(used):
        lines.append(f"static int32_t {name}(int32_t a, int32_t b) {{ return a {_CHOICES[name]} b ? a : b; }}")
    return "\n".join([*lines, "", *texts])


class _Printer:
    """Prints the function of a program; `used` gets the functions that it needs."""

    def __init__(self, program: MachineProgram, rows: Mapping[MachineBuffer, int], used: set[str]):
        self.program, self.rows, self.used = program, rows, used

    def text(self, name: str) -> str:
        body: list[str] = []
        self._body(self.program.body, _INDENT, body)
        written = {t.name for t in self._written()}
        params = ", ".join(
            f"{'' if p.name in written else 'const '}{C_TYPES[p.dtype]} *{p.name}" for p in self.program.params
        )
        lines = [f"/* {p.name}: {' x '.join(map(str, p.shape))} of {p.dtype} */" for p in self.program.params]
        if loop_over_cores(self.program) is not None:
            lines.append("/* core: the number of the core that calls it */")
            params = f"int32_t core, {params}"
        lines += [f"void {name}({params});", f"void {name}({params})", "{", *self._addresses(), *body, "}", ""]
        return "\n".join(lines)

    def _choice(self, function: str, first: str, second: str) -> str:
        self.used.add(function)
        return f"{function}({first}, {second})"

    def _written(self) -> list[MachineBuffer]:
        issues = [n for n in self.program.nodes() if isinstance(n, Issue)]
        return [i.tiles[t.name].buffer for i in issues for t in i.instruction.tiles if "w" in t.access]

    def _addresses(self) -> list[str]:
        lines = []
        for buffer, row in self.rows.items():
            assert buffer.memory is not None
            last = row + buffer.rows - 1
            shape, memory = " x ".join(map(str, buffer.shape)), buffer.memory.name
            lines.append(
                f"{_INDENT}enum {{ {_constant(buffer)} = {row} }}; /* rows {row} to {last} of {memory}: {shape} */"
            )
        return lines

    def _body(self, body: Sequence[Node], indent: str, lines: list[str]) -> None:
        for node in body:
            if isinstance(node, Allocate):
                if node.buffer.memory is None:
                    raise LoweringError(
                        f"buffer {node.buffer.name} is in the memory of the CPU; a program in C has no memory of its "
                        "own: fix: make it a parameter, or give it a scope of the machine (set_scope)"
                    )
            elif isinstance(node, Issue):
                lines += [f"{indent}{call};" for call in self._calls(node)]
            elif isinstance(node, For) and node.is_over_cores:
                lines.append(f"{indent}if (core < {c_text(node.highs[0])}) {{")
                lines.append(f"{indent + _INDENT}const int32_t {node.var} = core;")
                self._body(node.body, indent + _INDENT, lines)
                lines.append(indent + "}")
            elif isinstance(node, For):
                ends = [c_text(e) for e in node.highs]
                end = ends[0]
                for other in ends[1:]:
                    end = self._choice("least", end, other)
                start = c_text(node.low)
                lines.append(f"{indent}for (int32_t {node.var} = {start}; {node.var} < {end}; ++{node.var}) {{")
                self._body(node.body, indent + _INDENT, lines)
                lines.append(indent + "}")
            else:
                tests = [f"{c_text(e)} {'==' if is_equality else '>='} 0" for e, is_equality in node.conditions]
                lines.append(f"{indent}if ({' && '.join(tests)}) {{")
                self._body(node.body, indent + _INDENT, lines)
                lines.append(indent + "}")

    def _calls(self, issue: Issue) -> list[str]:
        return [_SLOT.sub(lambda slot: _in_place(slot, self._slot(issue, slot)), c) for c in issue.instruction.calls]

    def _slot(self, issue: Issue, slot: re.Match[str]) -> str:
        name, is_row, dimension = slot.groups()
        if name in issue.numbers:
            kind = next((n for n in issue.instruction.numbers if n.name == name), None)
            return self._value(issue.numbers[name], kind)
        address = issue.tiles.get(name)
        if address is None:
            operands = ", ".join(o.name for o in issue.instruction.operands)
            raise IntrinError(f"the call of {issue.instruction} has {slot[0]}; its operands are {operands}")
        if dimension is not None:
            return c_text(address.strides[int(dimension)])
        return self._row(address) if is_row else self._pointer(address)

    def _row(self, address: TileAddress) -> str:
        if address.buffer.memory is None:
            raise IntrinError(f"{address.buffer.name} is in the memory of the CPU and has no row")
        start = c_text(address.start)
        base = _constant(address.buffer)
        return base if start == "0" else f"{base} + {start}"

    def _pointer(self, address: TileAddress) -> str:
        if address.buffer.memory is not None:
            return self._row(address)
        start = c_text(address.start)
        return address.buffer.name if start == "0" else f"{address.buffer.name} + {start}"

    def _value(self, value: Value, kind: Number | None) -> str:
        if isinstance(value, Clipped):
            text = c_text(value.number)
            text = text if value.high is None else self._choice("least", text, str(value.high))
            return text if value.low is None else self._choice("most", text, str(value.low))
        if isinstance(value, IntExpr):
            return c_text(value)
        return repr(float(value)) + ("f" if kind is None or kind.dtype == "float32" else "")


_CHOICES = {"least": "<", "most": ">"}


def _in_place(slot: re.Match[str], text: str) -> str:
    """An operand with the parentheses that it needs: none where it is a whole argument."""
    before, after = slot.string[: slot.start()].rstrip()[-1:], slot.string[slot.end() :].lstrip()[:1]
    is_argument = before in ("(", ",") and after in (")", ",")
    return text if is_argument or re.fullmatch(r"[\w.]+", text) else f"({text})"


def c_text(expr: IntExpr) -> str:
    """An index in C: a sum whose first term is positive, if one is."""
    terms = sorted(_terms(expr, 1), key=lambda term: term[0] < 0)
    text = ""
    for factor, term in terms:
        sign = "-" if factor < 0 else "+" if text else ""
        text += f" {sign} " if text else sign
        text += term
    return text or "0"


def _terms(expr: IntExpr, factor: int) -> list[tuple[int, str]]:
    """The terms of a sum times a number, each with a number of its sign."""
    if isinstance(expr, Constant):
        number = int(expr.value) * factor
        return [(number, str(abs(number)))] if number else []
    if isinstance(expr, Operation) and expr.symbol in SUMS:
        return [*_terms(expr.left, factor), *_terms(expr.right, factor if expr.symbol == "+" else -factor)]
    if isinstance(expr, Operation) and expr.symbol == "*" and isinstance(expr.right, Constant):
        return _terms(expr.left, factor * int(expr.right.value))
    text = c_code(expr)
    return [(factor, text if abs(factor) == 1 else f"{text} * {abs(factor)}")]


def _constant(buffer: MachineBuffer) -> str:
    return buffer.name.upper()
