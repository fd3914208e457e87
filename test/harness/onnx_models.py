"""Small models of ONNX for the wide table: branches, loops, scans, sequences, functions. A text and its inputs each."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, parser

HEAD = '<ir_version: 10, opset_import: ["" : {opset}, "local" : 1]>\n'
X = np.arange(12, dtype="float32").reshape(4, 3) - 5
V = np.array([1.0, -2.0, 3.0], "float32")
YES, NO = np.array(True), np.array(False)


def _scan(**attrs: object) -> str:
    """A Scan over rows of x: what is carried is their sum."""
    options = "".join(f", {name} = {value}" for name, value in attrs.items())
    return f"""agraph (float[4,3] x, float[3] s) => (float[n] y, float[a,b] z) {{
        y, z = Scan <num_scan_inputs = 1{options}, body = b (float[3] c, float[3] r) => (float[3] d, float[3] o)
            {{ d = Add (c, r)  o = Mul (d, r) }}> (s, x) }}"""


def _loop(trips: str, condition: str, again: str, rows: bool = False) -> str:
    more, results, stacked = (", float[3] w", "y, z", ", float[k,3] z") if rows else ("", "y", "")
    return f"""agraph (float[3] x, int64 n, bool g) => (float[3] y{stacked})
        <int64 three = {{3}}, bool yes = {{1}}, float ten = {{10}}> {{
        {results} = Loop <body = b (int64 t, bool c, float[3] a) => (bool h, float[3] e{more}) {{
            f = Cast <to = 1> (t)  e = Add (a, f) {"w = Neg (e)" if rows else ""}
            q = ReduceSum <keepdims = 0> (e)  {again} }}> ({trips}, {condition}, x) }}"""


def _sequence(body: str, result: str = "float[n,m] y") -> str:
    return f"""agraph (float[4,3] x) => ({result}) <int64[2] k = {{1, 3}}, int64 last = {{-1}}, int64 one = {{1}}> {{
        s = SplitToSequence <axis = 0> (x, k)  {body} }}"""


_ON = "h = Identity (c)"
_WHILE = "h = Less (q, ten)"
LOOP_INPUTS = [(V, np.array(4), YES), (V, np.array(0), YES), (V, np.array(9), NO)]
MODELS: dict[str, tuple[str, list[tuple[np.ndarray, ...]]]] = {
    "If of data": ("""agraph (float[3] x, bool c) => (float[3] y) { y = If (c) <then_branch: graph =
        t () => (float[3] z) { z = Abs (x) }, else_branch: graph = f () => (float[3] z) { z = Exp (x) }> }""",
        [(V, YES), (V, NO)]),
    "If in If": ("""agraph (float[3] x, bool c, bool d) => (float[3] y) { y = If (c) <then_branch: graph =
        t () => (float[3] z) { z = If (d) <then_branch: graph = u () => (float[3] w) { w = Abs (x) },
        else_branch: graph = v () => (float[3] w) { w = Neg (x) }> },
        else_branch: graph = f () => (float[3] z) { z = Exp (x) }> }""", [(V, YES, YES), (V, YES, NO), (V, NO, NO)]),
    "If of sequences": ("""agraph (float[4,3] x, bool c) => (float[n,m] y, float[4,3] w) {
        s, w = If (c) <then_branch: graph = t () => (seq(float[4,3]) z, float[4,3] v) {
            a = Neg (x)  z = SequenceConstruct (x, a)  v = Abs (x) },
        else_branch: graph = f () => (seq(float[4,3]) z, float[4,3] v) {
            b = Abs (x)  z = SequenceConstruct (b, x)  v = Identity (x) }>
        y = ConcatFromSequence <axis = 0> (s) }""", [(X, YES), (X, NO)]),
    "If of sequences of other lengths": ("""agraph (float[4,3] x, bool c) => (float[n,m] y) {
        s = If (c) <then_branch: graph = t () => (seq(float[4,3]) z) { z = SequenceConstruct (x) },
        else_branch: graph = f () => (seq(float[4,3]) z) { b = Abs (x)  z = SequenceConstruct (b, x) }>
        y = ConcatFromSequence <axis = 0> (s) }""", [(X, YES), (X, NO)]),
    "If of a shape": ("""agraph (float[4,3] x) => (float[n,m] y) <int64 nine = {9}> { r = Size (x) c = Less (nine, r)
        y = If (c) <then_branch: graph = t () => (float[n,m] z) { z = Abs (x) },
        else_branch: graph = f () => (float[n,m] z) { z = Transpose (x) }> }""", [(X,)]),
    "Loop, known turns": (_loop("three", "yes", _ON, True), LOOP_INPUTS[:1]),
    "Loop, turns of data": (_loop("n", "yes", _ON), LOOP_INPUTS[:2]),
    "Loop, while": (_loop("three", "g", _WHILE), LOOP_INPUTS),
    "Loop, while without a count": (_loop("", "g", _WHILE), LOOP_INPUTS),
    "Loop, both of data": (_loop("n", "g", _WHILE), LOOP_INPUTS),
    "Loop, without a condition": (_loop("n", "", _ON), LOOP_INPUTS[:1]),
    "Loop that stacks rows, turns of data": (_loop("n", "yes", _ON, True), LOOP_INPUTS[:1]),
    "Loop that stacks rows, while": (_loop("three", "g", _WHILE, True), LOOP_INPUTS),
    "Loop that stacks rows, once or never": (_loop("three", "g", _ON, True), LOOP_INPUTS[1:]),
    "Scan": (_scan(), [(X, V)]),
    "Scan backward": (_scan(scan_input_directions="[1]"), [(X, V)]),
    "Scan, result backward": (_scan(scan_output_directions="[1]"), [(X, V)]),
    "Scan, result along axis 1": (_scan(scan_output_axes="[1]"), [(X, V)]),
    "Scan, negative axes": (_scan(scan_output_axes="[-1]", scan_input_axes="[-2]"), [(X, V)]),
    "Scan, both backward": (_scan(scan_input_directions="[1]", scan_output_directions="[1]"), [(X, V)]),
    "sequence, at": (_sequence("y = SequenceAt (s, last)"), [(X,)]),
    "sequence, insert": (_sequence("a = SequenceAt (s, last) t = SequenceInsert (s, a, one) "
        "y = ConcatFromSequence <axis = 0> (t)"), [(X,)]),
    "sequence, erase": (_sequence("t = SequenceErase (s) y = ConcatFromSequence <axis = -1> (t)"), [(X,)]),
    "sequence, length": (_sequence("y = SequenceLength (s)", "int64 y"), [(X,)]),
    "sequence, construct": (_sequence("a = Neg (x) t = SequenceConstruct (x, a) "
        "y = ConcatFromSequence <axis = 0, new_axis = 1> (t)", "float[a,b,c] y"), [(X,)]),
    "sequence, empty": (_sequence("e = SequenceEmpty () t = SequenceInsert (e, x) "
        "y = ConcatFromSequence <axis = 1> (t)"), [(X,)]),
    "sequence, split by one": ("""agraph (float[4,3] x) => (float[n,m] y) { s = SplitToSequence <axis = 1> (x)
        y = ConcatFromSequence <axis = 0> (s) }""", [(X,)]),
    "sequence, split without an axis": ("""agraph (float[4,3] x) => (float[n,m] y) {
        s = SplitToSequence <axis = 0, keepdims = 0> (x)  y = ConcatFromSequence <axis = 0, new_axis = 1> (s) }""",
        [(X,)]),
    "sequence, map": (_sequence("t = SequenceMap (s) <body: graph = b (float[p,q] a) => (float[p,q] r) "
        "{ r = Neg (a) }> y = ConcatFromSequence <axis = 0> (t)"), [(X,)]),
    "sequence, as a result": (_sequence("y = Identity (s)", "seq(float[n,m]) y"), [(X,)]),
    "sequence in a Loop": ("""agraph (float[4,3] x) => (float[n,m] y) <int64 three = {3}, bool yes = {1}> {
        e = SequenceEmpty ()  t = Loop <body = b (int64 i, bool c, seq(float[n,m]) a) => (bool d, seq(float[n,m]) r) {
            d = Identity (c)  f = CastLike (i, x)  g = Mul (x, f)  r = SequenceInsert (a, g) }> (three, yes, e)
        y = ConcatFromSequence <axis = 0> (t) }""", [(X,)]),
    "functions": ("""agraph (float[4,3] x) => (float[4,3] y) { y = local.scaled <by = 3.0> (x) }
        <domain: "local", opset_import: ["" : 21]> scaled <by> (a) => (b) {
            k = Constant <value_float: float = @by> ()  c = Celu <alpha = 2.0> (a)  b = Mul (c, k) }""", [(X,)]),
    "an initializer that is an input": (
        "agraph (float[3] x, float[3] w = {1, 2, 3}) => (float[3] y) { y = Add (x, w) }", [(V,)]),
    "shapes that are computed": ("""agraph (float[a,b] x) => (float[n,m] y) <int64[1] z = {0}, int64[1] o = {-1}> {
        s = Shape (x)  h = Gather (s, z)  r = Concat <axis = 0> (o, h)  y = Reshape (x, r) }""", [(X,)]),
}  # fmt: skip


def proto(name: str, opset: int) -> ModelProto:
    """A model in an opset."""
    return parser.parse_model(HEAD.format(opset=opset) + MODELS[name][0])
