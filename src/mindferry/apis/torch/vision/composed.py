"""Transforms made of transforms. mindspore.dataset.transforms has them for a pipeline's map; called, they return tuples."""

from ... import rule
from .transforms import text

for _name, _args, _call in (
    ("Compose", "transforms", "T.Compose([f])"),
    ("RandomApply", "transforms p", "T.RandomApply([f], p=0.3)"),
    ("RandomChoice", "transforms p", "T.RandomChoice([f])"),
    ("RandomOrder", "transforms", "T.RandomOrder([f])"),
    ("Lambda", "lambd", "T.Lambda(lambda v: v + 1)"),
):
    rule(
        f"torchvision.transforms.{_name}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        cases=text(_call, _call.replace("T.", "ms_compat.")),
    )
