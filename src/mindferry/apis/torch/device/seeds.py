"""Seeds. ms.set_seed seeds MindSpore, numpy and Python; the streams of numbers differ from torch's for the same seed."""

from ... import Case, rule
from ..._call import Call

for _api in (
    "torch.manual_seed",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.random.manual_seed",
    "torch.mps.manual_seed",
):

    @rule(
        _api,
        to="mindspore.set_seed",
        args="seed",
        like="mindspore.set_seed",
        differs="another stream of random numbers",
        cases=[
            Case(f"{_api}(0)", "ms.set_seed(0)", runs=False, why="no value"),
            Case(f"{_api}(seed=0)", "ms.set_seed(seed=0)", runs=False, why="no value"),
        ],
    )
    def manual_seed(call: Call) -> None:
        if call.reading.symbols.draws_host_numbers:  # they must go on as if nothing had been seeded
            call.use("compat.manual_seed")


for _api in ("torch.initial_seed", "torch.random.initial_seed"):
    rule(
        _api,
        to="mindspore.initial_seed",
        like="mindspore.initial_seed",
        cases=[Case(f"{_api}()", "ms.initial_seed()", runs=False, why="random")],
    )
rule(
    "torch.seed",
    to="mindspore.seed",
    like="mindspore.seed",
    cases=[Case("torch.seed()", "ms.seed()", runs=False, why="random")],
)

for _api in (
    "torch.get_rng_state",
    "torch.random.get_rng_state",
    "torch.cuda.get_rng_state",
    "torch.cuda.get_rng_state_all",
):

    @rule(_api, args="device", cases=[Case(f"{_api}()", "ms.get_rng_state()", runs=False, why="random")])
    def get_rng_state(call: Call) -> None:
        call.replace(f"{call.name('mindspore.get_rng_state')}()")


for _api in (
    "torch.set_rng_state",
    "torch.random.set_rng_state",
    "torch.cuda.set_rng_state",
    "torch.cuda.set_rng_state_all",
):
    rule(
        _api,
        to="mindspore.set_rng_state",
        args="new_state device",
        drop="device",
        rename={"new_state": "state"},
        cases=[
            Case(f"{_api}(x)", "ms.set_rng_state(x)", shapes=((2,),), runs=False, why="random"),
        ],
    )


@rule(
    "torch.Generator",
    to="mindspore.Generator",
    args="device",
    drop="device",
    like="compat.Generator",
    cases=[
        Case("torch.Generator(device='cpu')", "ms.Generator()", runs=False, why="no numbers of its own"),
    ],
)
def generator(call: Call) -> None:
    if call.reading.symbols.ported:  # a library asks any generator where it is
        call.use("compat.Generator")


for _name, _args, _call in (
    ("manual_seed", "seed", "(1)"),
    ("initial_seed", "", "()"),
    ("seed", "", "()"),
    ("get_state", "", "()"),
    ("set_state", "new_state", "(1)"),
):
    rule(
        f"torch.Generator.{_name}",
        to=f".{_name}",
        args=_args,
        like=f".{_name}",
        cases=[
            Case(f"torch.Generator().{_name}{_call}", f"ms.Generator().{_name}{_call}", runs=False, why="random"),
        ],
    )
