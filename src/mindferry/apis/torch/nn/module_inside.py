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
for name in (
    "_register_load_state_dict_pre_hook",
    "register_load_state_dict_pre_hook",
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
