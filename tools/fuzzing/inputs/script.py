"""Nearly valid and invalid TVMScript: parsed as text, as decorated functions, and by `tir-opt`."""

from __future__ import annotations

import ast
import linecache
from copy import deepcopy
from random import Random
from typing import Any

from fuzzing.inputs import corpus, mlir, pipelines, texts
from fuzzing.inputs.judging import USER, Fault, described, short, tried
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser import parse

WORDS = sorted(n for n in dir(T) if not n.startswith("_") and n not in ("sys", "annotations", "construct"))
DTYPES = (
    "float32", "float16", "float64", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "bool", "int31", "float8", "handle", "",
)  # fmt: skip
ODD = (
    *texts.NUMBERS, "None", "True", "...", "nobody", "vi", "vj", "i", "A", "B", "A[vi]", "A[0, 0]", "A[vi, vj, vk]",
    "A[0:4]", "T", "T.float32", "T.float32(1)", "T.int64(3)", "T.axis", "T.axis.spatial", "T.axis.scan(4, i)",
    "T.reads()", "T.writes(A)", '"x"', "''", "[]", "{}", "()", "(1,)", "lambda x: x", "[i for i in range(3)]",
    "i if i else 1", "i // 0", "i % 0", "i % -3", "1 << 99", "i * j", "-i", "~i", "not i", "i and j", "i == j == 3",
    "f'{i}'", "print(i)", "for", "if", "while", "def", "class", "return", "yield", "await", "del", "import",
    "global", "pass", "break", "try:", "=", "+=", "//=", ":=", "->", ":", "@", "*", "**", "\\", "#", "T.init()",
    "T.block('B')", "T.where(i < 3)", "T.if_then_else", "T.Select(i < 3, i, j)", "with T.block('x'):",
    "for z in range(4):", "T.handle", "T.match_buffer", "A.data", "A.shape[0]", "A.access_ptr('r')",
    "T.infinity('float32')", "T.max_value('int8')", "T.evaluate(0)", "T.call_extern('int32', 'f', i)",
    "x: T.int32 = i",
)  # fmt: skip


def case(random: Random) -> str:
    """Parse a text; if it is accepted, use the program."""
    text = text_of(random)
    way = random.random()
    if way < 0.15:
        return _decorated(text)
    if way < 0.25:
        flags = [pipelines.one(random) for _ in range(random.choice((0, 0, 1, 2)))]
        return mlir.through_tool(text.encode(errors="replace"), "py", flags, text)
    word, got = tried(short(text), lambda: parse(text, filename=f"{USER}>"))
    if word == "accepted":
        follow(got, random, text)
    elif not isinstance(got, ScriptError) or not got.lineno:
        raise Fault(f"a refusal without a location: {described(got)}\n{short(text)}")
    return word


def text_of(random: Random) -> str:
    """Return a program with mistakes of one kind."""
    text = corpus.script(random)
    match random.randrange(9):
        case 0 | 1 | 2:
            return texts.mutated(random, text, ODD, most=2)
        case 3 | 4 | 5:
            return tree_changed(random, text)
        case 6:
            return texts.mutated(random, tree_changed(random, text), ODD, most=1)
        case 7:
            return made_up(random)
        case _:
            return texts.number_changed(random, text, ODD)


def follow(module: IRModule, random: Random, text: str) -> None:
    """Check that an accepted program prints, parses back as the same program and can be scheduled; lower some."""
    word, printed = tried(short(text), module.script)
    if word != "accepted":
        raise Fault(f"an accepted program does not print: {printed}\n{short(text)}")
    word, again = tried(short(f"{text}\n# printed as\n{printed}"), lambda: parse(printed))
    if word != "accepted":
        raise Fault(f"a printed program is refused: {again}\n{short(printed)}\n# it was\n{short(text)}")
    if not again.equal(module):
        raise Fault(f"a printed program parses back as a different one:\n{short(printed)}\n# it was\n{short(text)}")

    def scheduled() -> None:
        for name in module:
            sch = Schedule(module)
            sch.work_on(name)
            for block in sch.get_child_blocks(sch.get_block("root", name)):
                sch.get_loops(block)

    word, error = tried(short(text), scheduled)
    if word != "accepted" and "are called" not in str(error):
        raise Fault(f"an accepted program cannot be scheduled: {error}\n{short(text)}")
    if random.random() < 0.1:
        tried(short(text), lambda: mlir.lowered(module))


def _decorated(text: str) -> str:
    """Run the text as a source file, from which the decorators read the functions."""
    text = text.replace("from tvm.script", "from tir_mlir.script")
    name = f"{USER} file>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"T": T, "tir": T, "I": I}

    def run() -> None:
        exec(compile(text, name, "exec"), names)

    try:
        if _sets_attributes(compile(text, name, "exec", ast.PyCF_ONLY_AST)):
            return "refused"  # by the fuzzer: changes of T would affect later texts
        compile(text, name, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "refused"  # by Python
    return tried(short(text), run)[0]


def _sets_attributes(node: ast.AST) -> bool:
    """Whether executing the source sets or deletes an attribute of an object."""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return True
    inside = [n for n in ast.iter_child_nodes(node) if not (isinstance(node, ast.FunctionDef) and n in node.body)]
    return any(_sets_attributes(n) for n in inside)


# --- syntax trees -----------------------------------------------------------------------------------------------------


def tree_changed(random: Random, text: str) -> str:
    """Return the text of a program with one to three changes of its syntax tree; unchanged if it is not valid
    Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return text
    for _ in range(random.choice((1, 1, 1, 2, 3, 12))):
        if sum(1 for _ in ast.walk(tree)) > 3000:
            break
        random.choice((_expression, _expression, _expression, _statement, _word, _operator))(random, tree)
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (RecursionError, ValueError, AttributeError):
        return text


def _slots(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Return the positions of expressions."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, field, None))
            elif isinstance(value, list):
                found += [(node, field, n) for n, v in enumerate(value) if isinstance(v, ast.expr)]
    return found


def _expression(random: Random, tree: ast.AST) -> None:
    """Replace one expression by an odd one or by another of the program, drop it, or nest it in another."""
    slots = _slots(tree)
    if not slots:
        return
    node, field, number = random.choice(slots)
    old = _get(node, field, number)
    if random.random() < 0.4:
        other = deepcopy(_get(*random.choice(slots)))
    elif random.random() < 0.5:
        other = _odd(random)
    elif number is not None and random.random() < 0.4:
        del getattr(node, field)[number]
        return
    else:
        other = _around(random, old)
    if number is None:
        setattr(node, field, other)
    else:
        getattr(node, field)[number] = other


def _get(node: ast.AST, field: str, number: int | None) -> Any:
    value = getattr(node, field)
    return value if number is None else value[number]


def _odd(random: Random) -> ast.expr:
    for _ in range(9):
        try:
            return ast.parse(random.choice(ODD).strip(), mode="eval").body
        except SyntaxError:
            continue
    return ast.Constant(3)


def _around(random: Random, old: ast.expr) -> ast.expr:
    """Wrap an expression in another."""
    call = ast.Attribute(ast.Name("T", ast.Load()), random.choice(WORDS), ast.Load())
    match random.randrange(7):
        case 0:
            return ast.UnaryOp(random.choice((ast.USub(), ast.Not(), ast.Invert())), old)
        case 1:
            return ast.BinOp(
                old, random.choice(_BINARY)(), random.choice((deepcopy(old), ast.Constant(3), _odd(random)))
            )
        case 2:
            return ast.Compare(old, [random.choice(_COMPARED)()], [random.choice((deepcopy(old), ast.Constant(3)))])
        case 3:
            return ast.Subscript(old, random.choice((ast.Constant(0), deepcopy(old), _odd(random))), ast.Load())
        case 4:
            return ast.Call(call, [old, *([_odd(random)] if random.random() < 0.5 else [])], [])
        case 5:
            return ast.Tuple([deepcopy(old) for _ in range(random.randrange(4))], ast.Load())
        case _:
            return ast.Call(call, [ast.Constant(random.choice(DTYPES)), old], [])


_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.BitAnd, ast.MatMult)
_COMPARED = (ast.Lt, ast.GtE, ast.Eq, ast.NotEq, ast.In, ast.Is)


def _statement(random: Random, tree: ast.AST) -> None:
    """Drop, duplicate or move one statement."""
    bodies = [b for n in ast.walk(tree) if isinstance(b := getattr(n, "body", None), list) and b]
    if not bodies:
        return
    body, other = random.choice(bodies), random.choice(bodies)
    number = random.randrange(len(body))
    statement = body[number]
    match random.randrange(4):
        case 0 if len(body) > 1:
            del body[number]
        case 1:
            body.insert(number, deepcopy(statement))
        case 2:
            body[number] = deepcopy(random.choice(other))
        case _:
            other.insert(random.randint(0, len(other)), deepcopy(statement))


def _word(random: Random, tree: ast.AST) -> None:
    """Replace one member of T, name or keyword by another."""
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.Attribute, ast.Name, ast.keyword, ast.Constant, ast.arg))]
    if not found:
        return
    match node := random.choice(found):
        case ast.Attribute():
            node.attr = random.choice((*WORDS, "spatial", "reduce", "opaque", "scan", "remap", "nobody"))
        case ast.Name():
            names = [n.id for n in found if isinstance(n, ast.Name)]
            node.id = random.choice((*names, *names, "nobody", "T", "range"))
        case ast.keyword() | ast.arg():
            node.arg = random.choice(("dtype", "scope", "strides", "annotations", "thread", "A", "nobody"))
        case ast.Constant():
            node.value = random.choice((
                0, -1, 1, 2, 5, 1 << 31, 1 << 63, 10**25, 1.5, float("inf"), float("nan"), True, None, "x", "", "SS",
                "threadIdx.x", "shared", b"x", ..., 2j, *DTYPES,
            ))  # fmt: skip


def _operator(random: Random, tree: ast.AST) -> None:
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.BinOp, ast.AugAssign, ast.Compare))]
    if not found:
        return
    node = random.choice(found)
    if isinstance(node, ast.Compare):
        node.ops[0] = random.choice(_COMPARED)()
    else:
        node.op = random.choice(_BINARY)()


# --- generated programs -----------------------------------------------------------------------------------------------


def made_up(random: Random) -> str:
    """Return a function of random statements that use members of T."""
    return "@T.prim_func\ndef main(A: T.Buffer((8, 8), 'float32'), n: T.int32):\n" + _body(random, 1)


def _body(random: Random, depth: int) -> str:
    made, margin = "", "    " * depth
    for _ in range(random.randint(1, 3)):
        kind = random.randrange(8) if depth < 5 else random.choice((3, 4, 5, 6, 7))
        one = _value(random, 2)
        match kind:
            case 0 | 1:
                range_ = random.choice(("range", "T.grid", f"T.{random.choice(WORDS)}"))
                made += f"{margin}for {random.choice('ijkv')} in {range_}({random.choice(('8', '8', one))}):\n"
                made += _body(random, depth + 1)
            case 2:
                inner = random.choice(("T.block('b')", "T.init()", f"T.{random.choice(WORDS)}({one})"))
                made += f"{margin}with {inner}:\n{_body(random, depth + 1)}"
            case 3:
                made += f"{margin}{random.choice(('vi', 'vj', 'x', 'A[0, 0]'))} = {one}\n"
            case 4:
                axis = random.choice(("spatial", "reduce", "opaque", "remap"))
                made += f"{margin}vi = T.axis.{axis}({random.choice(('8', one))}, i)\n"
            case 5:
                made += f"{margin}A[{_value(random, 1)}, {random.choice(('vi', 'i', '0'))}] = {one}\n"
            case 6:
                made += f"{margin}T.{random.choice(WORDS)}({one})\n"
            case _:
                made += f"{margin}if {one}:\n{_body(random, depth + 1)}" if depth < 5 else f"{margin}pass\n"
    return made


def _value(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.3:
        return random.choice(("i", "vi", "n", "8", "A[vi, i]", "T.float32(2)", *ODD[:60]))
    a, b = _value(random, depth - 1), _value(random, depth - 1)
    return random.choice((
        f"T.{random.choice(WORDS)}({a}, {b})", f"T.{random.choice(WORDS)}({a})", f"({a} + {b})", f"({a} // {b})",
        f"A[{a}, {b}]", f"T.{random.choice(WORDS)}({a}, dtype='{random.choice(DTYPES)}')", f"({a} < {b})",
    ))  # fmt: skip
