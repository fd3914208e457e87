"""Programs of linalg on tensors, as compilers of models write them, as graphs."""
