"""Devices. MindSpore runs on one target (ms.set_device) and places tensors itself: a device is the target's name."""

from ... import Case, Form, rule
from ..._call import Call
from ._places import is_only_a_place

TARGET = "{get_context}('device_target')"


def target(call: Call) -> str:
    return TARGET.replace("{get_context}", call.name("mindspore.get_context"))


@rule(
    "torch.device",
    to="str",
    args="type index",
    like="compat.Device",
    differs="a string such as 'CPU' or 'Ascend'; one with type and index where somebody may ask for them",
    cases=[
        Case(
            "torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
            "ms_compat.Device()",
            runs=False,
            why="names differ",
        ),
        Case("torch.device('cuda:0')", "ms_compat.Device()", runs=False, why="names differ"),
        Case("torch.device('cpu')", "ms_compat.Device('cpu')", runs=False, why="names differ"),
        Case("isinstance(x.device, torch.device) * x", "isinstance(x.device, str) * x", shapes=((2, 3),)),
        Case("[torch.device]", "[ms_compat.Device]", runs=False, why="names differ"),
        Case("torch.device('cpu').type", "ms_compat.device_type(ms_compat.Device('cpu'))", gradient=False),
        Case("[str(torch.device('cpu', 0))[:3]]", "[str(ms_compat.Device('cpu'))[:3]]", gradient=False),
        Case("torch.device('meta')", "ms_compat.Device()", runs=False, why="names differ"),
    ],
)
def device(call: Call) -> None:
    is_cpu = str(call.literal("type")).partition(":")[0] == "cpu"
    if is_only_a_place(call):
        call.replace("'CPU'" if is_cpu else target(call))
    else:
        call.replace(call.name("compat.Device") + ("('cpu')" if is_cpu else "()"))


rule(
    "torch.device.type",
    form=Form.ATTRIBUTE,
    to="compat.device_type",
    cases=[
        Case("x.device.type", "ms_compat.device_type(x.device)", shapes=((2, 3),), gradient=False),
    ],
)
rule(
    "torch.device.index",
    form=Form.ATTRIBUTE,
    to="(None if {x} == 'CPU' else 0)",
    cases=[
        Case(
            "x.device.index",
            "(None if x.device == 'CPU' else 0)",
            shapes=((2, 3),),
            runs=False,
            why="None has no numbers to compare",
        ),
    ],
)

IS_ACCELERATED = "ms.get_context('device_target') != 'CPU'"
for _api in ("torch.cuda.is_available", "torch.accelerator.is_available", "torch.xpu.is_available"):

    @rule(
        _api,
        differs="true on any accelerator",
        cases=[
            Case(f"{_api}()", IS_ACCELERATED, gradient=False),
            Case(f"'cuda' if {_api}() else 'cpu'", f"'cuda' if {IS_ACCELERATED} else 'cpu'", gradient=False),
        ],
    )
    def is_available(call: Call) -> None:
        call.replace(f"{target(call)} != 'CPU'")


for _api in (
    "torch.backends.mps.is_available",
    "torch.backends.mps.is_built",
    "torch.backends.cudnn.is_available",
    "torch.cuda.is_initialized",
    "torch.backends.cuda.is_built",
    "torch.backends.mkldnn.is_available",
    "torch.backends.mkl.is_available",
    "torch.backends.openmp.is_available",
    "torch.cuda.is_current_stream_capturing",
    "torch.distributed.is_torchelastic_launched",
):

    @rule(
        _api,
        differs="CUDA and MPS don't exist in MindSpore",
        cases=[Case(f"{_api}()", "False", runs=False, why="differs by machine in torch")],
    )
    def is_absent(call: Call) -> None:
        call.replace("False")


for _api in (
    "torch.accelerator.current_accelerator",
    "torch.accelerator.current_device_index",
    "torch.get_default_device",
):

    @rule(_api, cases=[Case(f"{_api}()", "ms.get_context('device_target')", runs=False, why="names differ")])
    def current_accelerator(call: Call) -> None:
        call.replace(target(call))


for _api in ("torch.cuda.device_count", "torch.accelerator.device_count"):
    rule(
        _api,
        to="mindspore.hal.device_count",
        like="mindspore.hal.device_count",
        differs="1 on a CPU, 0 in torch",
        cases=[
            Case(f"{_api}()", "ms.hal.device_count()", runs=False, why="differs by machine in torch"),
        ],
    )


@rule(
    "torch.cuda.current_device",
    cases=[
        Case(
            "torch.cuda.current_device()", "ms.get_current_device().device_id", runs=False, why="needs a GPU in torch"
        ),
    ],
)
def current_device(call: Call) -> None:
    call.replace(f"{call.name('mindspore.get_current_device')}().device_id")


SAME_ON_CPU = "needs a GPU in torch"
for _name, _to, _args, _call, _after in (
    ("get_device_name", "mindspore.hal.get_device_name", "device", "(0)", "ms.hal.get_device_name(0)"),
    (
        "get_device_properties",
        "mindspore.hal.get_device_properties",
        "device",
        "(0)",
        "ms.hal.get_device_properties(0)",
    ),
    (
        "get_device_capability",
        "mindspore.hal.get_device_capability",
        "device",
        "(0)",
        "ms.hal.get_device_capability(0)",
    ),
    ("Stream", "mindspore.runtime.Stream", "", "()", "ms.runtime.Stream()"),
    (
        "Event",
        "mindspore.runtime.Event",
        "enable_timing blocking",
        "(enable_timing=True)",
        "ms.runtime.Event(enable_timing=True)",
    ),
    ("current_stream", "mindspore.runtime.current_stream", "", "()", "ms.runtime.current_stream()"),
    ("default_stream", "mindspore.runtime.default_stream", "", "()", "ms.runtime.default_stream()"),
    ("stream", "mindspore.runtime.StreamCtx", "stream", "(x)", "ms.runtime.StreamCtx(x)"),
):
    rule(
        f"torch.cuda.{_name}",
        to=_to,
        args=_args,
        like=_to,
        platforms="Ascend",
        cases=[
            Case(
                f"torch.cuda.{_name}{_call}",
                _after,
                shapes=((2,),) if "x" in _call else (),
                runs=False,
                why=SAME_ON_CPU,
            ),
        ],
    )
for _name in (
    "synchronize",
    "empty_cache",
    "max_memory_allocated",
    "memory_allocated",
    "max_memory_reserved",
    "memory_reserved",
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "memory_summary",
    "memory_stats",
    "max_memory_cached",
    "memory_cached",
):
    _to = {"max_memory_cached": "max_memory_reserved", "memory_cached": "memory_reserved"}.get(_name, _name)

    @rule(
        f"torch.cuda.{_name}",
        to=f"mindspore.runtime.{_to}",
        args="device",
        drop="device",
        differs="of the one device in use",
        cases=[
            Case(f"torch.cuda.{_name}(0)", f"ms.runtime.{_to}()", runs=False, why="differs by machine"),
        ],
    )
    def runtime(call: Call) -> None:
        pass


rule(
    "torch.accelerator.synchronize",
    to="mindspore.runtime.synchronize",
    args="device",
    drop="device",
    cases=[
        Case("torch.accelerator.synchronize()", "ms.runtime.synchronize()", runs=False, why="no value"),
    ],
)
rule(
    "torch.backends.mps.empty_cache",
    to="mindspore.runtime.empty_cache",
    cases=[
        Case("torch.backends.mps.empty_cache()", "ms.runtime.empty_cache()", runs=False, why="no value"),
    ],
)
rule(
    "torch.mps.empty_cache",
    to="mindspore.runtime.empty_cache",
    cases=[
        Case("torch.mps.empty_cache()", "ms.runtime.empty_cache()", runs=False, why="no value"),
    ],
)


@rule(
    "torch.cuda.is_bf16_supported",
    cases=[
        Case("torch.cuda.is_bf16_supported()", IS_ACCELERATED, runs=False, why="differs by machine"),
    ],
)
def is_bf16_supported(call: Call) -> None:
    call.replace(f"{target(call)} != 'CPU'")


for _name, _advice in (
    ("torch.cuda.comm.gather", "gather with communication.comm_func, or let data parallel training do it"),
    ("torch.cuda.comm.broadcast_coalesced", "data parallel training broadcasts parameters itself"),
    ("torch.cuda.comm.reduce_add", "use nn.DistributedGradReducer"),
    ("torch.cuda.comm.reduce_add_coalesced", "use nn.DistributedGradReducer"),
    ("torch.cuda.nccl.version", "remove it: MindSpore uses HCCL or MCCL"),
    ("torch.cuda.CUDAGraph", "decorate the step with ms.jit"),
    ("torch.cuda.graph", "decorate the step with ms.jit"),
    ("torch.cuda.memory_snapshot", "use ms.runtime.memory_summary()"),
    ("torch.cuda.utilization", "ask the tools of the device"),
    ("torch.cuda.mem_get_info", "use ms.runtime.memory_allocated()"),
):
    rule(_name, missing="belongs to CUDA", strategy="equivalent", advice=_advice)
