"""Refusals of compute_inline and reverse_compute_inline."""

from programs.inlining import F32, Padded, Straight
from programs.short import each, nest, program, sblock

from tir_mlir import Schedule

# --- refusals -------------------------------------------------------------------------------------------------------


def test_refuses_outputs_and_reductions(refused):
    sch = Schedule(Padded)
    refused(sch, "has an init", lambda: sch.compute_inline("C"))
    refused(sch, "has an init", lambda: sch.reverse_compute_inline("C"))
    sch = Schedule(Straight)
    refused(sch, "C, which is visible outside its scope", lambda: sch.compute_inline("C"))
    refused(
        sch,
        "exactly one buffer that the last of its producers computes; it reads none",
        lambda: sch.reverse_compute_inline("B"),
    )


Overwritten = program(
    "A:8 C:8; B:8", each("B", "B[vi] = A[vi] + 1.0"), each("A", "A[vi] = 0.0"), each("C", "C[vi] = B[vi] * 2.0")
)


def test_refuses_inputs_written_in_between(refused, same_result):
    sch = Schedule(Overwritten)
    refused(sch, 'A is written between block "B", which reads it, and block "C"', lambda: sch.compute_inline("B"))
    sch.reverse_compute_inline("C")
    same_result(sch, Overwritten, ((8,), F32), ((8,), F32))


def test_refuses_values_from_another_iteration(refused):
    Running = program(
        "A:9 C:9; B:9",
        nest(
            "i:9",
            sblock("B", "vi:9=i", "B[vi] = A[vi] + 1.0"),
            sblock("C", "vi:9=i", "C[vi] = T.if_then_else(vi > 0, B[vi - 1], T.float32(0))"),
        ),
    )
    sch = Schedule(Running)
    refused(
        sch,
        r"reads B\[0\], which block .B. has "
        r"not computed in the same iteration",
        lambda: sch.compute_inline("B"),
    )
    refused(sch, r"needs B\[-1\], which block .B. has not computed", lambda: sch.reverse_compute_inline("C"))


def test_refuses_the_root(refused):
    sch = Schedule(Straight)
    root = sch.get_block("root")
    for step in (sch.compute_inline, sch.reverse_compute_inline):
        refused(sch, "root block", lambda step=step: step(root))


def test_refuses_uncomputed_elements(refused):
    Half = program(
        "A:8 C:8; B:8", each("B", "B[vi] = A[vi] + 1.0", where="i < 8"), each("C", "C[vi] = B[vi // 2] + B[vi]")
    )
    sch = Schedule(Half)
    refused(sch, "at several indices", lambda: sch.reverse_compute_inline("C"))
    sch.compute_inline("B")
