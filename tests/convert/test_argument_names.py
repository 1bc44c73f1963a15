"""Arguments by name: torch's own, and numpy's `axis` and `keepdims`, which torch's functions and methods take as well."""

from __future__ import annotations

from two_frameworks import Both, same


def test_numpy_s_names_of_arguments_mean_torch_s(both: Both) -> None:
    theirs, ours = both("""
def run():
    x = torch.from_numpy(X.copy())
    found = [torch.sum(x, axis=1), torch.mean(x, axis=1, keepdims=True), torch.max(x, axis=1)[0], x.max(axis=1)[1], x.min(axis=0)[0]]
    found += [torch.cat([x, x], axis=1), torch.stack([x, x], axis=2), torch.softmax(x, axis=1), torch.argmax(x, axis=1), x.std(axis=1)]
    found += [torch.unsqueeze(x, axis=0), x[None].squeeze(axis=0), torch.cumsum(x, axis=0), x.sort(axis=1)[0]]
    found += [x.topk(2, axis=1)[0], torch.logsumexp(x, axis=1), x.prod(axis=1), torch.any(x > 0, axis=1)]
    found += [x.chunk(2, axis=1)[1], torch.median(x, axis=1)[0], torch.var(x, axis=1, keepdims=True), x.sum(axis=(0, 1), keepdims=True)]
    return [plain(each) for each in found]
""")
    assert same(ours, theirs)


def test_sizes_may_be_given_by_name(both: Both) -> None:
    theirs, ours = both("""
def run():
    x = torch.from_numpy(X.copy())
    sizes = {"s": (2, 1)}["s"]
    found = [x[:1].expand(size=(2, 6)), x.repeat(repeats=(2, 1)), x.repeat(repeats=sizes), x.tile(dims=(2,)), torch.tile(x, dims=(2,))]
    found += [x.view(size=(2, 12)), x.split(split_size=4, dim=1)[1], torch.rand(size=(2, 3)) * 0, torch.randn(size=(2,)) * 0]
    found += [torch.randint(high=1, size=(2,)), torch.tensor(data=[1.0]), torch.sqrt(input=x.abs()), torch.bmm(input=x[None], mat2=x.t()[None])]
    found += [torch.nn.functional.pad(input=x, pad=(1, 1), value=2), torch.dot(input=x[0], tensor=x[1]), torch.mv(input=x, vec=x[0])]
    return [plain(each) for each in found]
""")
    assert same(ours, theirs)
