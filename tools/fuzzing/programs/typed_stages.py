"""More stages on operands of any types: maps, sums of rows, windows, rows that are normalized, attention."""

from __future__ import annotations

import numpy as np

from fuzzing.programs.making import Held
from fuzzing.programs.typed_products import TypedOperands
from fuzzing.programs.typed_terms import FLOATS, Term, cast, exact, term


class TypedStages(TypedOperands):
    """What ready-made schedules other than those of products take."""

    def typed_map(self) -> None:
        """An element-wise term of two matrices, of which one may be transposed."""
        what = term(self.random)
        n, m = self.extents(2)
        turned = self.often(0.5)
        a, b = self.operand(what, what.left, [m, n] if turned else [n, m]), self.operand(what, what.right, [n, m])
        made = self.result([n, m], what.sums, what.unit)
        value = what.text(f"{a.name}[{'vj, vi' if turned else 'vi, vj'}]", f"{b.name}[vi, vj]")
        self.nest(made.name, [("vi", "S", n), ("vj", "S", m)], [f"{made.name}[vi, vj] = {value}"])

        def step(held: Held) -> None:
            held[made.name] = what.meaning(held[a.name].T if turned else held[a.name], held[b.name])

        self.steps.append(step)

    def typed_sum(self) -> None:
        """A sum, or an extremum, of terms of each row or column, or of the whole matrix."""
        what = term(self.random)
        n, m = self.extents(2)
        a, b = self.operand(what, what.left, [n, m]), self.operand(what, what.right, [n, m])
        kept = self.random.choice(("vi", "vj", ""))
        largest = self.often(0.2)
        made = self.result([{"vi": n, "vj": m, "": 1}[kept]], what.sums, what.unit)
        axes = [("vi", "S" if kept == "vi" else "R", n), ("vj", "S" if kept == "vj" else "R", m)]
        value = what.text(f"{a.name}[vi, vj]", f"{b.name}[vi, vj]")
        self.reduced(made, f"{made.name}[{kept or 0}]", axes, value, largest)

        def step(held: Held) -> None:
            terms = what.meaning(held[a.name], held[b.name])
            terms = {"vi": terms, "vj": terms.T, "": terms.reshape(1, -1)}[kept]
            held[made.name] = terms.max(axis=1) if largest else terms.sum(axis=1)

        self.steps.append(step)

    def typed_window(self) -> None:
        """A convolution of an image with channels, summing terms."""
        what = term(self.random)
        high, wide, channels, outputs = (self.random.choice(e) for e in ((4, 5, 8), (5, 9), (1, 3, 4), (1, 5, 8)))
        r, s = self.random.choice((1, 2, 3)), self.random.choice((1, 2, 3))
        x = self.operand(what, what.left, [high, wide, channels])
        w = self.operand(what, what.right, [r, s, channels, outputs])
        rows, columns = high - r + 1, wide - s + 1
        made = self.result([rows, columns, outputs], what.sums, what.unit)
        axes = [("vh", "S", rows), ("vw", "S", columns), ("vo", "S", outputs)]
        axes += [("vr", "R", r), ("vs", "R", s), ("vc", "R", channels)]
        value = what.text(f"{x.name}[vh + vr, vw + vs, vc]", f"{w.name}[vr, vs, vc, vo]")
        self.reduced(made, f"{made.name}[vh, vw, vo]", axes, value)

        def step(held: Held) -> None:
            seen = np.lib.stride_tricks.sliding_window_view(held[x.name], (r, s), axis=(0, 1))  # h, w, c, r, s
            seen = seen.transpose(0, 1, 3, 4, 2)[..., None]
            held[made.name] = what.meaning(seen, held[w.name][None, None]).sum(axis=(2, 3, 4))

        self.steps.append(step)

    def typed_rows(self) -> None:
        """How far the terms of each row are below the largest one, and the sum of that."""
        what = term(self.random)
        n, m = self.extents(2)
        a, b = self.operand(what, what.left, [n, m]), self.operand(what, what.right, [m])
        value = what.text(f"{a.name}[vi, vj]", f"{b.name}[vj]")
        top, below, total = (self.result(s, what.sums, what.unit) for s in ([n], [n, m], [n]))
        made = self.result([n, m], what.sums, what.unit)
        along, each = [("vi", "S", n), ("vj", "R", m)], [("vi", "S", n), ("vj", "S", m)]
        self.reduced(top, f"{top.name}[vi]", along, value, largest=True)
        self.nest(below.name, each, [f"{below.name}[vi, vj] = {top.name}[vi] - {value}"])
        self.reduced(total, f"{total.name}[vi]", along, f"{below.name}[vi, vj]")
        self.nest(made.name, each, [f"{made.name}[vi, vj] = {below.name}[vi, vj] + {total.name}[vi]"])

        def step(held: Held) -> None:
            terms = what.meaning(held[a.name], held[b.name])
            held[top.name] = terms.max(axis=1)
            held[below.name] = held[top.name][:, None] - terms
            held[total.name] = held[below.name].sum(axis=1)
            held[made.name] = held[below.name] + held[total.name][:, None]

        self.steps.append(step)

    def typed_attention(self) -> None:
        """Scores of queries and keys, how far they are below the largest one, and the sums of values weighted so."""
        what = term(self.random)
        queries, keys, depth = self.extents(3)
        width = self.random.choice((1, 4, 9, 16))
        q, k = self.operand(what, what.left, [queries, depth]), self.operand(what, what.right, [keys, depth])
        v = self.operand(what, what.right, [keys, width])
        shapes = ([queries, keys], [queries], [queries, keys], [queries, width], [queries, width])
        scores, top, weights, sums, made = (self.result(s, what.sums, what.unit) for s in shapes)
        unit = what.unit * (v.unit if what.sums in FLOATS else 1)
        sums.unit = made.unit = unit
        each = [("vi", "S", queries), ("vk", "S", keys)]
        value = what.text(f"{q.name}[vi, vd]", f"{k.name}[vk, vd]")
        self.reduced(scores, f"{scores.name}[vi, vk]", [*each, ("vd", "R", depth)], value)
        along = [("vi", "S", queries), ("vk", "R", keys)]
        self.reduced(top, f"{top.name}[vi]", along, f"{scores.name}[vi, vk]", largest=True)
        self.nest(weights.name, each, [f"{weights.name}[vi, vk] = {top.name}[vi] - {scores.name}[vi, vk]"])
        product = f"{weights.name}[vi, vk] * {cast(f'{v.name}[vk, ve]', what.right, what.sums)}"
        columns = [("vi", "S", queries), ("ve", "S", width)]
        self.reduced(sums, f"{sums.name}[vi, ve]", [*columns, ("vk", "R", keys)], product)
        self.nest(made.name, columns, [f"{made.name}[vi, ve] = {sums.name}[vi, ve] + {top.name}[vi]"])
        self.steps.append(
            lambda held: _attend(held, what, *(b.name for b in (q, k, v, scores, top, weights, sums, made)))
        )


def _attend(
    held: Held, what: Term, q: str, k: str, v: str, scores: str, top: str, weights: str, sums: str, made: str
) -> None:
    held[scores] = what.meaning(held[q][:, None, :], held[k][None, :, :]).sum(axis=2)
    held[top] = held[scores].max(axis=1)
    held[weights] = held[top][:, None] - held[scores]
    held[sums] = held[weights] @ exact(held[v], what.right, what.sums)
    held[made] = held[sums] + held[top][:, None]
