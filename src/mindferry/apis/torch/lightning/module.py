"""LightningModule and LightningDataModule: classes with the same methods, which the Trainer of the helpers calls."""

from ... import Case, rule

WHY = "tests/lightning trains with it"
for _name in ("LightningModule", "LightningDataModule"):
    rule(
        f"pytorch_lightning.{_name}",
        to=f"compat.{_name}",
        like=f"compat.{_name}",
        differs="steps and hooks run in Lightning's order; manual_backward() is lifted as backward() is",
        cases=[
            Case(f"pytorch_lightning.{_name}", f"ms_compat.{_name}", runs=False, why=WHY),
            Case(f"lightning.pytorch.{_name}", f"ms_compat.{_name}", runs=False, why=WHY),
        ],
    )

for _name, _advice in (
    ("to_onnx", "export the network with `mindferry export`"),
    ("to_torchscript", "export the network with `mindferry export`, or compile it with ms.jit"),
    ("to_tensorrt", "export the network with `mindferry export`"),
    ("configure_sharded_model", "build the layers in configure_model() or in __init__"),
):
    rule(
        f"pytorch_lightning.LightningModule.{_name}",
        missing="writes a format of torch's own" if _name.startswith("to_") else "shards over several devices",
        strategy="equivalent",
        advice=_advice,
    )
