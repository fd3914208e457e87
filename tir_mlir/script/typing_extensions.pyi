"""`T.prim_func` for pyright; there is no such module at run time.

pyright exempts what a function called `no_type_check` decorates, if that is in a stub of typing or typing_extensions:
hence the name of this file. With a signature of its own, pyright knows what comes out of it.
"""

from collections.abc import Callable
from typing import Any

from tir_mlir.script.module import PrimFunc

def no_type_check(
    func: Callable[..., Any] = ..., /, *, private: bool = False, check_well_formed: bool = True, s_tir: bool = True
) -> PrimFunc:
    """Parse a function as a tensor program.

        @T.prim_func
        def main(A: T.Buffer((16,), "float32")): ...

    private: the function gets no `global_symbol`: it is not meant to be called from outside.
    check_well_formed: verify the rules of the program (bounds, domains, iter types); errors at their line.
    s_tir: accepted for programs that say it.
    Inside a class decorated with `@I.ir_module` the function becomes a member of that module.
    """
