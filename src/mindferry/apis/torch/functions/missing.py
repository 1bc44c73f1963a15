"""What MindSpore has no counterpart for: the reason, and what to do."""

from ... import rule

IN_PLACE = "works on lists of tensors in place; MindSpore's tensors don't change"
LOOP = "write a loop: ops.assign(p, p + g) for each Parameter"
QUANTIZED = "eager-mode quantization is torch's own"
GOLDEN_STICK = "MindSpore Golden Stick quantizes MindSpore networks"
DISPATCH = "torch's dispatcher has no counterpart"
MISSING: dict[str, tuple[str, str, str]] = {
    "torch.nested.nested_tensor": (
        "MindSpore has no nested tensors",
        "equivalent",
        "pad the sequences and carry a mask",
    ),
    "torch._make_per_tensor_quantized_tensor": (QUANTIZED, "upstream request", GOLDEN_STICK),
    **{
        f"torch.ao.quantization.{name}": (QUANTIZED, "upstream request", GOLDEN_STICK)
        for name in "DeQuantStub QuantStub convert get_default_qat_qconfig prepare prepare_qat QConfig fuse_modules get_default_qconfig "
        "default_observer default_per_channel_weight_observer default_weight_observer disable_observer enable_fake_quant enable_observer "
        "fuse_modules_qat".split()
    },
    **{
        f"torch.library.{name}": (DISPATCH, "custom operator", "register the operator with ops.Custom")
        for name in "register_autograd Library register_fake".split()
    },
    "torch._custom_ops.get_ctx": (DISPATCH, "custom operator", "register the operator with ops.Custom"),
    "torch.classes.load_library": (DISPATCH, "custom operator", "build it with ops.CustomOpBuilder"),
    "torch.classes.NativeInterpretation": (DISPATCH, "custom operator", "build it with ops.CustomOpBuilder"),
    "torch.ops.load_library": (DISPATCH, "custom operator", "build it with ops.CustomOpBuilder"),
    "torch.futures.Future": ("asynchronous results are torch's own", "equivalent", "use concurrent.futures"),
    "torch.futures.wait_all": ("asynchronous results are torch's own", "equivalent", "use concurrent.futures.wait"),
}
for _api, (_reason, _strategy, _advice) in MISSING.items():
    rule(_api, missing=_reason, strategy=_strategy, advice=_advice)
