"""autocast kept in a variable: a context that does nothing, because MindSpore casts networks, not blocks. `with autocast()` is a pass's business."""

from ... import Case, rule
from ..._call import Call

WHY = "a context; tests/convert/test_networks.py enters it"


def _casts(api: str, args: str) -> None:
    @rule(
        api,
        args=args,
        like="compat.Autocast",
        differs="runs in float32: cast the network by amp.auto_mixed_precision instead",
        cases=[
            Case(f"{api}(enabled=False)", "contextlib.nullcontext()", runs=False, why=WHY),
            Case(f"[{api}]", "[ms_compat.Autocast]", runs=False, why=WHY),
        ],
    )
    def autocast(call: Call) -> None:
        call.replace(f"{call.name('contextlib.nullcontext')}()")
        call.note = (
            "runs in float32 now: for mixed precision on Ascend wrap the network by amp.auto_mixed_precision(net, 'O2')"
        )


_casts("torch.autocast", "device_type dtype enabled cache_enabled")
_casts("torch.amp.autocast", "device_type dtype enabled cache_enabled")
_casts("torch.cuda.amp.autocast", "enabled dtype cache_enabled")
_casts("torch.cpu.amp.autocast", "enabled dtype cache_enabled")

for _api in ("torch.is_autocast_enabled", "torch.is_autocast_cpu_enabled"):

    @rule(
        _api,
        args="device_type",
        differs="converted blocks run in float32, so the branch for float32 is taken",
        cases=[
            Case(f"{_api}()", "False", runs=False, why="a constant"),
        ],
    )
    def is_enabled(call: Call) -> None:
        call.replace("False")
