"""The text of intrinsics of matrix units: a description in loops, and an implementation by one call of a warp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_TEXT = """
@T.prim_func
def desc({arguments}):
{description}
    with T.block("root"):
        for {loops} in T.grid({extents}):
            with T.block("update"):
                {iters} = T.axis.remap("{kinds}", [{loops}])
                {statement}


@T.prim_func
def impl({arguments}):
{variables}{implementation}
    with T.block("root"):
        T.reads({reads})
        T.writes({writes})
        for tx in T.thread_binding(0, 32, "threadIdx.x"):
            {call}
"""


@dataclass(frozen=True)
class MatrixParam:
    """A parameter: a matrix in memory, or in fragments. offset_factor: elements of which its start is a multiple;
    strided: its implementation takes any stride of rows."""

    shape: tuple[int, int]
    dtype: str
    scope: str
    offset_factor: int = 1
    strided: bool = False

    def declaration(self, name: str, strides: bool) -> str:
        facts = f'{self.shape}, "{self.dtype}", align=64, offset_factor={self.offset_factor}, scope="{self.scope}"'
        facts += ", strides=[s1, s0]" if strides else ""
        return f"    {name} = T.match_buffer({name.lower()}, {facts})"


def intrinsic_text(
    params: Mapping[str, MatrixParam],
    loops: Mapping[str, int],
    statement: str,
    reads: Sequence[str],
    writes: str,
    call: str,
) -> str:
    """The functions `desc` and `impl`. loops: their names and extents; `k` is one of a sum. reads, writes: the
    parameters."""
    strided = any(param.strided for param in params.values())

    def declarations(strides: bool) -> str:
        return "\n".join(param.declaration(name, strides and param.strided) for name, param in params.items())

    def region(name: str) -> str:
        return f"{name}[{', '.join(f'0:{n}' for n in params[name].shape)}]"

    return _TEXT.format(
        arguments=", ".join(f"{name.lower()}: T.handle" for name in params),
        description=declarations(False),
        implementation=declarations(True),
        variables="    s1 = T.int32()\n    s0 = T.int32()\n" if strided else "",
        loops=", ".join(loops),
        iters=", ".join(f"v{loop}" for loop in loops),
        kinds="".join("R" if loop == "k" else "S" for loop in loops),
        extents=", ".join(map(str, loops.values())),
        statement=statement,
        reads=", ".join(map(region, reads)),
        writes=region(writes),
        call=call,
    )
