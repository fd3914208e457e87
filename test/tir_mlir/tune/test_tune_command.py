"""`python -m tir_mlir.tune`: its options, its errors, what it prints."""

import pytest

from tir_mlir.errors import TuneError
from tir_mlir.tune import __main__ as tune_command
from tir_mlir.tune.__main__ import main, options_of, parser, program_of, select_function
from tir_mlir.tune.report.search_plots import Search, SearchPlots

PROGRAM = """
from tir_mlir.script import ir as I, tir as T

N = 16
{extra}
@I.ir_module
class Two:
    @T.prim_func
    def f(A: T.Buffer((N,), "float32"), B: T.Buffer((N,), "float32")):
        for i in range(N):
            with T.block("B"):
                vi = T.axis.spatial(N, i)
                B[vi] = A[vi]

    @T.prim_func
    def g(A: T.Buffer((N,), "float32"), B: T.Buffer((N,), "float32")):
        for i in range(N):
            with T.block("B"):
                vi = T.axis.spatial(N, i)
                B[vi] = A[vi]

def made():
    return Two["g"]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two.py"
    path.write_text(PROGRAM.format(extra=""))
    return str(path)


class Found:
    interrupted = False

    def __str__(self):
        return "the table"

    def plot(self):
        return SearchPlots({"": Search("main", [])})


@pytest.fixture
def asked(monkeypatch):
    """What `tune` is called with."""
    calls = []

    def tune(program, **options):
        calls.append((program, options))
        return Found()

    monkeypatch.setattr(tune_command, "tune", tune)
    return calls


def test_the_functions_of_a_file_are_read_and_nothing_is_executed(tmp_path):
    path = tmp_path / "two.py"
    path.write_text(PROGRAM.format(extra="raise SystemExit\n"))
    assert list(program_of(str(path))) == ["f", "g"]


def test_a_name_of_a_file_is_executed(file):
    assert list(program_of(f"{file}:Two")) == ["f", "g"]
    assert program_of(f"{file}:made").name == "g"


def test_a_prim_func_that_is_named_is_the_program(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(PROGRAM.format(extra="").replace("def made():", "alone = Two['f']\n\ndef made():"))
    assert program_of(f"{path}:alone").name == "f"


def test_a_function_is_selected(file):
    assert list(select_function(program_of(file), "g")) == ["g"]
    with pytest.raises(TuneError, match="the program has no function 'h'; it has f, g"):
        select_function(program_of(file), "h")


def test_the_options_are_those_of_tune(asked, file):
    assert main([file, "--trials", "7", "--seed", "1", "--work-dir", "w", "--no-resume", "--size", "n=512"]) == 0
    ((_, options),) = asked
    assert (options["trials"], options["seed"], options["work_dir"], options["resume"]) == (7, 1, "w", False)
    assert options["sizes"] == {"n": 512} and options["space"] is None


def test_a_space_is_a_function_of_a_file(file):
    assert options_of(parser().parse_args([file, "--space", f"{file}:made"]))["space"].__name__ == "made"


def test_the_result_is_printed(asked, file, capsys):
    main([file])
    assert capsys.readouterr().out == "the table\n"


def test_plots_are_saved(asked, file, tmp_path):
    assert main([file, "--plot", str(tmp_path / "p.html")]) == 0
    assert "by candidate and stage" in (tmp_path / "p.html").read_text()


def test_the_name_of_plots_is_checked_before_the_search(asked, file, capsys):
    with pytest.raises(SystemExit):
        main([file, "--plot", "p.png"])
    assert not asked and "'p.png' does not end in .html" in capsys.readouterr().err


MODEL = """
from tir_mlir.graph.builder import GraphBuilder

def graph():
    b = GraphBuilder()
    b.output(b.op("exp", b.input("x", (4,))))
    return b.finish()

def with_inputs():
    return graph(), [1]
"""


@pytest.fixture
def searched(monkeypatch):
    """What `tune_model` is called with."""
    calls = []

    def tune_model(graph, inputs, **options):
        calls.append((graph, inputs, options))
        return Found()

    monkeypatch.setattr(tune_command, "tune_model", tune_model)
    return calls


@pytest.mark.parametrize(("name", "inputs"), [("graph", None), ("with_inputs", [1])])
def test_a_model_is_tuned_as_a_whole(searched, tmp_path, capsys, name, inputs):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    assert main([f"{path}:{name}", "--threads", "1", "--size", "n=3", "--stop-after", "9"]) == 0
    ((graph, given, options),) = searched
    assert (graph.name, given, options["threads"], options["stop_after"]) == ("main", inputs, 1, 9.0)
    assert options["sizes"] == {"n": 3} and "trials" not in options and capsys.readouterr().out == "the table\n"


def test_a_file_of_onnx_is_a_model(searched, tmp_path):
    onnx = pytest.importorskip("onnx")
    x, y = (onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy")
    graph = onnx.helper.make_graph([onnx.helper.make_node("Exp", ["x"], ["y"])], "g", [x], [y])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "net.onnx")
    assert main([str(tmp_path / "net.onnx"), "--trials", "5"]) == 0
    assert searched[0][2]["trials"] == 5 and repr(searched[0][0]).startswith("<graph main: 1 nodes")


def test_a_model_of_torch_has_its_inputs_beside_it(searched, tmp_path, capsys):
    path = tmp_path / "net.py"
    path.write_text("class Net:\n    state_dict = {}\n\nnet = Net()\n")
    assert main([f"{path}:net"]) == 1
    assert "the module Net has no inputs; fix: a tuple (module, (x, ...))" in capsys.readouterr().err


def test_options_of_programs_are_refused_for_models(searched, tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    assert main([f"{path}:graph", "--function", "f"]) == 1
    assert "--function is for programs, not for models; fix: leave it out" in capsys.readouterr().err


def test_after_ctrl_c_the_code_is_130(asked, file, monkeypatch):
    monkeypatch.setattr(Found, "interrupted", True)
    assert main([file]) == 130


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{file}", "--function", "h"], "tune: error: the program has no function 'h'; it has f, g"),
        (["{file}", "--space", "{file}:nothing"], "two.py has no 'nothing'"),
        (["{file}", "--space", "nothing"], "'nothing' is not FILE.py:NAME"),
        (["nowhere.py"], "nowhere.py:1:1: error: cannot be read: No such file or directory"),
        (["nowhere.py:x"], "tune: error: no file nowhere.py"),
        (["{file}", "--size", "n"], "'n' is not NAME=NUMBER"),
        (["{file}", "--trials", "many"], "argument --trials: invalid int value: 'many'"),
    ],
)
def test_errors_are_lines_and_the_code_is_1(asked, file, capsys, arguments, said):
    try:
        code = main([a.format(file=file) for a in arguments])
    except SystemExit as exit:
        code = exit.code
    assert code == 1 and said in capsys.readouterr().err and not asked


def test_what_a_file_raises_is_told(tmp_path, capsys):
    path = tmp_path / "bad.py"
    path.write_text("1 / 0\n")
    assert main([f"{path}:x"]) == 1
    assert "bad.py:1 raised ZeroDivisionError: division by zero" in capsys.readouterr().err


def test_a_malformed_program_is_told_with_its_line(tmp_path, capsys):
    path = tmp_path / "bad.py"
    path.write_text(PROGRAM.format(extra="").replace("A[vi]", "A[vk]", 1))
    assert main([str(path)]) == 1
    assert "bad.py:13:27: error: unknown name vk" in capsys.readouterr().err
