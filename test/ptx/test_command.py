"""`python -m tir_mlir.ptx`: texts of any compiler, from the shell."""

import numpy as np
import pytest
from harness.ptx import HEADER

from tir_mlir.ptx.__main__ import main

ADD = (
    HEADER.format(target="sm_80")
    + """
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n, .param .u64 unused)
.maxntid 64, 1, 1
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .f32 %f<3>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r2, 64, %r3;
  setp.ge.s32 %p1, %r4, %r1;
  @%p1 bra END;
  mul.wide.s32 %d3, %r4, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
  ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, 0f3F800000; st.global.f32 [%d5], %f2;
END: ret;
}
"""
)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "add.ptx"
    path.write_text(ADD)
    return str(path)


def test_a_text_is_described(text, capsys):
    assert main([text]) == 0
    out = capsys.readouterr().out
    assert "kernel add(u64, u64, u32, u64)\n  blocks of at most 64 x 1 x 1 threads" in out and "not known" not in out


def test_what_the_machine_does_not_know_is_named(tmp_path, capsys):
    path = tmp_path / "new.ptx"
    path.write_text(ADD.replace("add.f32 %f2", "add.wild.f32 %f2").replace("mov.u32 %r2", "conjure.u32 %r2"))
    assert main([str(path)]) == 0
    out = capsys.readouterr().out
    assert "not known: conjure.u32 (line " in out and "not known: add.wild.f32 (line " in out


def test_arrays_of_files_are_run_saved_and_compared(text, tmp_path, capsys):
    x = np.arange(100, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    saved, right, wrong = (str(tmp_path / f"{name}.npz") for name in ("saved", "right", "wrong"))
    np.savez(right, arg1=x + 1)
    np.savez(wrong, arg1=x)
    run = [text, "--grid", "2", str(tmp_path / "x.npy"), "f32[100]=unwritten", "100"]
    assert main([*run, "--save", saved, "--expect", right]) == 0
    np.testing.assert_array_equal(np.load(saved)["arg1"], x + 1)
    assert "arg1: equal" in capsys.readouterr().out
    assert main([*run, "--expect", wrong]) == 1
    assert "arg1: differs by at most 1" in capsys.readouterr().out


def test_a_fault_of_the_kernel_is_the_exit_code(text, capsys):
    assert main([text, "--grid", "2", "f32[100]=0", "f32[99]=0", "100"]) == 1
    assert "outside of its memory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["q8[4]"], "q8 is not a type; there are f16"),
        (["many"], "'many' is not an array such as \"f32[64]\", a .npy file or a number"),
        (["none.npy"], "none.npy: "),
        (["1", "2", "3", "4", "5"], "kernel add has 4 parameters, not 5"),
        (["--kernel", "sub"], "--kernel is one of add"),
    ],
)
def test_arguments_that_say_nothing(text, arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([text, "--grid", "1", *arguments])
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["none.ptx"])
    assert "none.ptx" in capsys.readouterr().err


def test_launches_are_shown_side_by_side(text, capsys):
    launches = [f"{text} --grid 4 f32[256] f32[256] 256", f"{text} --grid 2 f32[128] f32[128] 128"]
    assert main(["--gpu", "H200", "--compare", *launches]) == 0
    rows = {line[:29].strip(): line[29:].split() for line in capsys.readouterr().out.splitlines()}
    assert "on H200" in rows and rows["blocks"] == ["4", "2"] and rows["limit"] == ["launch", "launch"]
    assert rows["global requests"] == ["16", "8"] and rows["sectors"] == ["64", "32"]


@pytest.mark.parametrize(("launches", "message"), [
    (["x.ptx f32[4]"], "is not a launch such as"), (["absent.ptx --grid 1"], "No such file"), ([], "--compare"),
])  # fmt: skip
def test_launches_that_are_none_are_refused(launches, message, capsys):
    with pytest.raises(SystemExit):
        main(["--compare", *launches])
    assert message in capsys.readouterr().err


def test_without_a_file_the_command_asks_for_one(capsys):
    with pytest.raises(SystemExit):
        main([])
    assert "which file?" in capsys.readouterr().err
