"""torchvision.transforms.functional: helpers for PIL images, arrays and Tensors."""

from ... import rule
from .transforms import text

FUNCTIONS = {
    "to_tensor": ("to_tensor", "pic"),
    "pil_to_tensor": ("pil_to_tensor", "pic"),
    "to_pil_image": ("to_pil_image", "pic mode"),
    "convert_image_dtype": ("convert_image_dtype", "image dtype"),
    "get_dimensions": ("image_dimensions", "img"),
    "get_image_size": ("image_size", "img"),
    "_get_image_size": ("image_size", "img"),
    "_is_pil_image": ("is_pil", "img"),
    "resize": ("resize_image", "img size interpolation max_size antialias"),
    "crop": ("crop_image", "img top left height width"),
    "center_crop": ("center_crop_image", "img output_size"),
    "resized_crop": ("resized_crop_image", "img top left height width size interpolation antialias"),
    "five_crop": ("five_crop_image", "img size"),
    "ten_crop": ("ten_crop_image", "img size vertical_flip"),
    "pad": ("pad_image", "img padding fill padding_mode"),
    "hflip": ("hflip_image", "img"),
    "vflip": ("vflip_image", "img"),
    "normalize": ("normalize_image", "tensor mean std inplace"),
    "erase": ("erase_image", "img i j h w v inplace"),
    "rotate": ("rotate_image", "img angle interpolation expand center fill"),
    "affine": ("affine_image", "img angle translate scale shear interpolation fill center"),
    "perspective": ("perspective_image", "img startpoints endpoints interpolation fill"),
    "elastic_transform": ("elastic_image", "img displacement interpolation fill"),
    "adjust_brightness": ("adjust_brightness", "img brightness_factor"),
    "adjust_contrast": ("adjust_contrast", "img contrast_factor"),
    "adjust_saturation": ("adjust_saturation", "img saturation_factor"),
    "adjust_hue": ("adjust_hue", "img hue_factor"),
    "adjust_gamma": ("adjust_gamma", "img gamma gain"),
    "adjust_sharpness": ("adjust_sharpness", "img sharpness_factor"),
    "to_grayscale": ("grayscale_image", "img num_output_channels"),
    "rgb_to_grayscale": ("grayscale_image", "img num_output_channels"),
    "invert": ("invert_image", "img"),
    "posterize": ("posterize_image", "img bits"),
    "solarize": ("solarize_image", "img threshold"),
    "autocontrast": ("autocontrast_image", "img"),
    "equalize": ("equalize_image", "img"),
    "gaussian_blur": ("gaussian_blur_image", "img kernel_size sigma"),
}
ARRAYS = (
    "to_tensor",
    "pil_to_tensor",
)  # helpers that answer with an array, as a dataset wants it; elsewhere it becomes a Tensor
FIRST = {"pic": "image", "img": "image", "tensor": "image"}  # what the helpers call their first argument

for _name, (_helper, _args) in FUNCTIONS.items():
    _values = ", ".join("abcdefgh"[: len(_args.split())])
    _after = f"ms_compat.{_helper}({_values})"
    rule(
        f"torchvision.transforms.functional.{_name}",
        to=f"compat.{_helper}",
        args=_args,
        rename={}
        if _helper.startswith("adjust")
        else {key: value for key, value in FIRST.items() if key in _args.split()[:1]},
        like=f"compat.{_helper}",
        cases=text(f"T.functional.{_name}({_values})", f"ms.Tensor({_after})" if _name in ARRAYS else _after),
    )

rule(
    "torchvision.transforms.v2.functional.resize",
    to="compat.resize_image_v2",
    args="inpt size interpolation max_size antialias",
    rename={"inpt": "image"},
    like="compat.resize_image_v2",
    differs="the second version rounds bytes after each direction",
    cases=text("T.v2.functional.resize(a, b, c, d, e)", "ms_compat.resize_image_v2(a, b, c, d, e)"),
)
