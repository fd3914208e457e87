"""Run a file as Python itself would, with `import tvm` served by tir_mlir."""

from __future__ import annotations

import os
import sys
import tokenize
import types
from collections.abc import Sequence

_USAGE = """usage: python -m tir_mlir.compat FILE.py [args]

Runs FILE.py as the main program. `import tvm` in it provides the part of TVM that tir_mlir implements:
tensor programs, their schedules, building and running them."""


def main(argv: Sequence[str]) -> int:
    """Run a file. Returns the exit status. Tracebacks start at the first frame of the file."""
    if not argv or argv[0] in ("-h", "--help"):
        print(_USAGE, file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    path, *args = argv
    try:
        with tokenize.open(path) as file:
            text = file.read()
    except OSError as error:
        print(f"tir_mlir.compat: {path}: {error.strerror}", file=sys.stderr)
        return 2
    except (SyntaxError, UnicodeDecodeError) as error:
        print(f"tir_mlir.compat: {path}: {error}", file=sys.stderr)
        return 1
    return _run(path, text, args)


def _run(path: str, text: str, args: Sequence[str]) -> int:
    sys.argv = [path, *args]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    program = types.ModuleType("__main__")
    program.__file__ = path
    program.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = program
    try:
        # dont_inherit: do not apply the __future__ imports of this file
        code = compile(text, path, "exec", dont_inherit=True)
        exec(code, program.__dict__)
    except Exception as error:
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
