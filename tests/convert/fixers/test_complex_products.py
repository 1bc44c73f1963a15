"""Products of complex tensors have gradients; parameters of complex numbers are named."""

from __future__ import annotations

from two_frameworks import Both, same

from mindferry import convert_source

ROTATED = """
def rotate(x, angles):
    turned = torch.polar(torch.ones_like(angles), angles)
    xc = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(xc * turned[None]).flatten(2)


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(12.0).view(3, 2, 2) / 7 + 0.3)

    def forward(self, x):
        w = torch.view_as_complex(self.weight)
        y, first = torch.fft.rfft(x, dim=1), w[:1]
        return torch.fft.irfft(y * w / first, n=x.shape[1], dim=1)


def run():
    x = torch.tensor(X).view(2, 3, 4)
    net = Filter()
    layer = nn.Linear(4, 4)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(X)[:, :4])
        layer.bias.zero_()
    optimizer = torch.optim.SGD([*net.parameters(), *layer.parameters()], lr=0.1)
    loss = (net(rotate(layer(x), x[0, :, :2]).transpose(1, 2)[..., :2]) ** 3).mean()
    loss.backward()
    optimizer.step()
    return [plain(net.weight), plain(layer.weight), loss.item()]
"""


def test_the_gradient_goes_through_products_and_quotients_of_complex_tensors(both: Both) -> None:
    theirs, ours = both(ROTATED)
    assert same(ours, theirs)


def test_numbers_and_integers_are_multiplied_with_complex_tensors(both: Both) -> None:
    theirs, ours = both("""
def run():
    steps = torch.arange(4, dtype=torch.long)
    turned = torch.tensor(-1j, dtype=torch.complex64) * torch.pi * steps[None, :]
    turned = torch.exp(turned / (4 * 2))
    shifted = torch.from_numpy(X[:2, :4]).to(torch.cfloat) * turned * steps
    return [plain(turned.real), plain(shifted.imag), plain(shifted.real)]
""")
    assert same(ours, theirs)


def test_a_parameter_of_complex_numbers_is_named_with_its_line() -> None:
    code = "import torch\nfrom torch import nn\n\nw = nn.Parameter(0.1 * torch.rand(2, 3, dtype=torch.cfloat))\n"
    (finding,) = convert_source(code).findings
    assert (finding.code, finding.line, finding.severity) == ("MF101", 4, "error")
    assert "complex" in finding.message
    assert convert_source(code.replace("cfloat", "float32")).findings == ()


def test_products_of_real_tensors_stay_in_a_file_with_complex_ones() -> None:
    code = "import torch\n\n\ndef f(x):\n    y = torch.fft.rfft(x).abs()\n    return y * 2 + x * y\n"
    assert "return y * 2 + x * y" in convert_source(code).main
