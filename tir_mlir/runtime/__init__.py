"""From a lowered module to a callable: tools, kernels, arrays, engines."""
