"""PyTorch's exported programs (`torch.export`) as graphs."""
