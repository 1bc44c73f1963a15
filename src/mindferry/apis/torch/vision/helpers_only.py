"""Transforms that mindspore.dataset.vision has not, or computes differently: helpers with torchvision's arithmetic."""

from ... import rule
from .transforms import text

TRANSFORMS = {
    "PILToTensor": ("", "()"),
    "ToPILImage": ("mode", "()"),
    "ConvertImageDtype": ("dtype", "(torch.float32)"),
    "FiveCrop": ("size", "(24)"),
    "TenCrop": ("size vertical_flip", "(24, vertical_flip=True)"),
    "LinearTransformation": ("transformation_matrix mean_vector", "(m, v)"),
    "ColorJitter": ("brightness contrast saturation hue", "(0.4, 0.4, 0.4, hue=0.1)"),
    "RandomGrayscale": ("p", "(p=0.2)"),
    "GaussianBlur": ("kernel_size sigma", "(5, sigma=(0.1, 2.0))"),
    "RandomInvert": ("p", "(p=0.3)"),
    "RandomPosterize": ("bits p", "(4, p=0.3)"),
    "RandomSolarize": ("threshold p", "(192.0)"),
    "RandomAdjustSharpness": ("sharpness_factor p", "(2, p=0.3)"),
    "RandomAutocontrast": ("p", "()"),
    "RandomEqualize": ("p", "()"),
    "RandomRotation": ("degrees interpolation expand center fill", "(15, expand=True)"),
    "RandomAffine": ("degrees translate scale shear interpolation fill center", "(10, translate=(0.1, 0.1))"),
    "RandomPerspective": ("distortion_scale p interpolation fill", "(0.5, p=0.4)"),
    "RandomErasing": ("p scale ratio value inplace", "(p=0.25, value='random')"),
    "ElasticTransform": ("alpha sigma interpolation fill", "(alpha=40.0)"),
    "AutoAugment": ("policy interpolation fill", "()"),
    "RandAugment": ("num_ops magnitude num_magnitude_bins interpolation fill", "(2, 9)"),
    "AugMix": ("severity mixture_width chain_depth alpha all_ops interpolation fill", "(severity=5)"),
    "TrivialAugmentWide": ("num_magnitude_bins interpolation fill", "()"),
}

for _name, (_args, _call) in TRANSFORMS.items():
    rule(
        f"torchvision.transforms.{_name}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        differs="random numbers are Python's, which mindspore.set_seed seeds"
        if _name.startswith(("Rand", "Color", "Au", "Triv"))
        else "",
        cases=text(f"T.{_name}{_call}", f"ms_compat.{_name}{_call.replace('torch.', 'ms.')}"),
    )

for _name, _args, _call in (("ToImage", "", "()"), ("ToDtype", "dtype scale", "(torch.float32, scale=True)")):
    rule(
        f"torchvision.transforms.{_name}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        cases=text(f"T.v2.{_name}{_call}", f"ms_compat.{_name}{_call.replace('torch.', 'ms.')}"),
    )
rule(
    "torchvision.transforms.Identity",
    to="compat.ImageIdentity",
    like="compat.ImageIdentity",
    cases=text("T.v2.Identity()", "ms_compat.ImageIdentity()"),
)

# Old names, still in use.
rule(
    "torchvision.transforms.Scale",
    to="compat.Resize",
    args="size interpolation",
    like="compat.Resize",
    cases=text("T.Scale(256)", "ms_compat.Resize(256)"),
)
rule(
    "torchvision.transforms.RandomSizedCrop",
    to="compat.RandomResizedCrop",
    args="size scale ratio interpolation",
    like="compat.RandomResizedCrop",
    cases=text("T.RandomSizedCrop(224)", "ms_compat.RandomResizedCrop(224)"),
)

for _policy in ("IMAGENET", "CIFAR10", "SVHN"):
    rule(
        f"torchvision.transforms.AutoAugmentPolicy.{_policy}",
        to=f"compat.AutoAugmentPolicy.{_policy}",
        like=f"compat.AutoAugmentPolicy.{_policy}",
        cases=text(f"T.AutoAugmentPolicy.{_policy}", f"ms_compat.AutoAugmentPolicy.{_policy}"),
    )
rule(
    "torchvision.transforms.AutoAugmentPolicy",
    to="compat.AutoAugmentPolicy",
    like="compat.AutoAugmentPolicy",
    cases=text("T.AutoAugmentPolicy", "ms_compat.AutoAugmentPolicy"),
)
