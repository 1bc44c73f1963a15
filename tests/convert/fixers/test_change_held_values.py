"""What a container holds is changed in place, whatever it is: a tensor, an array, a number."""

from __future__ import annotations

from two_frameworks import Both, same


def test_what_nobody_knows_is_changed_where_the_container_sees_it(both: Both) -> None:
    theirs, ours = both("""
def blend(slow, fast, share):
    for s, f in zip(slow, fast):
        s += share * (f - s)


def scale(things, factor):
    for each in things:
        each *= factor


def step(groups):
    for group in groups:
        for p, s in zip(group["params"], group["slow"]):
            s += 0.5 * (p.data - s)
            p.data.copy_(s)


def total(rows):
    found = 0
    for row in rows:
        row += 1
        found += row
    return found


def run():
    x = torch.from_numpy(X.copy())
    kept, rows = [x * 0, x.clone()], [X.copy(), X.copy() * 2]
    blend(kept, [x + 1, x * 2], 0.5)
    scale(kept, 3)
    scale(rows, 2)
    p, slow = nn.Parameter(x * 5), x * 0
    step([{"params": [p], "slow": [slow]}])
    return [plain(each) for each in kept], [each.tolist() for each in rows], plain(p), plain(slow), total([1, 2]), taken()


def taken():
    x = torch.from_numpy(X.copy())
    held, found = {"a": x * 1, "b": x * 2}, [x * 3, x * 4]
    one = held.get("a")
    one *= 3
    two = held.setdefault("c", x * 0)
    two += 1
    three = next(iter(held.values()))
    three -= 2
    most = max(found, key=lambda each: each.abs().sum().item())
    most /= 4
    last = found.pop()
    last += 1
    return [plain(each) for each in (*held.values(), *found, last)]
""")
    assert same(ours, theirs)
