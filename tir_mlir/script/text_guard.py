"""What MLIR text is refused before and right after MLIR reads it: no error is raised, the process ends instead.

All text of users, files and records comes through `check_text` and `check_divisors`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError, VerifyError
from tir_mlir.dialect.ir import walk
from tir_mlir.script.parser.source import SourceText

DEPTH, OPERATORS, PARTS = 250, 1000, 100_000
"""Brackets in each other, operators of one expression, parts of an alias written out: MLIR's parser and printer call
themselves for each. Programs have at most a few dozen."""
_WRITTEN_OUT = 100
"""How much longer a text may be when its aliases are written out."""
_ODD_CHARACTER = re.compile("[\0\ud800-\udfff]")
_ALIAS = re.compile(r"[#!][A-Za-z_][\w.$-]*\s*=")
_TOKEN = re.compile(
    r"""
      //[^\n]* | (?P<text>"(?:[^"\\\n]|\\.)*")
    | (?P<alias>[\#!][A-Za-z_][\w.$-]*) (?P<defined>\s*=(?!=))?
    | [%@^][\w.$-]+ | -> | [<>=]=
    | (?P<word>[A-Za-z_][\w.$]*) | (?P<open>[{\[(<]) | (?P<close>[}\])>])
    | (?P<operator>[+*-]) | (?P<end>[,:=])
    """,
    re.VERBOSE,
)
_DIVISIONS = ("mod", "floordiv", "ceildiv")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*')
_ODD_BYTE = re.compile(r"\\(?:00|[89A-Fa-f][0-9A-Fa-f])")
_ESCAPED = re.compile(rb"\\([0-9A-Fa-f]{2})|\\(.)", re.DOTALL)
_BYTES = re.compile(r"\bllvm\.mlir\.global\b[^\n]*\($")
"""What comes before a text that is data, not a name."""
_DIVISOR = re.compile(r"\b(?:mod|floordiv|ceildiv)\b(?!\s+0*[1-9])")
_NOT_POSITIVE = re.compile(r"\b(mod|floordiv|ceildiv) (0|-\d+)\b")


def check_text(text: str, source: SourceText) -> None:
    """Refuse text that would end the process. Raises ScriptError, with the line: a zero byte, what is not UTF-8, also
    in a name; more brackets, operators or aliases in each other than MLIR can follow."""
    if odd := _ODD_CHARACTER.search(text):
        what = "a zero byte" if odd[0] == "\0" else "a character that cannot be written as UTF-8"
        raise _error(text, source, odd.start(), f"the text has {what}")
    if _ODD_BYTE.search(text):
        _check_names(text, source)
    brackets, operators = sum(map(text.count, "{[(<")), sum(map(text.count, ("+", "*", "-", *_DIVISIONS)))
    if brackets > DEPTH or operators > OPERATORS or _ALIAS.search(text):
        _Scan(text, source).run()


def _check_names(text: str, source: SourceText) -> None:
    """Refuse a text in quotes that has a zero byte or is not UTF-8, unless it is data."""
    for match in _TEXT.finditer(text):
        if match[0].startswith('"') and _ODD_BYTE.search(match[0]):
            data = _ESCAPED.sub(lambda m: bytes([int(m[1], 16)]) if m[1] else m[2], match[0][1:-1].encode())
            if _BYTES.search(text, text.rfind("\n", 0, match.start()) + 1, match.start()):
                continue
            try:
                data.decode()
            except UnicodeDecodeError:
                raise _error(text, source, match.start(), f"{match[0]} is not UTF-8 text") from None
            if b"\0" in data:
                raise _error(text, source, match.start(), f"{match[0]} has a zero byte")


def check_divisors(module: ir.Module, text: str) -> None:
    """Refuse a division by a constant that is not positive: passes of MLIR abort on it. text: of the module. Raises
    VerifyError."""
    if not _DIVISOR.search(text):
        return
    for op in walk.ops(module.operation):
        written = [*(op.attributes[name] for name in op.attributes), *(result.type for result in op.results)]
        for part in written:
            if match := _NOT_POSITIVE.search(_TEXT.sub("", str(part))):
                message = f"{op.name}: {match[0]}; a divisor is at least 1"
                raise VerifyError(message, "mlir", op.location)


@dataclass
class _Scan:
    """One pass over the tokens of a text; `run` raises ScriptError.

    depth: brackets that are open. chains: operators so far, in each of them. deepest, parts: of the alias that is being
    defined, or of the rest. aliases: of each alias that is defined, its depth and the parts that it is written out.
    """

    text: str
    source: SourceText
    depth: int = 0
    chains: list[int] = field(default_factory=lambda: [0])
    defined: str | None = None
    deepest: int = 0
    parts: int = 0
    aliases: dict[str, tuple[int, int]] = field(default_factory=dict)

    def run(self) -> None:
        before = ""
        for match in _TOKEN.finditer(self.text):
            kind = match.lastgroup or ""
            if match["alias"]:
                self._alias(match["alias"], kind == "defined")
            elif kind == "open":
                self.depth += 1
                self.chains.append(0)
            elif kind == "close" and self.depth:
                self.depth -= 1
                self.chains.pop()
            elif kind == "operator" or match[0] in _DIVISIONS:
                self.chains[-1] += 1
            elif kind == "end":
                self.chains[-1] = 0
            elif not self.depth and self._is_op(match, kind, before):
                self._finish()
            self.parts += 1
            self.deepest = max(self.deepest, self.depth)
            self._check(match.start())
            before = kind

    def _is_op(self, match: re.Match[str], kind: str, before: str) -> bool:
        """Whether an op begins, outside all brackets."""
        if kind == "text":
            return before != "defined"
        return kind == "word" and (match[0] == "module" or "." in match[0])

    def _alias(self, name: str, is_defined: bool) -> None:
        if is_defined and not self.depth:
            self._finish()
            self.defined, self.deepest, self.parts = name, 0, 0
            return
        depth, parts = self.aliases.get(name, (0, 0))
        self.deepest, self.parts = max(self.deepest, self.depth + depth), self.parts + parts

    def _finish(self) -> None:
        """The end of the definition of an alias, if one is being defined."""
        if self.defined is not None:
            self.aliases[self.defined] = self.deepest, self.parts
            self.defined, self.deepest, self.parts = None, 0, 0

    def _check(self, at: int) -> None:
        message = ""
        if self.deepest > DEPTH:
            message = f"more than {DEPTH} brackets in each other, aliases written out"
        elif self.chains[-1] > OPERATORS:
            message = f"an expression of more than {OPERATORS} operators"
        elif self.parts > PARTS + (0 if self.defined else _WRITTEN_OUT * len(self.text)):
            message = "aliases that are too large written out"
        if message:
            raise _error(self.text, self.source, at, message)


def _error(text: str, source: SourceText, at: int, message: str) -> ScriptError:
    line = text.count("\n", 0, at) + 1
    return source.error_at(line, at - text.rfind("\n", 0, at), message)
