"""What networks keep inside, and hooks into how a checkpoint is loaded."""

from ... import Case, Form, rule

STRUCTURE = "structure only; tests/convert/test_layer_faces.py runs it"
rule(
    "torch.nn.Module._modules",
    form=Form.ATTRIBUTE,
    to="compat.modules_inside",
    cases=[
        Case(
            "nn.Sequential(nn.ReLU())._modules",
            "ms_compat.modules_inside(nn.SequentialCell(nn.ReLU()))",
            runs=False,
            why=STRUCTURE,
        )
    ],
)
rule(
    "torch.nn.Module._parameters",
    form=Form.ATTRIBUTE,
    to="compat.parameters_inside",
    cases=[Case("nn.ReLU()._parameters", "ms_compat.parameters_inside(nn.ReLU())", runs=False, why=STRUCTURE)],
)
rule(
    "torch.nn.Module._buffers",
    form=Form.ATTRIBUTE,
    to="compat.buffers_inside",
    cases=[Case("nn.ReLU()._buffers", "ms_compat.buffers_inside(nn.ReLU())", runs=False, why=STRUCTURE)],
)
LOADED = "tests/convert/test_load_hooks.py loads through it"
rule(
    "torch.nn.Module._register_load_state_dict_pre_hook",
    to="compat.register_load_hook",
    args="self hook with_module",
    cases=[
        Case(
            "nn.ReLU()._register_load_state_dict_pre_hook(print, with_module=True)",
            "ms_compat.register_load_hook(nn.ReLU(), print, with_module=True)",
            runs=False,
            why=LOADED,
        )
    ],
)
rule(
    "torch.nn.Module.register_load_state_dict_pre_hook",
    to="compat.register_load_hook",
    args="self hook",
    defaults={"with_module": "True"},
    cases=[
        Case(
            "nn.ReLU().register_load_state_dict_pre_hook(print)",
            "ms_compat.register_load_hook(nn.ReLU(), print, with_module=True)",
            runs=False,
            why=LOADED,
        )
    ],
)
for name in (
    "register_load_state_dict_post_hook",
    "register_state_dict_pre_hook",
    "register_state_dict_post_hook",
    "_register_state_dict_hook",
):
    rule(
        f"torch.nn.Module.{name}",
        missing="MindSpore loads and saves parameters by name, without hooks",
        strategy="equivalent",
        advice="rename the entries of the checkpoint before load_state_dict, or after state_dict",
    )
