"""The chapter's three editions as printed: every block runs in order, and every printed program matches its step."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from harness import ROOT, extract
from harness.notebook import Notebook

from tir_mlir.dialect.ir import enter_context
from tir_mlir.script import IRModule, parse
from tir_mlir.script.structural_equal import difference


@pytest.fixture
def shown(monkeypatch):
    """The modules that the program shows, in order."""
    seen: list[IRModule] = []
    monkeypatch.setattr(IRModule, "show", lambda self: seen.append(self))
    return seen


def assert_printed(printed: str, module: IRModule, where: str) -> None:
    """A printed output is a program, and the same as the module that was shown."""
    # stride variables have other names in each edition
    names = "T.match_buffer" not in printed
    with enter_context():
        found = difference(parse(printed).mlir, module.mlir, names=names)
    assert found is None, f"{where}: {found}"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("number", "pieces", "programs"),
    [("000", extract.markdown, 0), ("001", extract.markdown, 7), ("002", extract.restructured, 7)],
)
def test_an_edition_runs_as_printed(number, pieces, programs, seed, tvm, shown):
    found = pieces(seed(number))
    notebook = Notebook(f"document {number}")
    compared = 0
    for piece in found:
        if piece.kind == "code":
            notebook.run(piece.text, piece.line)
        elif piece.kind == "printed":
            assert_printed(piece.text, shown[-1], f"document {number}, line {piece.line}")
            compared += 1
    cells = sum(p.kind == "code" for p in found)
    assert (cells, compared, len(shown)) == (18, programs, 7), "the extraction missed blocks"
    # the last block built the tensorized program with the kernel from C
    np.testing.assert_allclose(notebook["c_nd"].numpy(), notebook["c_tmm"], rtol=1e-5)
    script = notebook["sch"].mod.script()
    assert "T.call_extern" in script and "pragma_import_llvm" in script
    for module in shown:
        assert_printed(module.script(), module, "our own print")


def test_a_printed_state_builds(seed, tvm):
    """The last program of document 001 is a program like any other: here at once, at its printed size."""
    last = [p for p in extract.markdown(seed("001")) if p.kind == "printed"][-1]
    notebook = Notebook("document 001, last output")
    notebook.run("import tvm\nfrom tvm.script import tir as T\n" + last.text)
    a, b = (np.random.rand(1024, 1024).astype("float32") for _ in range(2))
    c = tvm.nd.empty((1024, 1024))
    tvm.build(notebook["Module"], target="llvm")["main"](tvm.nd.array(a), tvm.nd.array(b), c)
    np.testing.assert_allclose(c.numpy(), a @ b.T, rtol=1e-4)


@pytest.mark.parametrize(("number", "pieces"), [("001", extract.markdown), ("002", extract.restructured)])
@pytest.mark.parametrize("door", ["module", "first line"])
def test_an_edition_runs_as_a_file(number, pieces, door, seed, tmp_path):
    """All blocks in one file, made smaller, through both ways to ask for tir_mlir's tvm."""
    text = "".join(p.text for p in pieces(seed(number)) if p.kind == "code").replace("1024", "64")
    text = re.sub(r"range\(64\)|grid\(64, 64, 64\):\n(?= *with T.block\(\"tmm-16x16)", smaller, text)
    future = "from __future__ import annotations\n"
    first = future if future in text else ""
    if door == "first line":
        first += "import tir_mlir.compat\n"
    path = tmp_path / "chapter.py"
    path.write_text(first + text.replace(future, ""))
    module = ["-m", "tir_mlir.compat"] if door == "module" else []
    done = subprocess.run(
        [sys.executable, *module, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("class Module:") == 7


def smaller(match: re.Match[str]) -> str:
    """The loops over tiles: 64 of them for 1024, 4 for 64."""
    return re.sub(r"\b64\b", "4", match[0])


# ---- the slides


def slides(seed, start: str) -> str:
    return next(p.text for p in extract.markdown(seed("003")) if p.text.startswith(start))


def test_the_vector_add_of_the_slides(seed, tvm):
    notebook = Notebook("document 003")
    notebook.run("import tvm\nfrom tvm.script import tir as T\n")
    notebook.run(slides(seed, "@tvm.script.ir_module\nclass MyModule"))
    notebook.run("sch = tvm.tir.Schedule(MyModule)\n")
    notebook.run(slides(seed, "# Get block by its name"))
    notebook.run(slides(seed, "sch.reorder"))
    inline = re.search(r"`(sch\.parallel\(\w+\))`", seed("003"))
    assert inline
    notebook.run(inline[1])
    assert_printed(as_program(slides(seed, "for i_0 in tir.parallel")), notebook["sch"].mod, "slide on parallel")

    a, b = (np.random.rand(128).astype("float32") for _ in range(2))
    for module in (notebook["MyModule"], notebook["sch"].mod):
        c = tvm.nd.empty((128,), dtype="float32")
        tvm.build(module, target="llvm")["main"](tvm.nd.array(a), tvm.nd.array(b), c)
        np.testing.assert_allclose(c.numpy(), a + b, rtol=1e-6)


def as_program(body: str) -> str:
    """The slide's loop nest with a function around it; its buffers are called A_1, B_1, C_1 there."""
    params = ", ".join(f'{n}: T.Buffer((128,), "float32")' for n in "ABC")
    head = f'@T.prim_func\ndef main({params}):\n    T.func_attr({{"tir.noalias": True}})\n'
    inner = re.sub(r"\b([ABC])_1\b", r"\1", body)
    return head + "".join(f"    {line}\n" for line in inner.splitlines())


def test_the_matmul_of_the_slides_parses(seed, tvm):
    notebook = Notebook("document 003")
    notebook.run("import tvm\nfrom tvm.script import tir as T\n")
    notebook.run(slides(seed, "@tvm.script.ir_module\nclass MatmulModule"))
    assert_printed(notebook["MatmulModule"].script(), notebook["MatmulModule"], "our own print")


def test_the_tensor_expressions_of_the_slides(seed, tvm):
    """`vector_add` as printed gives the program that the slide after it writes by hand."""
    notebook = Notebook("document 003")
    notebook.run("import tvm\nfrom tvm import te\nfrom tvm.script import tir as T\n")
    notebook.run(slides(seed, "def vector_add(n):"))
    notebook.run(slides(seed, "@tvm.script.ir_module\nclass MyModule"))
    func = tvm.te.create_prim_func(notebook["vector_add"](128))
    tvm.ir.assert_structural_equal(func, notebook["MyModule"]["main"])
    sch = tvm.tir.Schedule(func)
    sch.parallel(sch.split(sch.get_loops("c")[0], factors=[None, 16])[0])
    a, b = (np.random.rand(128).astype("float32") for _ in range(2))
    for module in (func, sch.mod):
        c = tvm.nd.empty((128,), dtype="float32")
        tvm.build(module, target="llvm")["main"](tvm.nd.array(a), tvm.nd.array(b), c)
        np.testing.assert_allclose(c.numpy(), a + b, rtol=1e-6)


def test_the_tensor_expressions_of_the_slides_for_any_size(seed, tvm):
    notebook = Notebook("document 003")
    notebook.run("from tvm import te\n")
    notebook.run(slides(seed, "def vector_add(n):"))
    lib = tvm.build(tvm.te.create_prim_func(notebook["vector_add"](tvm.te.var("n"))))
    for n in (1, 15, 128):
        a, b = (np.random.rand(n).astype("float32") for _ in range(2))
        c = tvm.nd.empty((n,), dtype="float32")
        lib["main"](tvm.nd.array(a), tvm.nd.array(b), c)
        np.testing.assert_allclose(c.numpy(), a + b, rtol=1e-6)


SEARCHED = """
@tvm.script.ir_module
class MyModuleMatmul:
    @T.prim_func
    def main(A: T.Buffer((48, 48), "float32"), B: T.Buffer((48, 48), "float32"), C: T.Buffer((48, 48), "float32")):
        for i, j, k in T.grid(48, 48, 48):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0.0
                C[vi, vj] += A[vi, vk] * B[vk, vj]
"""


ON_A_CPU = (('"nvidia/tesla-p100"', '"llvm"'), ("tvm.cuda(0)", "tvm.cpu(0)"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:this machine has no NVIDIA GPU")
@pytest.mark.parametrize("changes", [(), ON_A_CPU], ids=["as printed", "on a CPU"])
def test_the_search_of_the_slides(changes, seed, tvm, tmp_path, monkeypatch, capsys):
    """As printed, for a GPU, whose kernels run on the CPU; and for the CPU. With fewer trials."""
    monkeypatch.chdir(tmp_path)
    notebook = Notebook("document 003")
    notebook.run("import numpy as np\nimport tvm\nfrom tvm.script import tir as T\n")
    notebook.run(SEARCHED)
    notebook.run(
        "A_nd, B_nd, C_nd = (tvm.nd.array(np.ones((48, 48), 'float32')) for _ in range(3))\nnum_flop = 2 * 48**3\n"
    )
    printed = slides(seed, "from tvm import meta_schedule")
    for old, new in (*changes, ("=64", "=2")):
        assert old in printed
        printed = printed.replace(old, new)
    notebook.run(printed)
    assert "MetaSchedule: " in capsys.readouterr().out and (tmp_path / "tune_tmp").is_dir()
    np.testing.assert_array_equal(notebook["C_nd"].numpy(), 48)
    assert ('thread="blockIdx.x"' in notebook["sch_tuned"].mod.script()) == (not changes)


# ---- the text on TensorIR


def text_notebook(seed) -> Notebook:
    notebook = Notebook("document 004")
    notebook.run("import numpy as np\nimport tvm\nfrom tvm.script import tir as T\n")
    for piece in extract.plain(seed("004")):
        if piece.kind == "code":
            notebook.run(piece.text, piece.line)
    return notebook


def test_the_programs_of_the_text_run(seed, tvm):
    notebook = text_notebook(seed)
    a, b = (np.random.rand(128, 128).astype("float32") for _ in range(2))
    expected = np.empty((128, 128), dtype="float32")
    notebook["lnumpy_mm_relu"](a, b, expected)
    np.testing.assert_allclose(expected, np.maximum(a @ b, 0), rtol=1e-4)
    for name in ("MyModule", "MyModuleWithAxisRemapSugar"):
        c = tvm.nd.empty((128, 128), dtype="float32")
        tvm.build(notebook[name], target="llvm")["mm_relu"](tvm.nd.array(a), tvm.nd.array(b), c)
        np.testing.assert_allclose(c.numpy(), expected, rtol=1e-4)


def test_the_sugar_of_the_text_is_the_same_program(seed, tvm):
    notebook = text_notebook(seed)
    assert notebook["MyModule"].equal(notebook["MyModuleWithAxisRemapSugar"])


def test_the_wrong_program_of_the_text_is_refused_at_its_line(seed, tvm):
    wrong = seed("004").split("# wrong program due to loop and block iteration mismatch\n")[1].split("\n\n")[0]
    lines = [n for n in wrong.splitlines() if "^^^" not in n and "error here" not in n]
    body = "\n".join("    " + n.replace("...", "C[vi] = A[vi]") for n in lines)
    params = 'A: T.Buffer((128,), "float32"), C: T.Buffer((128,), "float32")'
    notebook = Notebook("document 004")
    notebook.run("from tvm.script import tir as T\n")
    from tir_mlir.dialect.diagnostics import ScriptError

    with pytest.raises(ScriptError, match=r"127") as refused:
        notebook.run(f"@T.prim_func\ndef main({params}):\n{body}\n")
    assert "vi = T.axis.spatial(128, i)" in str(refused.value)
    assert refused.value.lineno == 5
