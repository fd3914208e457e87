"""Programs of a machine as files for a CPU without an operating system: C, weights, and what calls them in order."""

from tir_mlir.accel.firmware.firmware_model import FirmwareCall as FirmwareCall
from tir_mlir.accel.firmware.firmware_model import FirmwareModel as FirmwareModel
from tir_mlir.accel.firmware.firmware_model import FirmwareTensor as FirmwareTensor
from tir_mlir.accel.firmware.firmware_model import model_of_functions as model_of_functions
from tir_mlir.accel.firmware.write import write_firmware as write_firmware
