"""Return types of torch's own names, where they are not simply a tensor."""

from __future__ import annotations

from .types import (
    BOOL,
    FLOAT,
    INT,
    MODULE,
    NDARRAY,
    NONE,
    SIZE,
    STR,
    TENSOR,
    UNKNOWN,
    Type,
    instance,
    list_of,
    tuple_of,
)

PAIR = tuple_of(TENSOR, TENSOR)

TENSOR_METHODS: dict[str, Type] = {
    **dict.fromkeys(["size"], SIZE),
    **dict.fromkeys(["stride"], tuple_of(INT)),
    **dict.fromkeys(
        ["numel", "nelement", "dim", "ndimension", "element_size", "get_device", "storage_offset", "data_ptr"], INT
    ),
    **dict.fromkeys(
        [
            "is_contiguous",
            "is_floating_point",
            "is_complex",
            "equal",
            "is_inference",
            "is_set_to",
            "is_shared",
            "is_same_size",
        ],
        BOOL,
    ),
    **dict.fromkeys(["item"], FLOAT),
    **dict.fromkeys(["numpy", "__array__"], NDARRAY),
    **dict.fromkeys(["tolist"], Type("list")),
    **dict.fromkeys(["backward", "retain_grad"], NONE),
    **dict.fromkeys(["register_hook", "storage", "untyped_storage", "data_dtype"], UNKNOWN),
    **dict.fromkeys(
        ["sort", "topk", "kthvalue", "mode", "cummax", "cummin", "frexp", "qr", "slogdet", "aminmax", "histogram"], PAIR
    ),
    **dict.fromkeys(
        ["chunk", "split", "unbind", "tensor_split", "hsplit", "vsplit", "dsplit", "split_with_sizes"], list_of(TENSOR)
    ),
    "svd": tuple_of(TENSOR, TENSOR, TENSOR),
}

TENSOR_ATTRIBUTES: dict[str, Type] = {
    "shape": SIZE,
    "ndim": INT,
    "device": instance("torch.device"),
    "dtype": instance("torch.dtype"),
    "layout": UNKNOWN,
    "requires_grad": BOOL,
    "is_cuda": BOOL,
    "is_sparse": BOOL,
    "is_leaf": BOOL,
    "is_quantized": BOOL,
    "grad_fn": UNKNOWN,
    "name": STR,
    "itemsize": INT,
    "nbytes": INT,
    **dict.fromkeys(["data", "grad", "T", "H", "mT", "mH", "real", "imag"], TENSOR),
}

# torch.* functions whose result is not one tensor; those with a method of the same name follow TENSOR_METHODS.
FUNCTIONS: dict[str, Type] = {
    **dict.fromkeys(["meshgrid", "broadcast_tensors", "atleast_1d_list", "align_tensors"], list_of(TENSOR)),
    **dict.fromkeys(
        ["is_tensor", "is_storage", "allclose", "is_grad_enabled", "are_deterministic_algorithms_enabled"], BOOL
    ),
    **dict.fromkeys(
        [
            "save",
            "manual_seed",
            "seed",
            "set_num_threads",
            "set_default_dtype",
            "set_printoptions",
            "use_deterministic_algorithms",
        ],
        UNKNOWN,
    ),
    **dict.fromkeys(
        ["load", "compile", "get_rng_state", "jit", "hub", "broadcast_shapes", "promote_types", "result_type", "finfo"],
        UNKNOWN,
    ),
    **dict.fromkeys(
        ["iinfo", "Generator", "device", "no_grad", "enable_grad", "inference_mode", "set_grad_enabled", "autocast"],
        UNKNOWN,
    ),
    **dict.fromkeys(["can_cast", "typename", "initial_seed", "get_num_threads", "vmap", "func", "export"], UNKNOWN),
    "get_default_dtype": instance("torch.dtype"),
    **dict.fromkeys(["lu", "geqrf", "triangular_solve", "lstsq", "std_mean", "var_mean", "eig", "symeig"], PAIR),
}

RECURRENT = {
    "torch.nn.LSTM": tuple_of(TENSOR, PAIR),
    "torch.nn.GRU": PAIR,
    "torch.nn.RNN": PAIR,
    "torch.nn.LSTMCell": PAIR,
    "torch.nn.MultiheadAttention": PAIR,
}
CONTAINERS = {"torch.nn.ModuleList", "torch.nn.Sequential", "torch.nn.ModuleDict"}
IN_PLACE = frozenset(
    "add_ sub_ mul_ div_ pow_ neg_ abs_ exp_ log_ sqrt_ rsqrt_ square_ floor_ ceil_ round_ trunc_ sign_ clamp_ clamp_min_ clamp_max_ clip_ "
    "zero_ fill_ copy_ normal_ uniform_ random_ bernoulli_ exponential_ addcmul_ addcdiv_ addmm_ lerp_ masked_fill_ masked_scatter_ "
    "scatter_ scatter_add_ index_add_ index_fill_ index_copy_ index_put_ unsqueeze_ squeeze_ transpose_ t_ relu_ sigmoid_ tanh_ "
    "requires_grad_ detach_ resize_ resize_as_ remainder_ fmod_ eq_ gt_ ge_ lt_ le_ logical_not_ logical_and_ triu_ tril_ cumsum_ "
    "erfinv_ bitwise_left_shift_ fill_diagonal_".split()
)
# Methods that only tensors have: a name used with one of them is a tensor, wherever it came from.
DISTINCTIVE = frozenset(
    "unsqueeze permute contiguous detach masked_fill expand_as view_as index_select masked_select "
    "unfold type_as clamp matmul bmm softmax log_softmax sigmoid tanh index_fill scatter_add "
    "new_zeros new_ones new_tensor new_full new_empty addmm logsumexp narrow rsqrt unbind numel".split()
) | (IN_PLACE - {"requires_grad_"})
# Those of them, and others, that nothing but a tensor has in a file that uses torch, whatever is known of the receiver.
UNMISTAKABLE = (DISTINCTIVE | IN_PLACE) - frozenset(
    "unbind narrow clamp unfold matmul tanh sigmoid numel requires_grad_".split()
)

DTYPES = frozenset(
    "float32 float float64 double float16 half bfloat16 complex64 cfloat complex128 cdouble uint8 int8 int16 short int32 int int64 long "
    "bool uint16 uint32 uint64 float8_e4m3fn float8_e5m2".split()
)


def method_result(name: str, arguments: int) -> Type:
    """What a tensor's method returns. `x.max(1)` is a pair, `x.max()` a tensor; `x.size(0)` a number, `x.size()` a size."""
    if name == "size":
        return INT if arguments else SIZE
    if name == "type":
        return TENSOR if arguments else STR
    if name in ("max", "min", "median", "nanmedian"):
        return PAIR if arguments else TENSOR
    return TENSOR_METHODS.get(name, TENSOR)


def call_result(qual: str, arguments: int) -> Type:
    """What calling torch's `qual` returns."""
    root, _, name = qual.rpartition(".")
    if qual in (
        "torch.Tensor",
        "torch.nn.Parameter",
        "torch.nn.parameter.Parameter",
        "torch.nn.Buffer",
        "torch.nn.parameter.Buffer",
        "torch.autograd.Variable",
    ):
        return TENSOR
    if name[:1].isupper() and not name.endswith("Tensor"):
        return instance(qual)
    if qual.startswith("torch.nn.functional."):
        pair = name.endswith("_with_indices") or name == "multi_head_attention_forward"
        return PAIR if pair else TENSOR
    if root in ("torch", "torch.linalg", "torch.fft", "torch.special", "torch._C._nn", "torch.functional"):
        if name in FUNCTIONS:
            return FUNCTIONS[name] if name != "device" else instance("torch.device")
        if name in ("max", "min", "median"):
            return TENSOR if arguments < 2 else UNKNOWN
        if name in TENSOR_METHODS and name != "size":
            return TENSOR_METHODS[name]
        return TENSOR
    if qual.startswith("torch.nn.init.") or qual in (
        "einops.rearrange",
        "einops.reduce",
        "einops.repeat",
        "einops.einsum",
    ):
        return TENSOR
    return UNKNOWN


def module_call_result(qual: str) -> Type:
    return RECURRENT.get(qual, TENSOR)


def container_element(qual: str) -> Type:
    return MODULE if qual in CONTAINERS else UNKNOWN
