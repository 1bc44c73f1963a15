"""Transforms without randomness. On a PIL image mindspore.dataset.vision computes what torchvision does; on arrays it wants height first."""

from ... import Case, rule
from ..._call import Call
from ._images import constant, is_given, set_interpolation, set_padding_mode

WHY = "compared on images in tests/data/test_transforms.py"


def text(before: str, after: str) -> list[Case]:
    return [Case(before.replace("T.", "torchvision.transforms."), after, runs=False, why=WHY)]


@rule(
    "torchvision.transforms.ToTensor",
    to="mindspore.dataset.vision.ToTensor",
    like="compat.ToTensor",
    differs="the result is a numpy array; the loader makes Tensors of whole batches",
    cases=text("T.ToTensor()", "ms_compat.ToTensor()")
    + text(
        "T.Compose([T.CenterCrop(4), T.ToTensor()])", "ms_compat.Compose([vision.CenterCrop(4), vision.ToTensor()])"
    ),
)
def to_tensor(call: Call) -> None:
    if not is_given(call, "pil"):
        call.use_like()  # torchvision leaves an array of floats unscaled; vision.ToTensor scales everything


@rule(
    "torchvision.transforms.Normalize",
    to="mindspore.dataset.vision.Normalize",
    args="mean std inplace",
    drop="inplace",
    like="compat.Normalize",
    differs="is_hwc=False says that the channels come first, as after ToTensor",
    cases=text("T.Normalize((0.5,), (0.5,))", "ms_compat.Normalize((0.5,), (0.5,))")
    + text(
        "T.Compose([T.ToTensor(), T.Normalize((0.5,), (0.5,))])",
        "ms_compat.Compose([ms_compat.ToTensor(), vision.Normalize((0.5,), (0.5,), is_hwc=False)])",
    ),
)
def normalize(call: Call) -> None:
    mean, std = constant(call, "mean"), constant(call, "std")
    if is_given(call, "array") and _in_range(mean, 0) and _in_range(std, 1e-9):
        call.set(is_hwc="False")
    else:
        call.use_like()


def _in_range(values: object, least: float) -> bool:
    """vision.Normalize takes numbers from 0 to 255."""
    return isinstance(values, list | tuple) and all(
        isinstance(each, int | float) and least <= each <= 255 for each in values
    )


@rule(
    "torchvision.transforms.Resize",
    to="mindspore.dataset.vision.Resize",
    args="size interpolation max_size antialias",
    drop="antialias",
    only={"max_size": "None"},
    like="compat.Resize",
    differs="unless images are square, an int stays with a helper: for one size in 2,000, vision.Resize makes the long side a pixel shorter",
    cases=text("T.Resize(256)", "ms_compat.Resize(256)")
    + text("T.Compose([T.Resize(8), T.ToTensor()])", "ms_compat.Compose([ms_compat.PILResize(8), vision.ToTensor()])")
    + text(
        "T.Compose([T.Resize((8, 9), 3), T.ToTensor()])",
        "ms_compat.Compose([vision.Resize((8, 9), vision.Inter.BICUBIC), vision.ToTensor()])",
    )
    + text(
        "torchvision.datasets.MNIST('d', transform=T.Compose([T.CenterCrop(20), T.Resize(8), T.ToTensor()]))",
        "ms_compat.MNIST('d', transform=ms_compat.Compose([vision.CenterCrop(20), "
        "vision.Resize(8, interpolation=vision.Inter.BILINEAR), vision.ToTensor()]))",
    ),
)
def resize(call: Call) -> None:
    size = constant(call, "size")
    is_pair = isinstance(size, list | tuple) and len(size) == 2
    is_square = is_given(call, "square") and not isinstance(size, list | tuple)
    if is_given(call, "pil") and (is_pair or is_square) and set_interpolation(call, "BILINEAR"):
        return
    call.use_like()
    if is_given(call, "pil"):
        call.use("compat.PILResize")


@rule(
    "torchvision.transforms.CenterCrop",
    to="mindspore.dataset.vision.CenterCrop",
    args="size",
    like="compat.CenterCrop",
    cases=text("T.CenterCrop(224)", "ms_compat.CenterCrop(224)"),
)
def center_crop(call: Call) -> None:
    if not is_given(call, "pil"):
        call.use_like()


@rule(
    "torchvision.transforms.Pad",
    to="mindspore.dataset.vision.Pad",
    args="padding fill padding_mode",
    rename={"fill": "fill_value"},
    like="compat.ImagePad",
    cases=text(
        "T.Compose([T.Pad(4, padding_mode='reflect'), T.ToTensor()])",
        "ms_compat.Compose([vision.Pad(4, padding_mode=vision.Border.REFLECT), vision.ToTensor()])",
    ),
)
def pad(call: Call) -> None:
    if not (is_given(call, "pil") and isinstance(call.literal("fill", 0), int) and set_padding_mode(call)):
        call.use_like()
