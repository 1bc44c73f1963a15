"""A mask of two dimensions before slices takes what it takes in torch, read, written and differentiated."""

from __future__ import annotations

from two_frameworks import Both, plain, same


def test_slices_after_a_mask_belong_to_the_dimensions_behind_it(both: Both) -> None:
    theirs, ours = both("""
def take(w, edge_mask):
    return w[edge_mask, 2:], w[edge_mask, :][:, 1:], w[..., 1:][edge_mask, :]

def run():
    x = torch.arange(24.0).view(2, 3, 4)
    m = torch.tensor([[True, False, True], [False, True, True]])
    r, k = torch.tensor([True, False]), x[0, :, 0] > 3
    found = [x[m, :], x[m, 2:], x[m, ...], x[m, None], x[m, None, 1:], x[(m), :], x[m, 1:3], x[m, 0]]
    found += [x[(x > 3)[:, :, 0], 2:], x[~m, :, None], x[m & (x[..., 0] > 4), 3:], x[r, :, 2:], x[:, k, 2:], *take(x, m)]
    y = x.clone()
    y[m, :] = y[m, :] * 2
    y[m, 2:] = -1.0
    w = torch.ones(2, 3, 4, requires_grad=True)
    (w[m, 2:] * torch.arange(2.0)).sum().backward()
    i = torch.tensor([1, 0])
    return [*found, y, w.grad, x[i, :], x[i, i, :], x[:, i, :], x.numpy()[m.numpy(), 2:].tolist()]
""")
    assert same(plain(ours), plain(theirs))
