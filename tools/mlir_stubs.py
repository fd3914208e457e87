"""Write the types of MLIR's Python bindings to build/typings, for the type checker: what upstream's stubs leave out.

Upstream's `ir.pyi` has `Value(Generic[_T])` without an import of Generic, so that every value has an unknown type, and
bare `list` and `dict`; its dialects are Python files without types. The optional package transformers gets a stub, so
that the checker finds its modules where it is not installed. `make types` runs this first.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "build" / "typings"
STUBS = ("_mlir_libs/_mlir/__init__", "_mlir_libs/_mlir/ir", "_mlir_libs/_mlir/passmanager")
DIALECTS = ("affine", "arith", "bufferization", "builtin", "func", "llvm", "math", "memref", "scf", "tensor", "vector")
"""Those that some file imports, linalg excepted: its functions are made by decorators."""

REPAIRS = (
    (r"^from _mlir import", "from . import"),
    (r"Generic\[_T\]", "object"),
    (r"Value\[_T\]", "Value"),
    (r"\(self, type: _T\)", "(self, type: Type)"),
    (r"def keys\(self\) -> list:", "def keys(self) -> list[str]:"),
    (r"def items\(self\) -> list:", "def items(self) -> list[tuple[str, Attribute]]:"),
    (r"def values\(self\) -> list:", "def values(self) -> list[Attribute]:"),
    (r"def (inputs|results)\(self\) -> list:", r"def \1(self) -> list[Type]:"),
    (r"-> Iterator:", "-> Iterator[str]:"),
    (r"(def owner\(self\)) -> OpView:(?=\s+\"\"\"\s+Returns the owner of the value)", r"\1 -> Any:"),
    (r"callback: object\) -> object:", "callback: object) -> DiagnosticHandler:"),
    (r"\*(args|arg_types),", r"*\1: Type,"),
    (r"(?<=[:>|] )(list|Sequence)(?=[ ,)|=:])", r"\1[Any]"),
    (r"(?<=[:>] )dict(?=[ ,)|=])", "dict[str, Any]"),
    (r"(?<=[:>] )tuple(?=[ ,)|=:])", "tuple[Any, ...]"),
    (r"(?<=[:>] )Callable(?=[ ,)|=:])", "Callable[..., Any]"),
)
WRAPPERS = {
    "ir": "from mlir._mlir_libs._mlir.ir import *\n",
    "passmanager": "from mlir._mlir_libs._mlir.passmanager import *\n",
    "_mlir_libs/_mlirDialectsLLVM": "from mlir import ir\n"
    "def translate_module_to_llvmir(op: ir.Operation) -> str: ...\n",
    "_mlir_libs/_mlirDialectsLinalg": "from mlir import ir\ndef fill_builtin_region(op: ir.Operation) -> None: ...\n",
    "dialects/linalg": "from typing import Any\nfrom mlir import ir\n"
    "def fill(*ins: Any, outs: Any) -> ir.OpResult: ...\ndef matmul(*ins: Any, outs: Any) -> ir.OpResult: ...\n",
}
OPTIONAL = ("transformers/__init__", "transformers/modeling_outputs")
"""The modules of transformers that some file imports; what they have is not described."""


def repaired(stub: str) -> str:
    """Upstream's stub without what type checkers do not understand."""
    for old, new in REPAIRS:
        stub = re.sub(old, new, stub, flags=re.MULTILINE)
    return re.sub(r"\A(\"\"\".*?\"\"\"\n)", r"\1\nfrom typing import Any\n", stub, flags=re.DOTALL)


def dialect_stub(source: str, own: str, generated: str) -> str:
    """The stub of a file of a dialect: what it defines, without bodies; parameters without a type take anything.

    own: the name of the file. generated: that of the file with the ops, whose classes the other one extends.
    """
    body = [s for node in ast.parse(source).body for s in (node.body if isinstance(node, ast.Try) else [node])]
    lines = [
        "from typing import Any",
        "from mlir import ir as _ods_ir",
        f"from mlir.dialects import {generated} as _ods",
    ]
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module != "_ods_common":
            lines.append(ast.unparse(node))
        elif isinstance(node, ast.FunctionDef):
            lines.append(_declaration(node, ""))
        elif isinstance(node, ast.ClassDef):
            bases = [
                "_ods." + b.id if isinstance(b, ast.Name) and b.id == node.name else ast.unparse(b) for b in node.bases
            ]
            lines.append(f"class {node.name}({', '.join(bases)}):")
            methods = [_declaration(m, "    ") for m in node.body if isinstance(m, ast.FunctionDef)]
            values = (
                [f"    {ast.unparse(v)}" for v in node.body if isinstance(v, ast.Assign)] if "_enum_" in own else []
            )
            lines += [*values, *(m for m in methods if ".setter" not in m)] or ["    ..."]
    return re.sub(r"\b_array\b(?=[],])", "_array[Any]", "\n".join(lines).replace("_ods_cext.ir", "_ods_ir")) + "\n"


def _declaration(function: ast.FunctionDef, indent: str) -> str:
    arguments = function.args
    for argument in (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None and argument.arg not in ("self", "cls") and argument.annotation is None:
            argument.annotation = ast.Name("Any")
    arguments.defaults = [ast.Constant(...) for _ in arguments.defaults]
    arguments.kw_defaults = [default and ast.Constant(...) for default in arguments.kw_defaults]
    returns = ast.unparse(function.returns) if function.returns else "Any"
    decorators = "".join(
        f"{indent}@{ast.unparse(d)}\n" for d in function.decorator_list if "region_op" not in ast.unparse(d)
    )
    decorators = decorators.replace("builtins.", "")
    result = "None" if function.name == "__init__" else returns
    return f"{decorators}{indent}def {function.name}({ast.unparse(arguments)}) -> {result}: ..."


def main() -> None:
    found = importlib.util.find_spec("mlir")
    if found is None or not found.submodule_search_locations:
        sys.exit("the bindings are missing; fix: make env")
    package = Path(next(iter(found.submodule_search_locations)))
    texts = {name: repaired((package / f"{name}.pyi").read_text(encoding="utf-8")) for name in STUBS} | WRAPPERS
    for dialect in DIALECTS:
        generated = f"_{dialect}_ops_gen"
        for name in (dialect, generated, f"_{dialect}_enum_gen"):
            path = package / "dialects" / f"{name}.py"
            if path.exists():
                texts[f"dialects/{name}"] = dialect_stub(path.read_text(encoding="utf-8"), name, generated)
    texts = {f"mlir/{name}": text for name, text in texts.items()}
    texts |= dict.fromkeys(OPTIONAL, "from typing import Any\ndef __getattr__(name: str) -> Any: ...\n")
    for name, text in texts.items():
        path = TARGET / f"{name}.pyi"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
