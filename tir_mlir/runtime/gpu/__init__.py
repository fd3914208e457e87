"""Running kernels on GPUs: the interface of a driver, launch plans, arrays of devices, calls."""
