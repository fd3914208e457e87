"""Types of torch that graphs do not have: float8 weights are bfloat16, complex numbers pairs."""

import pytest

import tir_mlir

torch = pytest.importorskip("torch")


class Types(torch.nn.Module):
    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        weight = torch.randn(8, 16, generator=generator)
        self.register_buffer("e4m3", weight.to(torch.float8_e4m3fn))
        self.register_buffer("e5m2", weight.to(torch.float8_e5m2))
        self.register_buffer("turn", torch.randn(8, dtype=torch.complex64, generator=generator))

    def forward(self, x, z, q):
        y = x @ self.e4m3.float().T + x @ self.e5m2.float().T
        return y, torch.view_as_real(z * self.turn), torch._int_mm(q, q.T)


@pytest.mark.nightly
def test_float8_complex_and_int8():
    x, z, q = torch.ones(4, 16), torch.full((4, 8), 1 + 2j), torch.arange(-64, 64, dtype=torch.int8).reshape(16, 8)
    model = Types().eval()
    lib = tir_mlir.build(tir_mlir.from_torch(model, (x, z, q)))
    for ours, theirs in zip(lib(x, torch.view_as_real(z), q), model(x, z, q), strict=True):
        torch.testing.assert_close(ours, theirs)


TERMS = {
    "number times tensor": lambda x: (2 + 1j) * x,
    "tensor times number": lambda x: x * (2 + 1j),
    "tensor times pair": lambda x: x * torch.complex(x, -x),
    "pair times tensor": lambda x: torch.complex(x, -x) * x,
    "number over tensor": lambda x: (2 + 1j) / (x + 3),
    "tensor over number": lambda x: x / (2 + 1j),
    "tensor over pair": lambda x: x / torch.complex(x + 3, x),
    "number and tensor": lambda x: (2 + 1j) + x,
}


@pytest.mark.parametrize("name", TERMS)
def test_complex_terms_of_real_tensors(name):
    def forward(x):
        return torch.view_as_real(TERMS[name](x))

    x = torch.rand(2, 3)
    lib = tir_mlir.build(tir_mlir.from_torch(forward, (x,)), threads=1, optimize="fast")
    torch.testing.assert_close(lib(x), forward(x))
