"""`IRModule` and `PrimFunc`: the Python objects for a module and one of its functions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from html import escape
from typing import Any, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError, check_type, short_repr
from tir_mlir.dialect.graph import TensorFunc, encoding, is_tensor_func, tensor_funcs
from tir_mlir.dialect.ir import (
    Func,
    attrs,
    create,
    direct_ops,
    enter_context,
    funcs,
    is_program,
    ops,
    symbol,
    symbol_added,
    symbol_table,
    visit,
)
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.extensions import extension_point


@extension_point
def graph_function(module: IRModule, name: str) -> Any:
    """A graph of a module, as a `tir_mlir.graph.expressions.Function`."""
    ...


@extension_point
def write_graphs(module: IRModule, graphs: Mapping[str, object]) -> None:
    """Append graphs to a module that has the programs they call. Errors: TirError for what is not a graph."""
    ...


class IRModule:
    """A module of tensor programs. `.mlir` is the MLIR module, `.script()` prints it as TVMScript."""

    def __init__(self, mlir: ir.Module | Mapping[str, object] | None = None):
        """Wrap an MLIR module (not copied), or build one from functions by name (copied)."""
        self.mlir: ir.Module
        if isinstance(mlir, ir.Module):
            _require_unique_names(mlir)
            self.mlir = mlir
            return
        if mlir is not None and not isinstance(mlir, Mapping):
            raise TirError(f"IRModule takes an MLIR module or functions by name, not {type(mlir).__name__}")
        with enter_context():
            self.mlir = ir.Module.create()
            self._add(mlir or {})

    def _add(self, functions: Mapping[str, object]) -> None:
        """Copy functions into the module, graphs after the programs that they call."""
        check_names(functions)
        graphs = {name: func for name, func in functions.items() if not isinstance(func, PrimFunc)}
        for name, func in functions.items():
            if isinstance(func, PrimFunc):
                copy_function(self.mlir, func, name, functions)
        if graphs:
            write_graphs(self, graphs)

    @staticmethod
    def from_mlir(text_or_path: str) -> IRModule:
        """Parse MLIR text, or the file at a `.mlir` path, in the encoding of dialect/README.md.

        Missing ids and names are added. Raises ScriptError with the line for malformed text and verifier errors.
        """
        from tir_mlir.script.mlir_text import load

        return IRModule(load(text_or_path))

    @staticmethod
    @extension_point
    def from_linalg(source: IRModule | ir.Module | str, func: str | None = None) -> IRModule:
        """Convert linalg ops to loops and blocks; see `tir_mlir.from_linalg`."""
        ...

    @staticmethod
    def from_expr(func: PrimFunc) -> IRModule:
        """A module with one function, named by its `global_symbol`, or `main` if it is private."""
        if not isinstance(func, PrimFunc):
            raise TirError(f"from_expr takes a PrimFunc, not {type(func).__name__}")
        return IRModule({str(func.attrs.get("global_symbol", "main")): func})

    @property
    def functions(self) -> dict[str, PrimFunc]:
        """The functions with a body, by name: programs, then graphs, each a `tir_mlir.graph.expressions.Function`."""
        programs = self.prim_funcs
        with enter_context():
            names = [f.name for f in tensor_funcs(self.mlir) if f.is_graph]
        return {**programs, **{GlobalVar(n): graph_function(self, n) for n in names}}

    def functions_items(self) -> list[tuple[str, Any]]:
        """Names and functions, in pairs."""
        return list(self.functions.items())

    @property
    def graphs(self) -> dict[str, Any]:
        """The graphs of operators, by name, each a `tir_mlir.graph.expressions.Function`."""
        return {name: func for name, func in self.functions.items() if not isinstance(func, PrimFunc)}

    @property
    def prim_funcs(self) -> dict[str, PrimFunc]:
        """The tensor programs, by name."""
        with enter_context():
            return {GlobalVar(f.name): PrimFunc(self, f.name) for f in funcs(self.mlir)}

    def get_global_vars(self) -> list[GlobalVar]:
        """The names of the functions."""
        return [GlobalVar(name) for name in self]

    def get_global_var(self, name: str) -> GlobalVar:
        """The name of a function as an object. Raises KeyError for one that is not there."""
        self[name]
        return GlobalVar(name)

    def update_func(self, var: str, func: object) -> None:
        """Replace a function, or add one: a PrimFunc or a graph. Other functions that call it must fit the new one.

        Raises TirError, and leaves the module as it was, if the changed module is not valid.
        """
        check_type(var, str, "IRModule.update_func", "var", "the name of a function")
        self.update({var: func})

    __setitem__ = update_func

    def update(self, functions: IRModule | Mapping[str, object]) -> None:
        """Replace and add functions, those of another module or of a dictionary, together."""
        check_type(functions, (IRModule, Mapping), "IRModule.update", "functions", "a module or a dictionary")
        new = dict(functions.functions if isinstance(functions, IRModule) else functions)
        check_names(new)
        updated = self.clone()
        with enter_context():
            erase_functions(updated.mlir, set(new))
            updated._add(new)
            erase_uncalled(updated.mlir)
            verify_module(updated.mlir)
        self.mlir = updated.mlir

    def __delitem__(self, name: str) -> None:
        self[name]
        updated = self.clone()
        with enter_context():
            erase_functions(updated.mlir, {name})
            erase_uncalled(updated.mlir)
            verify_module(updated.mlir)
        self.mlir = updated.mlir

    def __getitem__(self, name: str) -> PrimFunc:
        with enter_context():
            op = self._function_op(name)
            is_prim_func = op is not None and is_program(op)
        if op is None:
            raise KeyError(f"the module has no function {short_repr(name)}; it has {', '.join(self) or 'none'}")
        return PrimFunc(self, name) if is_prim_func else graph_function(self, name)

    def _function_op(self, name: object) -> ir.Operation | None:
        """The program or graph of a name; None if there is none."""
        op = symbol(self.mlir, name) if isinstance(name, str) else None
        is_function = op is not None and (is_program(op) or (is_tensor_func(op) and TensorFunc(op).is_graph))
        return op if is_function else None

    def __contains__(self, name: object) -> bool:
        with enter_context():
            return self._function_op(name) is not None

    def __iter__(self) -> Iterator[str]:
        with enter_context():
            graphs = [GlobalVar(f.name) for f in tensor_funcs(self.mlir) if f.is_graph]
        return iter([*self.prim_funcs, *graphs])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clone(self) -> IRModule:
        """A deep copy with the same `tir.id`s."""
        with enter_context():
            copy = ir.Module.create()
            for name in self.mlir.operation.attributes:
                copy.operation.attributes[name] = self.mlir.operation.attributes[name]
            with ir.InsertionPoint(copy.body):
                for op in self.mlir.body.operations:
                    op.operation.clone()
            return IRModule(copy)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickle_module, (type(self), module_text(self.mlir))

    def __copy__(self) -> IRModule:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, object]) -> IRModule:
        return self.clone()

    def text(self) -> str:
        """The module as MLIR text."""
        with enter_context():
            return str(self.mlir)

    def script(self, **options: Any) -> str:
        """The module as TVMScript; see `tir_mlir.script.printer.script` for the options."""
        from tir_mlir.script.printer import script

        return script(self.mlir, **options)

    def show(self, **options: Any) -> None:
        """Print the module as TVMScript, colored in terminals and notebooks."""
        from tir_mlir.script.display import show

        show(self.script(**options))

    def equal(self, other: IRModule) -> bool:
        """Structural equality; ids and locations are ignored."""
        from tir_mlir.script.structural_equal import equal

        return isinstance(other, IRModule) and equal(self.mlir, other.mlir)

    def _repr_html_(self) -> str:
        from tir_mlir.script.display import html, truncate_lines

        try:
            return html(truncate_lines(self.script()))
        except TirError:  # a lowered module has no TVMScript form
            return f"<pre>{escape(truncate_lines(self.text()))}</pre>"

    def __repr__(self) -> str:
        return f"IRModule({', '.join(self)})"


class PrimFunc:
    """One function of a module."""

    def __init__(self, module: IRModule, name: str):
        self.module = module
        self.name = name

    @property
    def func(self) -> Func:
        """The function op as a view; valid until the module is rewritten."""
        with enter_context():
            op = symbol(self.module.mlir, self.name)
            if op is None or not is_program(op):
                raise KeyError(f"the module has no program {self.name} any more")
            return Func(op)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes set by `T.func_attr`."""
        with enter_context():
            return self.func.attributes

    @property
    def isolated_module(self) -> IRModule:
        """A module with only this function and the external functions it calls."""
        return IRModule({self.name: self})

    def with_attr(self, key: str | Mapping[str, object], value: object = None) -> PrimFunc:
        """A copy, in its own module, with one more attribute or with those of a dictionary added."""
        if not isinstance(key, (str, Mapping)):
            raise TirError(f"with_attr takes a name or a dictionary, not {type(key).__name__}")
        return self._replace_attributes({**self.attrs, **(dict(key) if isinstance(key, Mapping) else {key: value})})

    def without_attr(self, key: str) -> PrimFunc:
        """A copy, in its own module, without one attribute."""
        if not isinstance(key, str):
            raise TirError(f"without_attr takes the name of an attribute, not {type(key).__name__}")
        return self._replace_attributes({k: v for k, v in self.attrs.items() if k != key})

    def with_attrs(self, attributes: Mapping[str, object]) -> PrimFunc:
        """A copy, in its own module, with these attributes instead of its own."""
        if not isinstance(attributes, Mapping):
            raise TirError(f"with_attrs takes a dictionary, not {type(attributes).__name__}")
        return self._replace_attributes(dict(attributes))

    def _replace_attributes(self, attributes: dict[str, object]) -> PrimFunc:
        copy = self.isolated_module[self.name]
        with enter_context():
            attrs.put(copy.func.op, attrs.ATTRS, attributes)
        return copy

    def script(self, **options: Any) -> str:
        """The function as TVMScript, printed as a module with one function."""
        return self.isolated_module.script(**options)

    def show(self, **options: Any) -> None:
        """Print the function as TVMScript."""
        self.isolated_module.show(**options)

    def equal(self, other: PrimFunc) -> bool:
        """Structural equality; function names are ignored."""
        return IRModule({"main": self}).equal(IRModule({"main": other}))

    def _repr_html_(self) -> str:
        return self.isolated_module._repr_html_()

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise TirError(f'{self.name} is a PrimFunc, not callable: build it first, build(mod)["{self.name}"](...)')

    def __repr__(self) -> str:
        return f"PrimFunc({self.name})"


def _require_unique_names(module: ir.Module) -> None:
    """Refuse an op tree made by hand in which two functions have one name: MLIR's symbol table aborts on it."""
    seen: set[ir.Attribute] = set()
    for op in direct_ops(module.operation):
        name = op.attributes.get("sym_name", None)
        if name in seen:
            raise TirError(f"two functions of the MLIR module are called {name}; fix: rename one of them")
        if name is not None:
            seen.add(name)


def module_text(module: ir.Module) -> str:
    """A module as text that `parsed_module` reads, locations included."""
    with enter_context():
        return str(module.operation.get_asm(enable_debug_info=True))


def parsed_module(text: str) -> ir.Module:
    """The module that `module_text` wrote."""
    with enter_context():
        return ir.Module.parse(text)


def verify_module(module: ir.Module) -> None:
    """Errors: TirError for calls that do not fit, or of functions that are not there."""
    try:
        module.operation.verify()
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        errors = error.error_diagnostics
        raise TirError(f"the functions of the module do not fit: {errors[0].message if errors else error}") from None


def _unpickle_module(kind: type[IRModule], text: str) -> IRModule:
    return kind(parsed_module(text))


def copy_function(module: ir.Module, func: PrimFunc, name: str, bound: Collection[str] = ()) -> None:
    """Clone a function under a new name with fresh ids, and what it calls; not the functions `bound` by other means."""
    present = symbol_table(module.operation)
    if name in present:
        raise TirError(f"the module already has a function {name}")
    called = _all_callees(func.func.op, symbol_table(func.module.mlir.operation))
    missing = {callee for callee in called if callee not in present and callee not in bound}
    listed = direct_ops(func.module.mlir.operation) if missing else []
    first = create.next_id(module)
    with ir.InsertionPoint(module.body):
        copies = [op.clone() for op in listed if attrs.get(op, "sym_name") in missing]  # in the order of their module
        copy = func.func.op.clone().operation
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    for function in (*copies, copy):
        symbol_added(function.operation)
    facts = attrs.get(copy, attrs.ATTRS, {})
    if facts.get("global_symbol") == func.name:
        attrs.put(copy, attrs.ATTRS, {**facts, "global_symbol": name})
    create.number_anew(
        module.operation, [inner for function in (*copies, copy) for inner in ops(function.operation)], first
    )


def _all_callees(op: ir.Operation, functions: ir.SymbolTable) -> set[str]:
    """The functions that an op calls, directly and through others."""
    callees: set[str] = set()
    pending = _callees(op)
    while pending:
        callees |= pending
        pending = set().union(*(_callees(functions[name].operation) for name in pending if name in functions)) - callees
    return callees


def _callees(op: ir.Operation) -> set[str]:
    names: set[str] = set()

    def look(inner: ir.Operation) -> ir.WalkResult:
        if isa(inner, CallOp):
            names.add(ir.FlatSymbolRefAttr(inner.attributes["callee"]).value)
        return ir.WalkResult.ADVANCE

    visit(op, look)
    return names


class GlobalVar(str):
    """The name of a function of a module, as TVM has it."""

    kinds = ("global_var",)

    @property
    def name_hint(self) -> str:
        return str(self)


def erase_functions(module: ir.Module, names: Collection[str]) -> None:
    """Remove functions, whoever calls them."""
    for op in direct_ops(module.operation):
        if attrs.get(op, "sym_name") in names:
            op.erase()


def erase_uncalled(module: ir.Module) -> None:
    """Remove what stands for operators and callees of graphs that no node calls any more."""
    called = called_names(module)
    for func in tensor_funcs(module):
        if func.kind not in (encoding.GRAPH, encoding.GROUP, encoding.REGION) and func.name not in called:
            func.op.erase()


def called_names(module: ir.Module) -> set[str]:
    """The functions that some function calls."""
    callees: set[str] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if isa(op, CallOp):
            callees.add(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    return callees | {region for f in tensor_funcs(module) for region in attrs.get(f.op, encoding.REGIONS, [])}


def check_names(functions: Mapping[str, object]) -> None:
    """Errors: TirError for a key that is not a name."""
    for name in functions:
        if not isinstance(name, str) or not name:
            raise TirError(f"a module has functions by name; {name!r} is not one")
