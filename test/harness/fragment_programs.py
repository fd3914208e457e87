"""Programs of one warp on the elements of fragments, a block a line."""

from __future__ import annotations

from programs.parsed import parse


def program(blocks: str, buffers: str, arguments: str) -> object:
    """A program of one warp. blocks: loops as `i:16 j*32 k!8` (* of a reduction, ! in order; 32@n runs
    n iterations of 32), statements, [init]."""
    lines = ["@T.prim_func", f"def f({arguments}):"]
    lines += [f"    {buffer}" for buffer in buffers.strip().splitlines()]
    lines += ['    for w in T.thread_binding(1, thread="threadIdx.y"):']
    for number, block in enumerate(filter(None, map(str.strip, blocks.splitlines()))):
        loops, statements, *rest = [part.strip() for part in block.split("|")]
        names = [loop.replace("*", ":").replace("!", ":").split(":") for loop in loops.split()]
        kinds = ["reduce" if "*" in loop else "opaque" if "!" in loop else "spatial" for loop in loops.split()]
        extents = ", ".join(extent.rpartition("@")[2] for _, extent in names)
        lines += [f"        for {', '.join(n for n, _ in names)} in T.grid({extents}):"]
        lines += [f'            with T.block("b{number}"):']
        for (name, extent), kind in zip(names, kinds, strict=True):
            lines += [f"                v{name} = T.axis.{kind}({extent.partition('@')[0]}, {name})"]
        if rest:
            lines += ["                with T.init():", f"                    {rest[0]}"]
        lines += [f"                {statement.strip()}" for statement in statements.split(";")]
    return parse("\n".join(lines) + "\n")


def tensor(name: str, shape: tuple[int, ...], dtype: str = "float32") -> str:
    """A parameter."""
    return f'{name}: T.Buffer({shape}, "{dtype}")'


def fragments(name: str, shape: tuple[int, ...], scope: str, dtype: str = "float32") -> str:
    """The line of a buffer in a scope of fragments, or in another one."""
    scope = scope if scope in ("local", "shared") or "." in scope else f"mma.{scope}"
    return f'{name} = T.alloc_buffer({shape}, "{dtype}", scope="{scope}")\n'
