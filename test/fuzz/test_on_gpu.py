"""Random kernels on a GPU and on the PTX machine; here the machine's driver stands for the GPU's."""

from random import Random

import numpy as np
import pytest

from fuzzing.kernels import on_gpu
from fuzzing.kinds import Fault
from tir_mlir.ptx.program import MachineDriver
from tir_mlir.runtime.drivers.device_driver import using


class OneBitWrong(MachineDriver):
    """A GPU that returns the first element of each array with its last bit changed."""

    def copy_out(self, device, array, address, stream):
        super().copy_out(device, array, address, stream)
        array.reshape(-1).view(np.uint8)[0] ^= 1


def test_a_kernel_that_is_equal_on_both():
    with using(MachineDriver()):
        assert on_gpu.case(Random(1)).word == "equal"


def test_one_bit_is_a_difference_and_the_first_is_told():
    with (
        using(OneBitWrong()),
        pytest.raises(Fault, match=r"differs from the machine, on \w.*: 1 of \d+ elements of param"),
    ):
        on_gpu.case(Random(1))
