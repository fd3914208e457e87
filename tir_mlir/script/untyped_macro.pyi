"""`T.macro` for mypy, which does not check bodies without annotations; there is no such module at run time."""

from typing import Any

def macro(func: Any = None, *, hygienic: bool = True) -> Any: ...
