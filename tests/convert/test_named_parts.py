"""Results of several tensors have torch's field names: `svd(x).S`, `lstsq(a, b).solution`, `found.indices` of anything."""

from __future__ import annotations

from two_frameworks import Both, same


def test_parts_of_factorizations_have_their_names(both: Both) -> None:
    theirs, ours = both("""
def run():
    x = torch.from_numpy(X.copy())
    square = x @ x.t() + torch.eye(4)
    fit = torch.linalg.lstsq(x.t(), x.t()[:, :2])
    kept = {"lu": torch.linalg.lu(square), "eigh": torch.linalg.eigh(square)}
    found = [fit.solution.size(0), fit.solution, torch.linalg.svd(x).S, torch.svd(x).V.abs(), torch.linalg.qr(x).R.abs()]
    found += [torch.linalg.slogdet(square).logabsdet, kept["lu"].L, kept["lu"].U, kept["eigh"].eigenvalues]
    found += [torch.linalg.cholesky_ex(square).L, torch.linalg.inv_ex(square).inverse, torch.linalg.lu_factor(square).LU]
    found += [torch.aminmax(x).max, x.aminmax(dim=1).min, torch.frexp(x).mantissa]
    return [plain(each) for each in found]
""")
    assert same(ours, theirs)


def test_a_solution_has_its_gradient(both: Both) -> None:
    theirs, ours = both("""
class Fit(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.from_numpy(X.copy()).t().contiguous())

    def forward(self, b):
        return torch.linalg.lstsq(self.a, b).solution.pow(2).sum()


def run():
    net = Fit()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    optimizer.zero_grad()
    loss = net(torch.ones(6, 2))
    loss.backward()
    optimizer.step()
    return [loss.item(), plain(net.a)]
""")
    assert same(ours, theirs)


def test_values_and_indices_of_anything_are_asked_for_at_run_time(both: Both) -> None:
    theirs, ours = both("""
class Frame:
    values = "a frame's"
    indices = [1, 2]


def parts(found):
    return [plain(found.values), plain(found.indices)]


def run():
    x = torch.from_numpy(X.copy())
    table = {"top": torch.topk(x, 2), "sorted": x.sort(dim=0)}
    return [parts(table["top"]), parts(table["sorted"]), parts(x.max(1)), parts(Frame())]
""")
    assert same(ours, theirs)
