"""Context managers and decorators that steer torch's runtime and mean nothing here: blocks and functions stay, as they are."""

from ... import Case, rule
from ..._call import Call

NO_EFFECT = "a setting without effect"
for _api, _arguments in (
    ("torch.backends.cudnn.flags", "enabled=False"),
    ("torch.cuda.nvtx.range", "'x'"),
    ("torch.autograd.profiler.emit_nvtx", ""),
    ("torch.autograd.profiler.emit_itt", ""),
    ("torch.serialization.safe_globals", "[]"),
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


for _api in (
    "torch.cuda.amp.custom_fwd",
    "torch.cuda.amp.custom_bwd",
    "torch.amp.custom_fwd",
    "torch.amp.custom_bwd",
    "torch.distributed.elastic.multiprocessing.errors.record",
):
    rule(
        _api,
        to="compat.undecorated",
        args="fwd" if _api.endswith("fwd") else "bwd" if _api.endswith("bwd") else "fn",
        like="compat.undecorated",
        differs="MindSpore casts networks, not functions" if "amp" in _api else "msrun reports failures itself",
        cases=[
            Case(
                f"{_api}(lambda v: v * 2)(x)",
                "ms_compat.undecorated(lambda v: v * 2)(x)",
                shapes=((2, 3),),
                runs="elastic" not in _api,
                why="torch imports it only when asked to" if "elastic" in _api else "",
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
