"""Settings of torch's runtime. Those without meaning in MindSpore become None, and the statement goes."""

import ast

from ... import Case, rule
from ..._call import Call
from ..nn._context import parent_of


def _idle(api: str, arguments: str) -> None:
    @rule(
        api,
        differs="not needed in MindSpore",
        cases=[Case(f"{api}({arguments})", "None", runs=False, why="a setting without effect")],
    )
    def nothing(call: Call) -> None:
        call.replace("None")


for _api, _arguments in (
    ("torch.cuda.set_device", "0"),
    ("torch.accelerator.set_device_index", "0"),
    ("torch.set_num_threads", "4"),
    ("torch.set_num_interop_threads", "4"),
    ("torch.set_float32_matmul_precision", "'high'"),
    ("torch.set_printoptions", "precision=4"),
    ("torch.multiprocessing.set_sharing_strategy", "'file_system'"),
    ("torch.multiprocessing.set_start_method", "'spawn'"),
    ("torch.cuda.ipc_collect", ""),
    ("torch.cuda.init", ""),
    ("torchvision.set_image_backend", "'PIL'"),
    ("torch.cuda.set_per_process_memory_fraction", "0.5"),
    ("torch.set_warn_always", "True"),
    ("torch.set_flush_denormal", "True"),
    ("torch.backends.cuda.enable_flash_sdp", "True"),
    ("torch.backends.cuda.enable_mem_efficient_sdp", "True"),
    ("torch.backends.cuda.enable_math_sdp", "True"),
    ("torch._C._jit_set_profiling_executor", "False"),
    ("torch._C._jit_set_profiling_mode", "False"),
    ("torch._C._log_api_usage_once", "'x'"),
    ("torch._C._jit_override_can_fuse_on_cpu", "True"),
    ("torch._C._jit_override_can_fuse_on_gpu", "True"),
    ("torch._C._jit_set_texpr_fuser_enabled", "True"),
    ("torch._C._get_tracing_state", ""),
    ("torch._C._jit_set_nvfuser_enabled", "True"),
    ("torch._C._jit_set_nvfuser_guard_mode", "True"),
    ("torch.set_default_device", "'cuda'"),
    ("torch.set_deterministic", "True"),
    ("torch.set_autocast_enabled", "True"),
    ("torch.set_autocast_gpu_dtype", "torch.float16"),
    ("torch.set_autocast_cache_enabled", "False"),
    ("torch._dynamo.reset", ""),
    ("torch.compiler.reset", ""),
    ("torch._dynamo.graph_break", ""),
    ("torch.cuda.reset_max_memory_cached", ""),
    ("torch.cuda.profiler.start", ""),
    ("torch.cuda.profiler.stop", ""),
    ("torch.cuda.nvtx.mark", "'x'"),
    ("torch.cuda.nvtx.range_push", "'x'"),
    ("torch.cuda.nvtx.range_pop", ""),
    ("torch.cuda.memory._record_memory_history", ""),
    ("torch.backends.cuda.enable_cudnn_sdp", "True"),
    ("torch.backends.cuda.preferred_linalg_library", "'default'"),
):
    _idle(_api, _arguments)


@rule(
    "torch.autograd.set_detect_anomaly",
    differs="not needed in MindSpore",
    cases=[
        Case(
            "torch.autograd.set_detect_anomaly(True)",
            "contextlib.nullcontext()",
            runs=False,
            why="a setting without effect",
        ),
    ],
)
def set_detect_anomaly(call: Call) -> None:
    """A statement, or the context of a `with`."""
    is_statement = isinstance(parent_of(call), ast.Expr)
    call.replace("None" if is_statement else f"{call.name('contextlib.nullcontext')}()")


rule(
    "torch.use_deterministic_algorithms",
    to="compat.set_deterministic",
    args="mode warn_only",
    drop="warn_only",
    cases=[
        Case(
            "torch.use_deterministic_algorithms(True, warn_only=True)",
            "ms_compat.set_deterministic(True)",
            runs=False,
            why="a setting",
        ),
    ],
)


@rule(
    "torch.are_deterministic_algorithms_enabled",
    differs="MindSpore doesn't say whether set_deterministic was called",
    cases=[
        Case("torch.are_deterministic_algorithms_enabled()", "False", runs=False, why="a setting"),
    ],
)
def are_deterministic(call: Call) -> None:
    call.replace("False")


@rule(
    "torchvision.get_image_backend",
    differs="there is one way to read images here",
    cases=[Case("torchvision.get_image_backend()", "'PIL'", runs=False, why="a setting")],
)
def get_image_backend(call: Call) -> None:
    call.replace("'PIL'")


@rule(
    "torch.get_num_threads",
    cases=[Case("torch.get_num_threads()", "os.cpu_count()", runs=False, why="differs by machine")],
)
def get_num_threads(call: Call) -> None:
    call.replace(f"{call.name('os.cpu_count')}()")


# Assignments to these go, with their statement (the pass `no_counterpart`); as values they are what MindSpore does.
for _api, _value in (
    ("torch.backends.cudnn.benchmark", "False"),
    ("torch.backends.cudnn.enabled", "False"),
    ("torch.backends.cudnn.deterministic", "True"),
    ("torch.backends.cudnn.allow_tf32", "False"),
    ("torch.backends.cuda.matmul.allow_tf32", "False"),
    ("torch.backends.opt_einsum.enabled", "False"),
    ("torch.backends.opt_einsum.strategy", "None"),
    ("torch.backends.quantized.engine", "None"),
    ("torch.backends.quantized.supported_engines", "()"),
    ("torch._dynamo.config.cache_size_limit", "None"),
    ("torch._dynamo.config.suppress_errors", "False"),
):
    rule(
        _api,
        to=_value,
        like=_value,
        differs="not needed in MindSpore",
        cases=[
            Case(_api, _value, runs=False, why="a setting of torch's own kernels"),
        ],
    )


@rule(
    "torch.backends.cudnn.version", cases=[Case("torch.backends.cudnn.version()", "None", runs=False, why="CUDA only")]
)
def cudnn_version(call: Call) -> None:
    call.replace("None")


rule(
    "torch.backends.cpu.get_cpu_capability", missing="MindSpore doesn't tell", strategy="not needed", advice="remove it"
)
rule(
    "torch.backends.cuda.sdp_kernel",
    missing="the attention kernel is MindSpore's own choice",
    strategy="not needed",
    advice="remove the with",
)
for _name in ("device", "device_of"):
    rule(
        f"torch.cuda.{_name}",
        to="contextlib.nullcontext",
        like="contextlib.nullcontext",
        differs="MindSpore runs on one device",
        cases=[
            Case(
                f"torch.cuda.{_name}(x)",
                "contextlib.nullcontext(x)",
                shapes=((2,),),
                runs=False,
                why="a context without effect",
            ),
        ],
    )
rule(
    "torch.accelerator.device_index",
    to="contextlib.nullcontext",
    like="contextlib.nullcontext",
    cases=[
        Case(
            "torch.accelerator.device_index(0)", "contextlib.nullcontext(0)", runs=False, why="a context without effect"
        ),
    ],
)
rule(
    "torch.version.cuda",
    to="None",
    like="None",
    cases=[Case("torch.version.cuda", "None", runs=False, why="CUDA only")],
)
rule(
    "torch.version.hip", to="None", like="None", cases=[Case("torch.version.hip", "None", runs=False, why="ROCm only")]
)
rule(
    "torch.__version__",
    to="mindspore.__version__",
    like="mindspore.__version__",
    cases=[
        Case("torch.__version__", "ms.__version__", runs=False, why="versions differ"),
    ],
)
