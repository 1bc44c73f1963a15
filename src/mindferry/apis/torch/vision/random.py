"""Transforms with randomness. Both take their random numbers from a global generator; the numbers themselves differ."""

from ... import rule
from ..._call import Call
from ._images import is_given, set_interpolation, set_padding_mode
from .transforms import text


@rule(
    "torchvision.transforms.RandomCrop",
    to="mindspore.dataset.vision.RandomCrop",
    args="size padding pad_if_needed fill padding_mode",
    rename={"fill": "fill_value"},
    like="compat.RandomCrop",
    cases=text("T.RandomCrop(32, padding=4)", "ms_compat.RandomCrop(32, padding=4)")
    + text(
        "T.Compose([T.RandomCrop(32, padding=4), T.ToTensor()])",
        "ms_compat.Compose([vision.RandomCrop(32, padding=4), vision.ToTensor()])",
    ),
)
def random_crop(call: Call) -> None:
    simple = isinstance(call.literal("fill", 0), int) and call.literal("padding") is not ... and set_padding_mode(call)
    if not (is_given(call, "pil") and simple):
        call.use_like()


@rule(
    "torchvision.transforms.RandomHorizontalFlip",
    to="mindspore.dataset.vision.RandomHorizontalFlip",
    args="p",
    rename={"p": "prob"},
    like="compat.RandomHorizontalFlip",
    cases=text(
        "T.Compose([T.RandomHorizontalFlip(p=0.3), T.ToTensor()])",
        "ms_compat.Compose([vision.RandomHorizontalFlip(prob=0.3), vision.ToTensor()])",
    ),
)
def horizontal_flip(call: Call) -> None:
    if not is_given(call, "pil"):
        call.use_like()


@rule(
    "torchvision.transforms.RandomVerticalFlip",
    to="mindspore.dataset.vision.RandomVerticalFlip",
    args="p",
    rename={"p": "prob"},
    like="compat.RandomVerticalFlip",
    cases=text(
        "T.Compose([T.RandomVerticalFlip(), T.ToTensor()])",
        "ms_compat.Compose([vision.RandomVerticalFlip(), vision.ToTensor()])",
    ),
)
def vertical_flip(call: Call) -> None:
    if not is_given(call, "pil"):
        call.use_like()


@rule(
    "torchvision.transforms.RandomResizedCrop",
    to="mindspore.dataset.vision.RandomResizedCrop",
    args="size scale ratio interpolation antialias",
    drop="antialias",
    like="compat.RandomResizedCrop",
    differs="the crop's height is rounded from its width, so it can be a pixel off",
    cases=text(
        "T.Compose([T.RandomResizedCrop(224, scale=(0.2, 1.0)), T.ToTensor()])",
        "ms_compat.Compose([vision.RandomResizedCrop(224, scale=(0.2, 1.0), interpolation=vision.Inter.BILINEAR), vision.ToTensor()])",
    ),
)
def random_resized_crop(call: Call) -> None:
    if not (is_given(call, "pil") and set_interpolation(call, "BILINEAR")):
        call.use_like()


@rule(
    "torchvision.transforms.Grayscale",
    to="mindspore.dataset.vision.Grayscale",
    args="num_output_channels",
    like="compat.Grayscale",
    cases=text(
        "T.Compose([T.Grayscale(num_output_channels=3), T.ToTensor()])",
        "ms_compat.Compose([vision.Grayscale(num_output_channels=3), vision.ToTensor()])",
    ),
)
def grayscale(call: Call) -> None:
    if not is_given(call, "pil"):
        call.use_like()
