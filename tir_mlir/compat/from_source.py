"""`tvm.script.from_source`: a function or a module of text, of a Python function, or of a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import build, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from tir_mlir.graph.expressions import Function


def from_source(
    program: str | type | Callable[..., object] | IRModule | PrimFunc,
    extra_vars: Mapping[str, object] | None = None,
    check_well_formed: bool = True,
    s_tir: bool = False,
    absent_params: Mapping[str, None] | None = None,
) -> IRModule | PrimFunc | Function:
    """Parse a program. Of one function a PrimFunc or a graph; of a class, or of several functions, an IRModule.

    program: TVMScript text, with or without imports, an undecorated Python function, or a class. extra_vars: Python
    names that it uses, besides T, R, I and tvm. check_well_formed: run the verifier. s_tir: accepted, without effect.
    Raises ScriptError with the line, and ArgumentError for absent_params, which are not supported.
    """
    if absent_params:
        raise ArgumentError(
            f"from_source does not take absent_params={short_repr(absent_params)}; fix: leave these parameters out of "
            "the text"
        )
    if isinstance(program, (IRModule, PrimFunc)):
        return program
    functions = [replace(f, check=f.check and check_well_formed) for f in read(program, extra_vars)]
    module = build(functions)
    alone = len(functions) == 1 and not functions[0].class_name and not isinstance(program, type)
    return module[functions[0].name] if alone else module
