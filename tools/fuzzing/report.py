"""Report a run: counts, failures, the table and the last line."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzzing.items import CODE, GRAPH, INPUT, KERNEL, PAIR, TORCH, Outcome


@dataclass
class Tally:
    """Totals over the outcomes of a run."""

    ran: Counter[str] = field(default_factory=Counter)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    words: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    failures: list[Outcome] = field(default_factory=list)
    rss: int = 0
    start: float = field(default_factory=time.monotonic)

    def add(self, outcome: Outcome) -> None:
        self.ran[outcome.item.what] += 1
        word = outcome.word if outcome.verdict == "fine" else outcome.verdict
        self.words[outcome.item.what, outcome.item.kind.removeprefix("input: "), word] += 1
        self.counts.update(outcome.counts)
        self.rss = max(self.rss, outcome.rss)
        if outcome.verdict != "fine":
            self.failures.append(outcome)

    def of(self, what: str) -> dict[str, int]:
        """Return {of what: count} for one sort of counts, most frequent first."""
        found = {of: n for (sort, of), n in self.counts.items() if sort == what}
        return dict(sorted(found.items(), key=lambda x: -x[1]))

    def failed(self, what: str, *verdicts: str) -> int:
        return sum(f.item.what == what and (not verdicts or f.verdict in verdicts) for f in self.failures)

    @property
    def line(self) -> str:
        """The last line. A pair that fails in any way is wrong; an input that raises or kills its process is
        aborted."""
        refused = sum(self.of("refused").values())
        pairs = f"pairs {self.ran[PAIR]}: wrong {self.failed(PAIR)}, refused {refused}"
        aborted, hung = self.failed(INPUT, "wrong", "aborted"), self.failed(INPUT, "hung")
        for what, name in ((GRAPH, "graphs"), (TORCH, "graphs of torch")):
            if self.ran[what]:
                bad = ", ".join(f"{verdict} {self.failed(what, verdict)}" for verdict in ("wrong", "aborted", "hung"))
                pairs = f"{pairs}; {name} {self.ran[what]}: {bad}"
        if self.ran[CODE]:
            declined = self.words[CODE, CODE, "refused"]
            pairs = f"{pairs}; code {self.ran[CODE]}: wrong {self.failed(CODE)}, refused {declined}"
        if self.ran[KERNEL]:
            declined = self.words[KERNEL, KERNEL, "refused"]
            pairs = f"{pairs}; kernels {self.ran[KERNEL]}: wrong {self.failed(KERNEL)}, refused {declined}"
            if equal := sum(self.of("equal on the GPU").values()):
                pairs = f"{pairs}, equal on the GPU {equal}"
        return f"{pairs}; inputs {self.ran[INPUT]}: aborted {aborted}, hung {hung}"

    @property
    def code(self) -> int:
        return int(bool(self.failures))

    def table(self) -> str:
        """Format how often each primitive was applied and refused, the checks run, and the outcomes by input kind."""
        applied, refused = self.of("applied"), self.of("refused")
        lines = []
        if self.ran[PAIR]:
            lines.append(f"{'primitive':28} {'applied':>8} {'refused':>8}")
            names = sorted({*applied, *refused}, key=lambda n: -applied.get(n, 0))
            lines += [f"{n:28} {applied.get(n, 0):8} {refused.get(n, 0):8}" for n in names]
            lines.append(f"{'all':28} {sum(applied.values()):8} {sum(refused.values()):8}")
            lines += ["", *self._families()]
            lines += ["", *_shares("judged by", self.of("judged"), self.ran[PAIR])]
            lines += _shares("verify does not check", self.of("not checked"), self.ran[PAIR])
        if self.ran[TORCH]:
            lines += ["", *_shares("graphs of torch refused because", self.of("torch graphs refused"), self.ran[TORCH])]
        if self.ran[CODE]:
            lines += ["", *_shares("code refused because", self.of("code refused"), self.ran[CODE])]
        if self.ran[KERNEL]:
            lines += ["", *_shares("kernels refused because", self.of("kernel refused"), self.ran[KERNEL])]
            lines += _shares("equal on the GPU, bit for bit", self.of("equal on the GPU"), self.ran[KERNEL])
        kinds = sorted({kind for what, kind, _ in self.words if what == INPUT})
        if kinds:
            lines += ["", "inputs"]
        for kind in kinds:
            words = {w: n for (what, k, w), n in sorted(self.words.items()) if what == INPUT and k == kind}
            lines.append(f"{kind:28} " + ", ".join(f"{w} {n}" for w, n in words.items()))
        return "\n".join(lines)

    def families(self) -> dict[str, dict[str, int]]:
        """Return by family of stages how many programs have it, and how many steps on it were applied and refused."""
        found = {family: {"programs": n, "applied": 0, "refused": 0} for family, n in self.of("program of").items()}
        for word in ("applied", "refused"):
            for of, n in self.of(f"{word} on").items():
                found.setdefault(of.partition(":")[0], {"programs": 0, "applied": 0, "refused": 0})[word] += n
        return found

    def _families(self) -> list[str]:
        lines = [f"{'steps on':28} {'applied':>8} {'refused':>8} {'programs':>9}"]
        return lines + [
            f"{name:28} {n['applied']:8} {n['refused']:8} {n['programs']:9}" for name, n in self.families().items()
        ]

    def figures(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all statistics as JSON values."""
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "options": dict(options),
            "line": self.line,
            "ran": dict(self.ran),
            "seconds": round(time.monotonic() - self.start, 1),
            "cpu_seconds": round(spent.ru_utime + spent.ru_stime, 1),
            "most_memory_of_a_worker_mib": self.rss,
            **{what.replace(" ", "_"): self.of(what) for what in ("applied", "refused", "judged", "not checked")},
            "reasons": self.of("reason"),
            "torch_lines": self.of("torch graphs apply"),
            "torch_refused": self.of("torch graphs refused"),
            "kernels_equal_on_the_gpu": self.of("equal on the GPU"),
            "programs": self.of("program"),
            "families": self.families(),
            "applied_on": self.of("applied on"),
            "refused_on": self.of("refused on"),
            "outcomes": {" ".join(k): n for k, n in sorted(self.words.items())},
            "failures": [{"item": f.item.name, "verdict": f.verdict, "text": f.text} for f in self.failures],
        }


def _shares(title: str, found: Mapping[str, int], of: int) -> list[str]:
    return [title, *(f"  {word:40} {n:8} {100 * n / of:5.1f} %" for word, n in found.items())] if found else []
