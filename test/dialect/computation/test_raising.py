"""Raising blocks and loop nests to the canonical form, and comparing two forms."""

from __future__ import annotations

import textwrap

import pytest
from programs.parsed import parse

from tir_mlir.dialect.computation import IntrinMatch, NotRaisable, match, raise_form
from tir_mlir.dialect.ir import enter_context, funcs

PARAMS = 'A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")'


def program(body: str, params: str = PARAMS):
    """A module whose one function has this body."""
    return parse(
        f"@T.prim_func(check_well_formed=False)\ndef f({params}):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    )


def matmul(
    loops="i, j, k", extents="16, 16, 16", binds="i, j, k", update="C[vi, vj] + A[vi, vk] * B[vj, vk]", where=""
):
    return f"""
    for {loops} in T.grid({extents}):
        with T.block("m"):
            vi, vj, vk = T.axis.remap("SSR", [{binds}])
            {where}
            C[vi, vj] = {update}
    """


def form_of(mod):
    return raise_form(funcs(mod.mlir)[0])


def compare(body: str, other: str, params: str = PARAMS, other_params: str = PARAMS):
    """`match` of two programs: the second is the description."""
    with enter_context():
        block, desc = program(body, params), program(other, other_params)
        return match(form_of(block), form_of(desc))


def differences(*args, **kwargs) -> str:
    found = compare(*args, **kwargs)
    assert isinstance(found, list)
    return str(found[0])


def refusal(body: str, params: str = PARAMS) -> str:
    with enter_context(), pytest.raises(NotRaisable) as caught:
        form_of(program(body, params))
    return str(caught.value)


SAME = {
    "as it is": matmul(),
    "loops permuted": matmul(loops="k, i, j", binds="i, j, k"),
    "operands of the product swapped": matmul(update="C[vi, vj] + B[vj, vk] * A[vi, vk]"),
    "operands of the sum swapped": matmul(update="A[vi, vk] * B[vj, vk] + C[vi, vj]"),
    "roles of A and B exchanged": matmul(update="C[vi, vj] + B[vi, vk] * A[vj, vk]"),
    "k as two loops": """
        for i, j, k0, k1 in T.grid(16, 16, 4, 4):
            with T.block("m"):
                vi, vj = T.axis.remap("SS", [i, j])
                vk = T.axis.reduce(16, k0 * 4 + k1)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
        """,
    "i and j fused": """
        for ij, k in T.grid(256, 16):
            with T.block("m"):
                vi = T.axis.spatial(16, ij // 16)
                vj = T.axis.spatial(16, ij % 16)
                vk = T.axis.reduce(16, k)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
        """,
    "bare loops": """
        for i, j, k in T.grid(16, 16, 16):
            C[i, j] = C[i, j] + A[i, k] * B[j, k]
        """,
    "split bare loops": """
        for i0, j, k, i1 in T.grid(4, 16, 16, 4):
            C[i0 * 4 + i1, j] = C[i0 * 4 + i1, j] + A[i0 * 4 + i1, k] * B[j, k]
        """,
    "unit loop": """
        for u, i, j, k in T.grid(1, 16, 16, 16):
            with T.block("m"):
                vu, vi, vj, vk = T.axis.remap("SSSR", [u, i, j, k])
                C[vi + vu, vj] = C[vi + vu, vj] + A[vi, vk] * B[vj, vk]
        """,
    "a loop inside the block": """
        for i, j in T.grid(16, 16):
            with T.block("m"):
                vi, vj = T.axis.remap("SS", [i, j])
                for k in range(16):
                    C[vi, vj] = C[vi, vj] + A[vi, k] * B[vj, k]
        """,
    "blocks in blocks": """
        for i0, j0, k0 in T.grid(4, 4, 4):
            with T.block("outer"):
                vi0, vj0, vk0 = T.axis.remap("SSR", [i0, j0, k0])
                for i, j, k in T.grid(4, 4, 4):
                    with T.block("inner"):
                        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                        C[vi0 * 4 + vi, vj0 * 4 + vj] = C[vi0 * 4 + vi, vj0 * 4 + vj] + A[
                            vi0 * 4 + vi, vk0 * 4 + vk] * B[vj0 * 4 + vj, vk0 * 4 + vk]
        """,
}


@pytest.mark.parametrize("body", SAME.values(), ids=SAME.keys())
def test_the_same_computation_matches(body):
    assert isinstance(compare(body, matmul()), IntrinMatch)


def test_batch_point_and_unit_dimension():
    params = (
        'A: T.Buffer((3, 16, 16), "float32"), B: T.Buffer((16, 1, 16), "float32"), C: T.Buffer((16, 16), "float32")'
    )
    body = matmul(update="C[vi, vj] + A[2, vi, vk] * B[vj, 0, vk]")
    found = compare(body, matmul(), params)
    assert isinstance(found, IntrinMatch)
    assert [b.dims for b in found.bindings] == [(None, 0, 1), (0, None, 1), (0, 1)]
    assert [i.as_constant() for i in found.bindings[0].base] == [2, 0, 0]


def test_init_is_part_of_the_form():
    init = """
    for i, j, k in T.grid(16, 16, 16):
        with T.block("m"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32({})
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
    """
    assert isinstance(compare(init.format("0.0"), init.format("0.0")), IntrinMatch)
    assert "decompose_reduction takes the init out" in differences(init.format("0.0"), matmul())
    assert "the block updates C without an init" in differences(matmul(), init.format("0.0"))
    assert "starts from 1.000000e+00 : f32, the block from 0.000000e+00" in differences(
        init.format("0.0"), init.format("1.0")
    )


DIFFER = {
    "map": (
        matmul(update="C[vi, vj] + A[vi, vk] * B[vk, vj]"),
        "the intrinsic reads B[vj, vk], the block reads B[vk, vj]",
    ),
    "payload": (
        matmul(update="C[vi, vj] - A[vi, vk] * B[vj, vk]"),
        "the intrinsic computes addf(C, mulf(A, B)), the block computes subf(C, mulf(A, B))",
    ),
    "other sum": (
        matmul(update="C[vi, vj] + A[vi, vk] + B[vj, vk]"),
        "the intrinsic computes addf(C, mulf(A, B)), the block computes addf(addf(C, A), B)",
    ),
    "product of sums": (
        matmul(update="C[vi, vj] + (A[vi, vk] + B[vj, vk])"),
        "the intrinsic computes addf(C, mulf(A, B)), the block computes addf(C, addf(A, B))",
    ),
    "extent": (
        matmul(extents="16, 16, 8"),
        "the intrinsic needs vi: 16 spatial, vj: 16 spatial, vk: 16 reduce; "
        "the block has vi: 16 spatial, vj: 16 spatial, vk: 8 reduce",
    ),
    "step": (matmul(extents="16, 16, 8", update="C[vi, vj] + A[vi, vk * 2] * B[vj, vk * 2]"), "vk: 8 reduce"),
    "one operand twice": (
        matmul(update="C[vi, vj] + A[vi, vk] * A[vi, vk]"),
        "the intrinsic computes addf(C, mulf(A, B)), the block computes addf(C, mulf(A, A))",
    ),
}


@pytest.mark.parametrize(("body", "text"), DIFFER.values(), ids=DIFFER.keys())
def test_differences_are_reported(body, text):
    assert text in differences(body, matmul())


def test_scope_and_dtype_are_named_and_the_next_best_way_is_shown():
    desc = PARAMS.replace('B: T.Buffer((16, 16), "float32")', 'B: T.Buffer((16, 16), "float32", scope="shared")')
    found = compare(matmul(), matmul(), other_params=desc)
    assert isinstance(found, list)
    assert 'operand B: the intrinsic needs scope "shared", B is in "global"' in str(found[0])
    assert len(found) == 2 and str(found[0]) != str(found[1])
    half = PARAMS.replace("float32", "float16")
    copy = "for i, j in T.grid(16, 16):\n    C[i, j] = A[i, j]"
    assert "the intrinsic needs float32, C is float16" in differences(copy, copy, half)


def test_predicates_of_comparisons_count():
    body = """
    for i, j in T.grid(16, 16):
        C[i, j] = T.Select(A[i, j] {} B[i, j], A[i, j], B[i, j])
    """
    assert isinstance(compare(body.format("<"), body.format("<")), IntrinMatch)
    said = differences(body.format("<"), body.format(">"))
    assert "cmpf ogt" in said and "cmpf olt" in said


def test_fastmath_does_not_count(parse):
    text = """
    func.func @f(%A: memref<4xf32> {{tir.name = "A"}}, %B: memref<4xf32> {{tir.name = "B"}}) {{
      affine.for %i = 0 to 4 {{
        %a = affine.load %A[%i] : memref<4xf32>
        %s = arith.addf %a, %a {} : f32
        affine.store %s, %B[%i] : memref<4xf32>
      }} {{tir.loop = "i"}}
      return
    }}"""
    modules = [parse(text.format(flags)) for flags in ("", "fastmath<contract>")]
    with enter_context():
        assert isinstance(match(*(raise_form(funcs(m)[0]) for m in modules)), IntrinMatch)


REFUSED = {
    "guard": (matmul(where="T.where(i < 10)"), "guarded by T.where"),
    "condition": (
        """
        for i, j in T.grid(16, 16):
            if i < 10:
                C[i, j] = A[i, j]
        """,
        "contains a condition",
    ),
    "conditional value": (
        matmul(update="C[vi, vj] + T.if_then_else(vi > 2, A[vi, vk], T.float32(0))"),
        "contains a condition",
    ),
    "init in the middle": (
        """
        for k0 in range(2):
            with T.block("outer"):
                vk0 = T.axis.reduce(2, k0)
                for i, j, k in T.grid(16, 16, 8):
                    with T.block("inner"):
                        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                        with T.init():
                            C[vi, vj] = T.float32(0)
                        C[vi, vj] = C[vi, vj] + A[vi, vk0 * 8 + vk] * B[vj, vk0 * 8 + vk]
        """,
        "its init runs again in every iteration of vk0",
    ),
    "holes": (
        """
        for i, j, k in T.grid(16, 16, 8):
            with T.block("m"):
                vi, vj = T.axis.remap("SS", [i, j])
                vk = T.axis.reduce(16, k * 2)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
        """,
        r"not a full box of 16 x 16 x 15: (vi, vj, vk) = (0, 0, 1) is left out",
    ),
    "triangle": (
        """
        for i, j in T.grid(16, 16):
            for k in range(j + 1):
                with T.block("m"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    vk = T.axis.reduce(16, k)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
        """,
        "(vi, vj, vk) = (0, 0, 1) is left out",
    ),
    "a point twice": (
        """
        for i, j, k, r in T.grid(16, 16, 16, 2):
            with T.block("m"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
        """,
        "two iterations of its loops are bound to the same point",
    ),
    "order": (
        matmul(update="C[vi, vj] * A[vi, vk] + B[vj, vk]"),
        "not a sum, product, minimum or maximum with the old value, so the order of iterations matters",
    ),
    "last one wins": (matmul(update="A[vi, vk]"), "the last one wins"),
    "stencil": (
        """
        for i, j in T.grid(15, 16):
            C[i + 1, j] = C[i, j] + A[i, j]
        """,
        "C is read at another index than it is written",
    ),
    "two statements": (
        """
        for i, j in T.grid(16, 16):
            C[i, j] = A[i, j]
            B[i, j] = A[i, j]
        """,
        "an iteration stores 2 values",
    ),
    "two nests": (
        """
        for i in range(16):
            C[i, 0] = A[i, 0]
        for i in range(16):
            C[i, 1] = A[i, 1]
        """,
        "several adjacent loops",
    ),
    "division": (
        """
        for i, j in T.grid(16, 16):
            C[i, j] = A[i // 2, j]
        """,
        "an index of A is not linear",
    ),
    "call": ("T.evaluate(T.call_extern('g', A.access_ptr('r'), dtype='int32'))", "a call of g"),
    "loop variable as data": (
        """
        for i, j in T.grid(16, 16):
            C[i, j] = A[i, j] * T.cast(i, "float32")
        """,
        "used as data",
    ),
}


@pytest.mark.parametrize(("body", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_the_reason_is_given_for_what_is_not_a_tensor_computation(body, text):
    assert text in refusal(body)
