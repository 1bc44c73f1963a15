"""A sparse matrix on the right of a dense one."""

from __future__ import annotations

from two_frameworks import Both, same

from mindferry import convert_source


def test_dense_with_sparse_gives_what_torch_gives(both: Both) -> None:
    theirs, ours = both("""
def run():
    x = torch.from_numpy(X)[:, :4]
    adjacency = torch.sparse_coo_tensor(torch.tensor([[0, 1, 2, 2], [1, 2, 3, 3]]), torch.tensor([1.0, 2.0, 3.0, 4.0]), (4, 4))
    sums = [torch.eye(4) + adjacency, x - adjacency, x @ (adjacency.t())]
    adjacency = torch.eye(4) + adjacency
    return plain([*sums, adjacency @ x])
""")
    assert same(ours, theirs) and theirs[0] != theirs[1]


def test_a_dense_operand_is_left_alone() -> None:
    assert "to_dense" not in convert_source("import torch\n\na = torch.eye(3)\nb = torch.ones(3, 3) + a\n").code
