"""get_block, get_loops, get_child_blocks, get_producers, get_consumers, get_output_blocks."""

from __future__ import annotations

import difflib

from mlir import ir

from tir_mlir.dialect.incremental import FunctionContents, contents_of
from tir_mlir.dialect.ir import Block, Func, Loop, all_blocks, is_block, is_init, loops_above, ops
from tir_mlir.passes.schedule.legality import scope
from tir_mlir.passes.schedule.registry import check, primitive, refuse


def blocks_named(func: Func, name: str) -> list[Block]:
    """The blocks of a function with a name; blocks inside an init belong to their parent and are not found."""
    contents = contents_of(func.op, edited=False)
    roots = [func.op] if contents is None else _nests(func, contents, name)
    reachable = [Block(o) for root in roots for o in ops(root, skip=is_init) if is_block(o)]
    return [b for b in reachable if b.name == name]


def _nests(func: Func, contents: FunctionContents, name: str) -> list[ir.Operation]:
    """The ops in the body of a function with a block of some name."""
    positions = sorted(contents.body.index(nest) for nest in contents.nests("block", name))
    listed = func.body.operations
    return [listed[position].operation for position in positions]


def _names(func: Func) -> list[str]:
    """The names of the blocks of a function, also of those in inits, in program order."""
    contents = contents_of(func.op, edited=False)
    if contents is None:
        return [b.name for b in all_blocks(func.op)]
    return [name for nest in contents.body for name in nest.blocks]


@primitive("get_block", pure=True)
def get_block(name: str, func_name: Func) -> Block | Func:
    """The block called `name` in a function (default: the one worked on); `"root"` is the function's body.

    Requires: exactly one such block. Blocks inside an init are not found.
    """
    func = func_name
    blocks = blocks_named(func, name)
    if not blocks and name == "root":
        return func
    if len(blocks) > 1:
        refuse(
            blocks[1], f'{len(blocks)} blocks of {func.name} are called "{name}"; rename them or use get_child_blocks'
        )
    if not blocks:
        names = _names(func)
        if name in names:
            within = f'block "{name}" is in an init region, which is part of the block around it; pass that one'
            refuse(next(b for b in all_blocks(func.op) if b.name == name), within)
        close = difflib.get_close_matches(name, names, 1)
        hint = f'; did you mean "{close[0]}"?' if close else ""
        available = ", ".join(f'"{n}"' for n in dict.fromkeys(names)) or "none"
        way = f'pass one of them, for instance "{(close or names)[0]}"' if names else "add a T.block to the program"
        refuse(
            None, f'Cannot find a block with the name "{name}" in {func.name}{hint} (its blocks: {available})', fix=way
        )
    return blocks[0]


@primitive("get_loops", pure=True)
def get_loops(block: Block | Func) -> list[Loop]:
    """The loops around a block, outer to inner, up to the enclosing block."""
    return loops_above(block.outermost) if isinstance(block, Block) else []


@primitive("get_child_blocks", pure=True)
def get_child_blocks(block_or_loop: Block | Loop | Func) -> list[Block]:
    """The outermost blocks under a block or loop, in program order."""
    return scope.blocks_below(block_or_loop.op)


@primitive("get_producers", pure=True)
def get_producers(block: Block | Func) -> list[Block]:
    """The earlier blocks of the same scope that write what `block` reads or writes."""
    check(
        isinstance(block, Block),
        block,
        "the root block is not in a scope, so it has no producers",
        fix="get_child_blocks returns the blocks in it",
    )
    return scope.producers(block)  # type: ignore[arg-type]


@primitive("get_consumers", pure=True)
def get_consumers(block: Block | Func) -> list[Block]:
    """The later blocks of the same scope that read or write what `block` writes."""
    check(
        isinstance(block, Block),
        block,
        "the root block is not in a scope, so it has no consumers",
        fix="get_child_blocks returns the blocks in it",
    )
    return scope.consumers(block)  # type: ignore[arg-type]


@primitive("get_output_blocks", pure=True)
def get_output_blocks(scope_block: Block | Func) -> list[Block]:
    """The blocks under a scope, including nested ones, that write a buffer that their own scope does not allocate."""
    reachable = [Block(o) for o in ops(scope_block.op, skip=is_init) if is_block(o) and o != scope_block.op]
    return [b for b in reachable if scope.is_output(b)]


def working_function(functions: list[Func], name: str | None) -> Func:
    """The function a schedule works on: the one named `name`, `main`, or the only one."""
    matching = [f for f in functions if f.name == (name or "main")]
    if matching:
        return matching[0]
    if name is None and len(functions) == 1:
        return functions[0]
    names = ", ".join(f.name for f in functions)
    if name is not None:
        raise ValueError(f"the module has no function {name}; it has {names}")
    raise ValueError(f"the module has several functions ({names}) and none is main; choose one with work_on(name)")
