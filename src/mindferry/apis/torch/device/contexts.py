"""Context managers and decorators that steer torch's runtime and mean nothing here: blocks and functions stay, as they are."""

from ... import Case, rule
from ..._call import Call

NO_EFFECT = "a setting without effect"
for _api, _arguments in (
    ("torch.backends.cudnn.flags", "enabled=False"),
    ("torch.cuda.nvtx.range", "'x'"),
    ("torch.autograd.profiler.emit_nvtx", ""),
    ("torch.autograd.profiler.emit_itt", ""),
    ("torch.random.fork_rng", ""),
    ("torch.cuda.amp.common.amp_definitely_not_available", ""),
    ("torch.autograd.graph.allow_mutation_on_saved_tensors", ""),
    ("torch.nn.utils.parametrize.cached", ""),
):

    @rule(
        _api,
        differs="not needed in MindSpore",
        cases=[Case(f"{_api}({_arguments})", "contextlib.nullcontext()", runs=False, why=NO_EFFECT)],
    )
    def nothing(call: Call) -> None:
        call.replace(f"{call.name('contextlib.nullcontext')}()")


for _amp, _device in (("torch.cuda.amp", ""), ("torch.amp", ", device_type='cpu'")):
    # What torch decorates as a backward asks its first argument for what the decorated forward left there.
    _forward, _backward = f"(lambda v: v * 2{_device})(x)", f"(lambda v: v * 3{_device})(x)"
    for _api, _before, _after in (
        ("custom_fwd", f"{_amp}.custom_fwd{_forward}", f"ms_compat.undecorated{_forward}"),
        (
            "custom_bwd",
            f"{_amp}.custom_fwd{_forward} + {_amp}.custom_bwd{_backward}",
            f"ms_compat.undecorated{_forward} + ms_compat.undecorated{_backward}",
        ),
    ):
        rule(
            f"{_amp}.{_api}",
            to="compat.undecorated",
            args=_api.removeprefix("custom_"),
            like="compat.undecorated",
            differs="MindSpore casts networks, not functions",
            cases=[Case(_before, _after, shapes=((2, 3),))],
        )
rule(
    "torch.distributed.elastic.multiprocessing.errors.record",
    to="compat.undecorated",
    args="fn",
    like="compat.undecorated",
    differs="msrun reports failures itself",
    cases=[
        Case(
            "torch.distributed.elastic.multiprocessing.errors.record(lambda v: v * 2)(x)",
            "ms_compat.undecorated(lambda v: v * 2)(x)",
            shapes=((2, 3),),
            runs=False,
            why="torch imports it only when asked to",
        ),
    ],
)
for _api, _value, _why in (
    ("torch.amp.is_autocast_available", "False", "differs by machine"),
    ("torch.amp.autocast_mode.is_autocast_available", "False", "differs by machine"),
    ("torch.get_float32_matmul_precision", "'highest'", "a setting"),
):

    @rule(_api, cases=[Case(f"{_api}('cpu')" if "auto" in _api else f"{_api}()", _value, runs=False, why=_why)])
    def constant(call: Call, value: str = _value) -> None:
        call.replace(value)


for _api in ("torch.get_autocast_dtype", "torch.get_autocast_gpu_dtype", "torch.get_autocast_cpu_dtype"):

    @rule(
        _api,
        differs="MindSpore casts networks, not blocks",
        cases=[Case(f"x.to({_api}())", "x.to(ms.float32)", shapes=((2, 3),), runs=False, why="float16 in torch")],
    )
    def autocast_dtype(call: Call) -> None:
        call.replace(call.name("mindspore.float32"))


for _api in ("torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError"):
    rule(
        _api,
        to="MemoryError",
        like="MemoryError",
        cases=[Case(f"issubclass({_api}, Exception) * x", "issubclass(MemoryError, Exception) * x", shapes=((2, 3),))],
    )
