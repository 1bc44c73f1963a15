"""GradScaler: the same on the gradients that parameters keep. autocast itself is taken away by fixers/gradients_off.py."""

from ... import Case, rule
from ..._call import Call

WHY = "works on gradients: tests/projects trains with it"
OPTIONS = "init_scale growth_factor backoff_factor growth_interval enabled"


@rule(
    "torch.amp.GradScaler",
    to="compat.GradScaler",
    args=f"device {OPTIONS}",
    positional=0,
    like="compat.GradScaler",
    differs="off on a CPU, as torch's is without a GPU; made for 'cpu', it scales there",
    cases=[
        Case(
            "torch.amp.GradScaler('cuda', init_scale=1024.0)",
            "ms_compat.GradScaler(init_scale=1024.0)",
            runs=False,
            why=WHY,
        ),
        Case("torch.amp.GradScaler('cpu')", "ms_compat.GradScaler(scales_on_cpu=True)", runs=False, why=WHY),
        Case(
            "torch.amp.GradScaler(device=kind)",
            "ms_compat.GradScaler(scales_on_cpu='cpu' in str(kind).lower())",
            runs=False,
            why=WHY,
        ),
    ],
)
def scaler(call: Call) -> None:
    device = call.literal("device", "cuda")
    is_on_cpu = f"'cpu' in str({call.text('device')}).lower()" if device is ... else "True" if device == "cpu" else None
    call.set(device=None, scales_on_cpu=is_on_cpu)


rule(
    "torch.cuda.amp.GradScaler",
    to="compat.GradScaler",
    args=OPTIONS,
    positional=0,
    like="compat.GradScaler",
    cases=[
        Case("torch.cuda.amp.GradScaler(enabled=False)", "ms_compat.GradScaler(enabled=False)", runs=False, why=WHY)
    ],
)

for method in ("scale", "unscale_", "step", "update", "get_scale", "is_enabled", "state_dict", "load_state_dict"):
    arguments = {"scale": "x", "unscale_": "x", "step": "x", "load_state_dict": "x"}.get(method, "")
    rule(
        f"torch.amp.GradScaler.{method}",
        to=f".{method}",
        like=f".{method}",
        cases=[
            Case(
                f"torch.amp.GradScaler().{method}({arguments})",
                f"ms_compat.GradScaler().{method}({arguments})",
                shapes=((2,),),
                runs=False,
                why=WHY,
            )
        ],
    )
