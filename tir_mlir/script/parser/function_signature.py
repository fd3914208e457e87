"""Parsing of a signature: annotations and `T.match_buffer` of handles to parameter specs."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.ir import Index
from tir_mlir.dialect.verify import is_huge
from tir_mlir.script.language.markers import BufferConstructor, BufferType, DType, HandleConstructor, Var
from tir_mlir.script.parser import calls
from tir_mlir.script.parser.arithmetic import is_wide
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.function_state import ParserState
from tir_mlir.script.parser.items import UnboundVar, as_const, as_index, describe
from tir_mlir.script.parser.parameters import BufferSpec, Dim, Int64, Names, ScalarSpec, Spec, size_name
from tir_mlir.script.parser.source import ParseError

_BUFFER_FACTS = ("strides", "scope", "offset_factor", "align", "elem_offset", "buffer_type")


class SignatureParser:
    """The parameter specs of a function in order, and the body statements that belong to the signature (`used`)."""

    def __init__(self, state: ParserState, evaluate: Evaluator, func: ast.FunctionDef):
        self.state = state
        self.evaluate = evaluate
        self.used: set[int] = set()
        self.sizes: list[str] = []
        self.wide: list[str] = []  # those of int64
        self.handles: dict[str, ast.arg] = {}
        slots: dict[str, Spec | None] = {}
        for arg in self._args(func):
            slots[arg.arg] = self._scalar(arg)
        self._variables(func.body)
        for arg in func.args.args:
            if slots[arg.arg] is None:
                slots[arg.arg] = self._buffer(arg)
        self._matches(func.body, slots)
        for name, spec in slots.items():
            if spec is None:
                hint = f"add A = T.match_buffer({name}, shape)"
                raise state.error(self.handles[name], f"handle {name} has no shape: {hint}")
        self.specs: list[Spec] = [s for s in slots.values() if s is not None]

    def _args(self, func: ast.FunctionDef) -> list[ast.arg]:
        extra = [*func.args.kwonlyargs, func.args.vararg, func.args.kwarg, *func.args.posonlyargs]
        for arg in extra:
            if arg is not None:
                raise self.state.error(arg, "a prim_func takes plain positional parameters only")
        if func.args.defaults:
            raise self.state.error(func.args.defaults[0], "a parameter of a prim_func has no default")
        return func.args.args

    def _annotation(self, arg: ast.arg) -> ast.expr:
        if arg.annotation is None:
            example = f'{arg.arg}: T.Buffer((16, 16), "float32")'
            raise self.state.error(arg, f"parameter {arg.arg} needs a type, such as {example}")
        node = arg.annotation
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                raise self.state.error(node, f"{node.value!r} is not a type: it is not valid Python") from None
            for part in ast.walk(inner):
                ast.copy_location(part, node)
            return inner
        return node

    def _scalar(self, arg: ast.arg) -> Spec | None:
        """The spec of a scalar parameter; None for buffers and handles, which are handled later."""
        node = self._annotation(arg)
        if isinstance(node, ast.Call | ast.Subscript):
            return None
        item = self.evaluate(node)
        if isinstance(item, DType):
            spec = ScalarSpec(arg.arg, item.dtype, arg)
            try:
                self.state.scope.define(arg.arg, spec, arg, "parameter")
            except ParseError as refused:
                raise self.state.error(arg, str(refused)) from None
            return spec
        return None

    def _variables(self, body: list[ast.stmt]) -> None:
        """Variables declared at the top: `n = T.int32()`, `n, m = T.int32(), T.int32()`, `n = T.var("int32")`."""
        for stmt in body:
            pairs = self._assignment_pairs(stmt)
            if pairs and all(self._makes_variable(value) for _, value in pairs):
                self.used.add(id(stmt))
                for target, value in pairs:
                    self.sizes.append(target.id)
                    if self._variable_dtype(value) == "int64":
                        self.wide.append(target.id)
                    self.state.scope.define(target.id, UnboundVar(target.id), target, "size")

    @staticmethod
    def _assignment_pairs(stmt: ast.stmt) -> list[tuple[ast.Name, ast.expr]]:
        """The (name, value) pairs of an assignment to one name or to a tuple of names."""
        if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1:
            return []
        targets, values = [stmt.targets[0]], [stmt.value]
        if isinstance(targets[0], ast.Tuple) and isinstance(values[0], ast.Tuple):
            targets, values = targets[0].elts, values[0].elts
        if len(targets) != len(values):
            return []
        pairs = zip(targets, values, strict=True)
        named = [(target, value) for target, value in pairs if isinstance(target, ast.Name)]
        return named if len(named) == len(targets) else []

    def _makes_variable(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
            return False
        try:
            word = self.evaluate(node.func)
        except Exception:
            return False
        if isinstance(word, DType):
            return not node.args
        return getattr(word, "tir_construct", None) == "var"

    def _variable_dtype(self, node: ast.expr) -> str:
        """The type of `T.int64()` or `T.var("int64")`."""
        assert isinstance(node, ast.Call)
        word = self.evaluate(node.func)
        return word.dtype if isinstance(word, DType) else str(self.evaluate(node.args[0]) if node.args else "int32")

    def _single_target(self, stmt: ast.stmt) -> ast.Name | None:
        if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
            return stmt.targets[0]
        return None

    def _buffer(self, arg: ast.arg) -> Spec | None:
        """The spec of a `T.Buffer` parameter; None for a handle."""
        node = self._annotation(arg)
        if isinstance(node, ast.Call | ast.Subscript):
            base = self.evaluate(node.func if isinstance(node, ast.Call) else node.value)
            if isinstance(base, BufferConstructor):
                return self._buffer_node(arg, node)
            if isinstance(base, HandleConstructor):  # T.handle("float32")
                self.handles[arg.arg] = arg
                return None
        item = self.evaluate(node)
        if isinstance(item, HandleConstructor):
            self.handles[arg.arg] = arg
            return None
        if isinstance(item, BufferType):
            dims = [self._python_dim(d, arg) for d in item.shape]
            strides = [self._python_dim(d, arg) for d in item.facts.get("strides") or ()]
            return self._spec(arg.arg, dims, item.dtype, strides, item.facts, arg)
        kinds = "T.Buffer(...), T.handle nor a scalar type such as T.int32"
        raise self.state.error(arg, f"parameter {arg.arg} is neither {kinds}")

    def _python_dim(self, dim: object, node: ast.AST) -> int | str:
        if isinstance(dim, Var):
            return next((n for n, v in self.state.scope.python.items() if v is dim), "n")
        if isinstance(dim, int | str):
            return dim
        raise self.state.error(node, f"an extent is an integer or a variable, not {dim!r}")

    def _buffer_node(self, arg: ast.arg, node: ast.Call | ast.Subscript) -> BufferSpec:
        if isinstance(node, ast.Call):
            positional, keywords = list(node.args), {k.arg: k.value for k in node.keywords if k.arg}
        else:
            positional, keywords = _subscript_arguments(node), {}
        for name, value in zip(("shape", "dtype"), positional, strict=False):
            keywords[name] = value
        if len(positional) > 2 or "shape" not in keywords:
            raise self.state.error(node, 'a buffer is T.Buffer(shape, dtype): T.Buffer((16, 16), "float32")')
        return self.spec(arg.arg, keywords, arg)

    def spec(self, name: str, nodes: dict[str, ast.expr], node: ast.AST) -> BufferSpec:
        """A buffer spec from the argument nodes of `T.Buffer` or `T.match_buffer`."""
        dims = self.dims(nodes["shape"])
        strides = self.dims(nodes["strides"]) if "strides" in nodes and not _is_none(nodes["strides"]) else []
        keys = [k for k in nodes if k not in ("shape", "strides", "dtype", "param")]
        facts = {k: self._fact(nodes[k], k) for k in keys}
        dtype = self._fact(nodes["dtype"], "dtype") if "dtype" in nodes else "float32"
        return self._spec(name, dims, dtype, strides, facts, node)

    def _fact(self, node: ast.expr, what: str) -> object:
        try:
            return self.evaluate.python(node, what)
        except ParseError as refused:
            raise self.state.error(node, str(refused)) from None

    def _spec(
        self,
        name: str,
        dims: Sequence[Dim],
        dtype: object,
        strides: Sequence[Dim],
        facts: Mapping[str, object],
        node: ast.AST,
    ) -> BufferSpec:
        if odd := [k for k in facts if k not in _BUFFER_FACTS]:
            accepted = ", ".join(_BUFFER_FACTS[:4])
            raise self.state.error(node, f"a buffer has no {odd[0]}; it has shape, dtype, {accepted}")
        if strides and len(strides) != len(dims):
            raise self.state.error(node, f"buffer {name} has {len(dims)} axes but {len(strides)} strides")
        if not isinstance(dtype, str):
            raise self.state.error(node, f'the dtype of {name} is a string such as "float32", not {dtype!r}')
        if any(isinstance(d, int) and d < 0 for d in dims):
            raise self.state.error(node, f"buffer {name} has a negative extent: {dims}")
        if is_huge(dims):
            raise self.state.error(node, f"buffer {name} has more elements than 64 bits can count")
        plain_strides = [s for s in strides if isinstance(s, int | str)]
        if len(plain_strides) < len(strides):
            raise self.state.error(node, f"a stride of {name} is a number or a variable, not an expression")
        offset, align = (self._count(facts.get(what) or 0, name, node) for what in ("offset_factor", "align"))
        scope = facts.get("scope") or "global"
        if offset == 1 and facts.get("elem_offset") == 0:
            offset = 0  # an offset that is 0 is a multiple of 1
        if not isinstance(scope, str):
            raise self.state.error(node, f'the scope of {name} is a string such as "global", not {describe(scope)}')
        return BufferSpec(name, list(dims), dtype, plain_strides, scope, offset, align, node)

    def _count(self, value: object, name: str, node: ast.AST) -> int:
        if not isinstance(value, int) or value < 0:
            raise self.state.error(node, f"offset_factor and align of {name} are numbers, not {describe(value)}")
        return value

    def dims(self, node: ast.expr) -> list[Dim]:
        """Extents or strides: numbers, names of variables, or expression nodes for later."""
        if isinstance(node, ast.Tuple | ast.List):
            return [self._dim(e) for e in node.elts]
        if (name := size_name(self.state, node)) is not None:
            return [name]
        item = self.evaluate(node)
        items = item if isinstance(item, tuple | list) else (item,)
        return [i if isinstance(i, str) else self._extent_spec(i, node) for i in items]

    def _dim(self, node: ast.expr) -> Dim:
        if (name := size_name(self.state, node)) is not None:
            return name
        if any(size_name(self.state, n) for n in ast.walk(node) if isinstance(n, ast.Name)):
            return node
        return self._extent_spec(self.evaluate(node), node)

    def _extent_spec(self, item: object, node: ast.expr) -> Dim:
        try:
            number = as_const(item)
        except NotAffine as error:
            raise self.state.error(node, str(error)) from None
        if number is None and isinstance(item, Index):
            return node
        if number is None:
            raise self.state.error(node, f"an extent is an integer or a variable, not {describe(item)}")
        return Int64(number) if is_wide(item) else number

    def _matches(self, body: list[ast.stmt], slots: dict[str, Spec | None]) -> None:
        """Convert a handle parameter with `A = T.match_buffer(a, ...)` into a buffer parameter named A."""
        for stmt in body:
            target = self._single_target(stmt)
            call = getattr(stmt, "value", None)
            if target is None or not isinstance(call, ast.Call) or not call.args:
                continue
            handle = getattr(call.args[0], "id", None)
            if handle not in self.handles or not isinstance(call.func, ast.Attribute):
                continue
            word = self.evaluate(call.func)
            if getattr(word, "tir_construct", None) != "match_buffer":
                continue
            if slots[handle] is not None:
                raise self.state.error(stmt, f"handle {handle} is matched twice")
            slots[handle] = self._match(target.id, word, call)
            self.used.add(id(stmt))

    def _match(self, name: str, word: object, call: ast.Call) -> BufferSpec:
        try:
            nodes = calls.bind(word, call)
        except ParseError as refused:
            raise self.state.error(call, str(refused)) from None
        facts = nodes.pop("facts", {})
        if "shape" not in nodes:
            raise self.state.error(call, f"T.match_buffer of {name} needs a shape")
        return self.spec(name, {**nodes, **facts}, call)  # type: ignore[arg-type]

    def extents(self, names: Names) -> dict[str, list[Index]]:
        """The extents of every buffer parameter, with the variables bound."""
        shapes = {}
        for spec in self.specs:
            if isinstance(spec, BufferSpec):
                shapes[spec.name] = [self._extent(d, names, spec) for d in spec.dims]
        return shapes

    def _extent(self, dim: Dim, names: Names, spec: BufferSpec) -> Index:
        if isinstance(dim, int):
            return Index.constant(dim)
        item = names[dim] if isinstance(dim, str) else self.evaluate(dim)
        index = as_index(item)
        if index is None:
            node = dim if isinstance(dim, ast.expr) else spec.node
            message = f"the shape variables of {spec.name} cannot be solved for: use each as an extent by itself once"
            raise self.state.error(node, message)
        return index


def _subscript_arguments(node: ast.Subscript) -> list[ast.expr]:
    """`T.Buffer[(128, 128), "float32"]`, `T.Buffer[128, "float32"]`, `T.Buffer[16, 16, "float32"]`."""
    items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(items) <= 2:
        return items
    last = items[-1]
    is_dtype = isinstance(last, ast.Constant) and isinstance(last.value, str)
    shape = ast.copy_location(ast.Tuple(items[:-1] if is_dtype else items, ast.Load()), node)
    return [shape, last] if is_dtype else [shape]


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
