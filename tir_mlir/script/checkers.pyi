"""`T.prim_func` and `T.macro` as type checkers see them; there is no such module at run time.

The parameters of a program are annotated with calls, `A: T.Buffer((16,), "float32")`, and its body is no Python: both
are errors to a type checker. One decorator exempts a function from checks, `typing.no_type_check`. mypy knows
it by its full name, so the decorator has to be that function; what it decorates is `Any`. pyright knows it by its name
alone, see typing_extensions.pyi.
"""

MYPY = False  # mypy takes it for true, pyright takes the last definition

if MYPY:
    from typing import no_type_check as prim_func

    from .untyped_macro import macro as macro
else:
    from .language.typing_extensions import no_type_check as macro
    from .typing_extensions import no_type_check as prim_func

__all__ = ["macro", "prim_func"]
