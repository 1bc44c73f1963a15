"""Numbers that torch re-exports."""

from ... import Case, rule

for _name, _to in (("pi", "math.pi"), ("e", "math.e"), ("inf", "math.inf"), ("nan", "math.nan"), ("newaxis", "None")):
    rule(
        f"torch.{_name}",
        to=_to,
        like=_to,
        cases=[
            Case(f"torch.{_name}", _to, runs=False, why="None itself")
            if _name == "newaxis"
            else Case(f"x * torch.{_name}", f"x * {_to}", shapes=((2, 3),)),
        ],
    )
