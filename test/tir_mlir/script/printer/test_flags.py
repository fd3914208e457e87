"""Flags and the root block, in the spelling of the TVM that reads them."""

from tir_mlir.script import parse

NESTS = """
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    T.func_attr({"tir.noalias": True, "my.flags": [True, 1]})
    for i in T.serial(16, annotations={"my.flag": False}):
        B[i] = A[i]
    for i in range(16):
        A[i] = B[i]
"""


def test_a_flag_is_typed_in_the_block_spelling_and_bare_in_the_sblock_spelling():
    mod = parse(NESTS)
    assert '"my.flags": [T.bool(True), 1], "tir.noalias": T.bool(True)' in mod.script()
    text = mod.script(spelling="sblock")
    assert '"my.flags": [True, 1], "tir.noalias": True' in text and '"my.flag": False' in text
    assert parse(text).equal(mod)


def test_several_nests_without_a_block_get_a_root_in_the_sblock_spelling():
    mod = parse(NESTS)
    assert 'with T.sblock("root"):\n            T.reads()' in mod.script(spelling="sblock")
    assert "root" not in mod.script()


def test_one_nest_needs_no_root():
    mod = parse(NESTS.split("    for i in range")[0])
    assert "root" not in mod.script(spelling="sblock")
