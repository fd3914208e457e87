"""`torch.compile(model, backend="tir_mlir")`: the graphs of TorchDynamo, compiled as far as they are known."""
