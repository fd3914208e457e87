import pytest

from tir_mlir import target
from tir_mlir.prediction import core_of
from tir_mlir.target.llvm_names import corrected_cpu


@pytest.mark.parametrize(
    ("shown", "sets_of", "name"),
    [
        ("rocketlake", "SAPPHIRE_RAPIDS", "sapphirerapids"),
        ("icelake-server", "SAPPHIRE_RAPIDS_NO_AMX", "sapphirerapids"),
        ("znver3", "ZEN4", "znver4"),
        ("rocketlake", "ICELAKE", "rocketlake"),
        ("sapphirerapids", "SAPPHIRE_RAPIDS_NO_AMX", "sapphirerapids"),
        ("znver3", "ZEN3", "znver3"),
        ("skylake", "HASWELL", "skylake"),
        ("a cpu of tomorrow", "ZEN5", "a cpu of tomorrow"),
    ],
)
def test_instruction_sets_correct_the_name_that_a_virtual_machine_shows(shown: str, sets_of: str, name: str) -> None:
    cpu = getattr(target, sets_of)
    assert corrected_cpu(shown, cpu.arch, cpu.features | {"sse2", "hypervisor"}) == name


@pytest.mark.parametrize(
    ("unknown", "sets_of", "like"),
    [("a-lake", "ICELAKE", "icelake-server"), ("znver9", "ZEN5", "znver5"), ("cortex-z", "NEOVERSE_N2", "neoverse-n2")],
)
def test_core_of_an_unknown_name_is_that_of_its_instruction_sets(unknown: str, sets_of: str, like: str) -> None:
    known = getattr(target, sets_of)
    cpu = target.Target(512, 32, arch=known.arch, features=known.features, triple=known.triple, cpu=unknown)
    assert (core_of(cpu).name, core_of(cpu).l2) == (unknown, core_of(known).l2)
