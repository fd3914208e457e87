"""What an importer cannot translate, collected so that one error tells all of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tir_mlir.dialect.diagnostics import GraphError


@dataclass(frozen=True)
class Refusal:
    """One node that is not translated: the operator, the node, the line of the model, the reason."""

    operator: str
    node: str
    location: str
    reason: str

    @property
    def why(self) -> str:
        """The reason, without the suggested fix."""
        return self.reason.partition("\n  fix: ")[0]

    @property
    def way_out(self) -> str:
        """The suggested fix."""
        return self.reason.partition("\n  fix: ")[2] or f"give its meaning: ops={{{self.operator}: f}}"

    def __str__(self) -> str:
        line = f"\n    {self.location}" if self.location else ""
        reason, sign, fix = self.reason.partition("\n  fix: ")
        return f"  {self.operator}, node {self.node}: {reason}{line}{sign}{fix}"


class NotTranslated(GraphError):
    """Operators of a model are not translated: all of them."""

    def __init__(self, message: str, refusals: tuple[Refusal, ...] = ()):
        super().__init__(message)
        self.refusals = refusals


@dataclass
class Refusals:
    """The refusals of one model."""

    found: list[Refusal] = field(default_factory=list)

    def add(self, operator: str, node: str, line: str, reason: str) -> None:
        """Record the refusal of one node."""
        self.found.append(Refusal(operator, node, line, reason))

    def check(self, importer: str, fix: str) -> None:
        """Raise GraphError that tells all of them, if there are any. fix: a line with {op} for the operator."""
        if not self.found:
            return
        names = list(dict.fromkeys(r.operator for r in self.found))
        count = f"{len(names)} operators" if len(names) > 1 else "an operator"
        listing = "\n".join(map(str, self.found))
        unfixed = dict.fromkeys(r.operator for r in self.found if "fix: " not in r.reason)
        fixes = "".join(f"\n  fix: {fix.format(op=name)}" for name in unfixed)
        message = f"{importer}: {count} of the model cannot be translated\n{listing}{fixes}"
        raise NotTranslated(message, tuple(self.found))
