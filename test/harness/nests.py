"""Small programs with loops and blocks by name, for unit tests of the analyses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mlir import ir
from programs.parsed import parse

from tir_mlir.dialect.ir import Block, Buffer, Func, Index, Loop, enter_context, funcs, is_block, is_loop, ops


@dataclass
class Nest:
    """The function of a program with its loops, blocks (the last one of each name) and buffers by name."""

    func: Func
    loops: dict[str, Loop] = field(default_factory=dict)
    blocks: dict[str, Block] = field(default_factory=dict)
    buffers: dict[str, ir.Value] = field(default_factory=dict)

    def inside(self, loop: str) -> ir.Operation:
        """Return the first op of a loop's body."""
        return self.loops[loop].op.regions[0].blocks[0].operations[0].operation

    def index(self, name: str) -> Index:
        """Return a loop variable or iter as an index expression."""
        if name in self.loops:
            return Index.from_value(self.loops[name].var)
        return next(Index.from_value(i.var) for b in self.blocks.values() for i in b.iters if i.name == name)


@contextmanager
def nest(params: str, body: str, check: bool = True) -> Iterator[Nest]:
    """Parse the program `def main(params): body` in the MLIR context; without `check` it need not be well-formed."""
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    module = parse(f"@T.prim_func(check_well_formed={check})\ndef main({params}):\n{lines}\n").mlir
    with enter_context():
        found = Nest(funcs(module)[0])
        for op in ops(module.operation):
            if is_loop(op):
                found.loops[Loop(op).name] = Loop(op)
            elif is_block(op):
                found.blocks[Block(op).name or "root"] = Block(op)
            for result in op.results:
                if isinstance(result.type, ir.MemRefType):
                    found.buffers[Buffer(result).name] = result
        for argument in found.func.body.arguments:
            if isinstance(argument.type, ir.MemRefType):
                found.buffers[Buffer(argument).name] = argument
        yield found
