"""`T.prim_func` as type checkers see it; there is no such module at run time.

The parameters of a program are annotated with calls, `A: T.Buffer((16,), "float32")`, and its body is no Python: both
are errors to a type checker. The one decorator that exempts a function from checks is `typing.no_type_check`.

mypy knows it by its full name, so the decorator has to be that function; what it decorates is `Any`. pyright knows it
by the name `no_type_check` in a stub of typing or typing_extensions, hence the name of this file; with a signature of
its own, pyright knows what comes out of it.
"""

from collections.abc import Callable
from typing import Any

from tir_mlir.script.module import PrimFunc

MYPY = False  # mypy takes it for true, pyright takes the last definition

if MYPY:
    from typing import no_type_check as no_type_check
else:
    def no_type_check(
        func: Callable[..., Any] = ...,
        /,
        *,
        private: bool = False,
        check_well_formed: bool = True,
        s_tir: bool = True,
    ) -> PrimFunc:
        """Parse a function as a tensor program.

            @T.prim_func
            def main(A: T.Buffer((16,), "float32")): ...

        private: the function gets no `global_symbol`: it is not meant to be called from outside.
        check_well_formed: verify the rules of the program (bounds, domains, iter types); errors at their line.
        s_tir: accepted for programs that say it.
        Inside a class decorated with `@I.ir_module` the function becomes a member of that module.
        """
