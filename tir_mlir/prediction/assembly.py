"""Assembly as LLVM prints it, with the comments of its loops, read as functions of basic blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class MachineBasicBlock:
    """label: `0_5`, or `0_%3` of one that is only fallen into. name: the block of LLVM IR. loop: the label of the
    header of its innermost loop; "" outside. setting: the last instruction before it that sets the length of RISC-V's
    vectors. jumps: the labels that it may jump to; falls: it may go on to the next."""

    label: str
    name: str = ""
    loop: str = ""
    setting: str = ""
    instructions: list[str] = field(default_factory=list)
    jumps: list[str] = field(default_factory=list)
    falls: bool = True


@dataclass
class AssemblyFunction:
    """blocks: in the order of the text. parents: of each loop, by the label of its header, the one around it."""

    name: str
    blocks: list[MachineBasicBlock] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)


_ENTRY = re.compile(r'^[^\s#/;].*:\s+(?:#|//|;)\s+@"?(?P<name>[^"\s]+)"?')
_LABEL = re.compile(r"^(?:\.?LBB(?P<label>\d+_\d+):|(?:#|//|;) %bb\.(?P<fallen>\d+):)(?P<rest>.*)")
_NAME = re.compile(r'(?:#|//|;) %"?(?P<name>[^"\s]+)"?')
_HEADER = re.compile(r"=>\s*This (?:Inner )?Loop Header: Depth=\d+")
_PARENT = re.compile(r"Parent Loop BB(?P<loop>\d+_\d+) Depth=")
_MEMBER = re.compile(r"in Loop: Header=BB(?P<loop>\d+_\d+) Depth=")
_TARGET = re.compile(r"\.?LBB(\d+_\d+)\b")
_LEAVES = re.compile(r"^(?:ret|retq|jmp|jmpq|b|j|br|jr|ud2|brk|unimp)\b(?!\.)")
_RETURNS = re.compile(r"^(?:ret|retq|ud2|brk|unimp)\b")


def read_assembly(text: str, comment: str) -> list[AssemblyFunction]:
    """The functions of assembly. comment: what begins a comment behind an instruction: `#`, `//` or `;`."""
    functions: list[AssemblyFunction] = []
    block, number, setting = None, "", ""
    for line in text.splitlines():
        if (entry := _ENTRY.match(line)) is not None:
            functions.append(AssemblyFunction(entry["name"]))
            block, number, setting = None, "", ""
        elif not functions:
            continue
        elif (match := _LABEL.match(line)) is not None:
            label = match["label"] or f"{number}%{match['fallen']}"
            number = label.split("_")[0] + "_" if match["label"] else number
            block = MachineBasicBlock(label, _name(match["rest"]), setting=setting)
            functions[-1].blocks.append(block)
            _read_loop(functions[-1], block, match["rest"])
        elif block is not None:
            _read_line(functions[-1], block, line, comment)
            setting = line.strip() if line.lstrip().startswith("vset") else setting
    return functions


def _name(rest: str) -> str:
    match = _NAME.search(rest)
    return match["name"] if match else ""


def _read_line(function: AssemblyFunction, block: MachineBasicBlock, line: str, comment: str) -> None:
    code, _, remark = line.partition(comment)
    code = code.strip()
    if not code:
        _read_loop(function, block, remark)
        block.name = block.name or ("" if block.instructions else _name(comment + remark))
    elif line[:1].isspace() and not code.startswith("."):
        block.instructions.append(code)
        block.jumps += [target for target in _TARGET.findall(code) if target != block.label or _is_branch(code)]
        block.falls = _LEAVES.match(code) is None


def _is_branch(code: str) -> bool:
    return not code.startswith(("lea", "adr"))


def _read_loop(function: AssemblyFunction, block: MachineBasicBlock, remark: str) -> None:
    """Note what a comment says of the loop of a block."""
    if (match := _MEMBER.search(remark)) is not None:
        block.loop = match["loop"]
    if (match := _PARENT.search(remark)) is not None:
        function.parents[block.label] = match["loop"]  # the innermost is the last
        block.loop = block.label
    if _HEADER.search(remark):
        function.parents.setdefault(block.label, "")
        block.loop = block.label


def comment_of(triple: str) -> str:
    """What begins a comment behind an instruction."""
    if triple.startswith(("aarch64", "arm64")):
        return ";" if "apple" in triple else "//"
    return "#"


def loops_around(function: AssemblyFunction, block: MachineBasicBlock) -> Sequence[str]:
    """The loops that a block is in, innermost first."""
    found, loop = [], block.loop
    while loop:
        found.append(loop)
        loop = function.parents.get(loop, "")
    return found
