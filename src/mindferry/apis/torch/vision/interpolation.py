"""InterpolationMode: mindspore.dataset.vision.Inter has the same numbers as Pillow for the modes that it shares."""

from ... import rule
from .transforms import text

for _name in ("NEAREST", "BILINEAR", "BICUBIC"):
    rule(
        f"torchvision.transforms.InterpolationMode.{_name}",
        to=f"mindspore.dataset.vision.Inter.{_name}",
        like=f"mindspore.dataset.vision.Inter.{_name}",
        cases=text(f"T.InterpolationMode.{_name}", f"vision.Inter.{_name}"),
    )
for _name in ("NEAREST_EXACT", "BOX", "HAMMING", "LANCZOS"):
    rule(
        f"torchvision.transforms.InterpolationMode.{_name}",
        to=f"compat.InterpolationMode.{_name}",
        like=f"compat.InterpolationMode.{_name}",
        cases=text(f"T.InterpolationMode.{_name}", f"ms_compat.InterpolationMode.{_name}"),
    )
rule(
    "torchvision.transforms.InterpolationMode",
    to="compat.InterpolationMode",
    like="compat.InterpolationMode",
    cases=text("T.InterpolationMode", "ms_compat.InterpolationMode"),
)
