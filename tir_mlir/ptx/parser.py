"""PTX text -> kernels: their parameters, registers, memory and instructions. Nothing is executed here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tir_mlir.errors import PtxError
from tir_mlir.ptx.types import DTYPES, integer, number, size_of


@dataclass(frozen=True)
class KernelParameter:
    """A kernel parameter: `type` of its elements, `count` elements (more than one: passed by value), `alignment`; for a
    pointer, `pointee_alignment` is what the kernel assumes of the address."""

    name: str
    type: str
    count: int
    alignment: int
    pointee_alignment: int = 1

    @property
    def bytes(self) -> int:
        return size_of(self.type) * self.count


@dataclass(frozen=True)
class PtxVariable:
    """A variable in shared, local, global or constant memory. `bytes` 0: sized by the launch. `data`: initial bytes."""

    name: str
    space: str
    bytes: int
    alignment: int
    data: bytes | None = None


@dataclass(frozen=True)
class PtxInstruction:
    """`@!p op.a.b x, [y+4], {z, w};`: `parts` are op, a, b; operands are text; registers are renamed by scope."""

    parts: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str | None
    negated: bool
    line: int
    source: tuple[str, int] | None
    text: str

    @property
    def name(self) -> str:
        return ".".join(self.parts)


@dataclass
class Kernel:
    """An entry function.

    registers: name -> type.
    labels: name -> index of the instruction that follows.
    tables: the targets of `brx.idx` by label.
    """

    name: str
    parameters: list[KernelParameter]
    block: tuple[int, int, int] | None = None
    exact_block: bool = False
    registers: dict[str, str] = field(default_factory=dict)
    variables: dict[str, PtxVariable] = field(default_factory=dict)
    instructions: list[PtxInstruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)

    @property
    def shared_bytes(self) -> int:
        """The bytes of static shared memory."""
        end = 0
        for v in self.variables.values():
            if v.space == "shared" and v.bytes:
                end = -(-end // v.alignment) * v.alignment + v.bytes
        return end


@dataclass
class Module:
    """A PTX module: `kernels` by name, `target` such as "sm_80", `version` such as "7.0", and its text."""

    kernels: dict[str, Kernel]
    target: str
    version: str
    text: str


_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?([^{;]*)\{", re.S)
_VARIABLE = re.compile(
    r"\.(shared|local|global|const)\s+(?:\.align\s+(\d+)\s+)?(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)"
    r"((?:\[\w*\])*)\s*(?:=\s*(.*))?$",
    re.S,
)
_REGISTER = re.compile(r"\.reg\s+\.(\w+)\s+(.*)$", re.S)
_LABEL = re.compile(r"([\w$]+)\s*:(?!:)")
_GUARD = re.compile(r"@(!?)\s*([%\w$]+)\s+(.*)$", re.S)
_NAME = re.compile(r"%?[A-Za-z_$%][\w$]*(?:\.[xyzw]\b)?")


def parse(text: str) -> Module:
    """PTX text -> its kernels. Raises PtxError with the line of what is not understood."""
    clean = _without_comments(text)
    version = re.search(r"\.version\s+([\d.]+)", clean)
    target = re.search(r"\.target\s+(\w+)", clean)
    files = {int(n): name for n, name in re.findall(r'\.file\s+(\d+)\s+"([^"]*)"', clean)}
    kernels: dict[str, Kernel] = {}
    outside, end = [], 0
    for match in _ENTRY.finditer(clean):
        if match.start() < end:
            continue
        outside.append((clean[end : match.start()], end))
        end = _closing(clean, match.end() - 1)
        name, parameters, directives = match.groups()
        kernel = Kernel(name, [_parameter(p, clean, match) for p in (parameters or "").split(",") if p.strip()])
        _directives(kernel, directives)
        _Body(kernel, clean, files).read(match.end(), end - 1)
        kernels[name] = kernel
    outside.append((clean[end:], end))
    if not kernels:
        raise PtxError("the text has no kernel (`.entry`)", kind="syntax")
    module_level = _module_variables(outside)
    for kernel in kernels.values():
        mentioned = {n for i in kernel.instructions for o in i.operands for n in _NAME.findall(o)}
        for name, variable in module_level.items():
            if name in mentioned:
                kernel.variables.setdefault(name, variable)
    return Module(kernels, target.group(1) if target else "", version.group(1) if version else "", text)


def _without_comments(text: str) -> str:
    """Comments become blanks; lines keep their numbers."""
    blank = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    return re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), blank)


def _closing(text: str, opening: int) -> int:
    """The position after the brace that closes the one at `opening`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, opening):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end()
    raise PtxError("a brace is not closed", kind="syntax", line=text.count("\n", 0, opening) + 1)


def _parameter(text: str, clean: str, entry: re.Match) -> KernelParameter:
    """`.param .u64 .ptr .global .align 16 name` or `.param .align 64 .b8 name[128]` -> a parameter."""
    match = re.match(
        r"\s*\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+(\.ptr\s+(?:\.\w+\s+)??(?:\.align\s+(\d+)\s+)?)?([\w$]+)(?:\[(\d+)\])?\s*$",
        text,
    )
    if match is None or match.group(2) not in DTYPES:
        line = clean.count("\n", 0, entry.start()) + 1
        raise PtxError(f"parameter `{text.strip()}` of {entry.group(1)} is not understood", kind="syntax", line=line)
    alignment, type_, _, pointee, name, count = match.groups()
    return KernelParameter(name, type_, int(count or 1), int(alignment or size_of(type_)), int(pointee or 1))


def _directives(kernel: Kernel, text: str) -> None:
    """`.maxntid`, `.reqntid` -> the block size that the kernel was compiled for."""
    for name, numbers in re.findall(r"\.(maxntid|reqntid)\s+([\d,\s]+)", text):
        sizes = [int(n) for n in numbers.replace(",", " ").split()]
        kernel.block = ([*sizes, 1, 1])[0], ([*sizes, 1, 1])[1], ([*sizes, 1, 1, 1])[2]
        kernel.exact_block = name == "reqntid"


def _module_variables(parts: list[tuple[str, int]]) -> dict[str, PtxVariable]:
    """Variables declared outside of kernels."""
    variables = {}
    for text, _ in parts:
        for statement in text.split(";"):
            match = re.search(r"\.(shared|global|const)\b", statement)
            if match and ".func" not in statement and ".section" not in statement:
                variable = _variable(statement[match.start() :].strip(), 0)
                variables[variable.name] = variable
    return variables


def _variable(text: str, line: int) -> PtxVariable:
    """`.shared .align 16 .b8 name[4096]` -> a variable."""
    match = _VARIABLE.match(text)
    if match is None or match.group(4) not in DTYPES:
        raise PtxError(f"declaration `{text}` is not understood", kind="syntax", line=line)
    try:
        return _variable_of(match)
    except ValueError as error:
        raise PtxError(f"declaration `{text}`: {error}", kind="syntax", line=line) from None


def _variable_of(match: re.Match) -> PtxVariable:
    space, first_alignment, second_alignment, type_, name, shape, data = match.groups()
    count = 1
    for extent in re.findall(r"\[\s*(\w*)\s*\]", shape):
        count *= integer(extent or "0")
    if not shape and type_ == "b8" and space == "shared":
        count = 0  # LLVM prints an array of no elements, which the launch sizes, without brackets
    bytes_ = None
    if data is not None:
        import numpy as np

        values = [number(v) for v in re.findall(r"-?[\w.]+(?:(?<=[eE])[-+]\d+)?", data)]
        bytes_ = np.array(values).astype(DTYPES[type_]).tobytes().ljust(count * size_of(type_), b"\0")
    alignment = int(first_alignment or second_alignment or size_of(type_))
    return PtxVariable(name, space, count * size_of(type_), alignment, bytes_)


class _Body:
    """Reads the statements of a kernel: declarations, labels, instructions; `{ }` opens a scope of registers and
    labels."""

    def __init__(self, kernel: Kernel, text: str, files: dict[int, str]):
        self.kernel, self.text, self.files = kernel, text, files
        self.scopes: list[dict[str, str]] = [{}]
        self.count = 0
        self.source: tuple[str, int] | None = None
        self.last_label = ""
        self.branches: list[tuple[int, list[dict[str, str]]]] = []

    def read(self, start: int, end: int) -> None:
        for statement, offset in self._statements(start, end):
            line = self.text.count("\n", 0, offset) + 1
            if statement == "{":
                self.count += 1
                self.scopes.append({})
            elif statement == "}":
                self.scopes.pop()
            elif statement.endswith(":"):
                self._label(statement[:-1].strip())
            elif statement.startswith("."):
                self._declare(statement, line)
            else:
                self._instruction(statement, line)
        for index, scopes in self.branches:
            self._resolve(index, scopes)

    def _statements(self, offset: int, end: int) -> Iterator[tuple[str, int]]:
        """The statements with their positions: `{`, `}`, `label:`, a directive of one line, or what ends with `;`."""
        text = self.text
        blank = re.compile(r"\s*")
        while True:
            offset = blank.match(text, offset).end()  # type: ignore[union-attr]
            if offset >= end:
                return
            label = _LABEL.match(text, offset)
            if text[offset] in "{}":
                yield text[offset], offset
                offset += 1
            elif label:
                yield label.group(), offset
                offset = label.end()
            else:
                one_line = text.startswith((".loc\t", ".loc ", ".file", ".section"), offset)
                stop = text.find("\n" if one_line else ";", offset, end)
                if stop < 0:
                    line = text.count("\n", 0, offset) + 1
                    raise PtxError(f"`{text[offset:end].strip()[:60]}` does not end with `;`", kind="syntax", line=line)
                yield " ".join(text[offset:stop].split()), offset
                offset = stop + 1

    def _scoped_name(self, name: str) -> str:
        """A name of an inner scope gets the number of the scope, as two inline assemblies may use one name."""
        return f"{name}@{self.count}" if len(self.scopes) > 1 else name

    def _label(self, name: str) -> None:
        self.last_label = self._scoped_name(name)
        self.scopes[-1][name + ":"] = self.last_label
        self.kernel.labels[self._scoped_name(name)] = len(self.kernel.instructions)

    def _declare(self, statement: str, line: int) -> None:
        if re.match(r"\.loc\s", statement):
            numbers = [int(n) for n in re.findall(r"\d+", statement)[:2]]
            self.source = (self.files.get(numbers[0], f"file {numbers[0]}"), numbers[1])
        elif statement.startswith(".branchtargets"):
            self.kernel.tables[self.last_label] = [t.strip() for t in statement.split(None, 1)[1].split(",")]
        elif statement.startswith(".reg"):
            type_, names = _REGISTER.match(statement).groups()  # type: ignore[union-attr]
            type_ = type_.split()[0]
            if type_ not in DTYPES:
                raise PtxError(f"register type .{type_} is not supported", kind="instruction", line=line)
            for name in names.split(","):
                self._register(name.strip(), type_)
        elif statement.startswith((".shared", ".local", ".extern", ".const")):
            variable = _variable(statement.removeprefix(".extern").strip(), line)
            self.kernel.variables[variable.name] = variable
        elif not statement.startswith((".pragma", ".file", ".section", ".maxnreg")):
            raise PtxError(f"directive `{statement}` is not supported", kind="instruction", line=line)

    def _register(self, name: str, type_: str) -> None:
        match = re.match(r"([%\w$]+)<(\d+)>$", name)
        for register in [f"{match.group(1)}{i}" for i in range(int(match.group(2)))] if match else [name]:
            self.scopes[-1][register] = self._scoped_name(register)
            self.kernel.registers[self._scoped_name(register)] = type_

    def _instruction(self, statement: str, line: int) -> None:
        text = statement
        guard, negated = None, False
        match = _GUARD.match(text)
        if match:
            negated, guard, text = bool(match.group(1)), self._rename_registers(match.group(2)), match.group(3)
        name, _, operand_text = text.partition(" ")
        parts = tuple(p for p in name.split(".") if p)
        operands = tuple(self._rename_registers(o) for o in split(operand_text))
        if parts[0] == "bra":
            operands = split(operand_text)
            self.branches.append((len(self.kernel.instructions), list(self.scopes)))
        self.kernel.instructions.append(PtxInstruction(parts, operands, guard, negated, line, self.source, statement))

    def _rename_registers(self, operand: str) -> str:
        """Registers by the scope that declares them."""
        if len(self.scopes) == 1:
            return operand

        def of_scope(match: re.Match) -> str:
            for scope in reversed(self.scopes):
                if match.group() in scope:
                    return scope[match.group()]
            return match.group()

        return _NAME.sub(of_scope, operand)

    def _resolve(self, index: int, scopes: list[dict[str, str]]) -> None:
        """The label of a branch, of the innermost scope that has it."""
        branch = self.kernel.instructions[index]
        label = branch.operands[0]
        for scope in reversed(scopes):
            if label + ":" in scope:
                label = scope[label + ":"]
                break
        else:
            raise PtxError(
                f"`{branch.text}` branches to {label}, which does not exist", kind="syntax", line=branch.line
            )
        self.kernel.instructions[index] = PtxInstruction(
            branch.parts,
            (label, *branch.operands[1:]),
            branch.guard,
            branch.negated,
            branch.line,
            branch.source,
            branch.text,
        )


def registers_of(ins: PtxInstruction, kernel: Kernel) -> frozenset[str]:
    """The registers that an instruction names."""
    return frozenset(n for o in ins.operands for n in re.findall(r"[%\w$@]+", o) if n in kernel.registers)


def split(text: str) -> tuple[str, ...]:
    """`%r1, [%r2, {%r3, %r4}], {%r5}` -> its operands: commas outside of brackets separate."""
    operands, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c in "{[(":
            depth += 1
        elif c in "}])":
            depth -= 1
        elif c == "," and depth == 0:
            operands.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return tuple([*operands, last] if last else operands)
