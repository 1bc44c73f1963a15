"""`T.RandomCrop.get_params(image, size)`: what a random transform draws, for an image and its mask to get the same."""

from ... import Case, rule

for _name, _args, _given in (
    ("RandomCrop", "img output_size", "x, output_size=(4, 4)"),
    ("RandomResizedCrop", "img scale ratio", "x, scale=(0.5, 1.0), ratio=(0.75, 1.33)"),
    ("RandomRotation", "degrees", "[-10, 10]"),
    ("RandomAffine", "degrees translate scale_ranges shears img_size", "[-10, 10], None, None, None, [4, 4]"),
    ("RandomPerspective", "width height distortion_scale", "4, 4, 0.5"),
    ("RandomErasing", "img scale ratio value", "x, (0.02, 0.33), (0.3, 3.3)"),
    ("ElasticTransform", "alpha sigma size", "[50.0, 50.0], [5.0, 5.0], [4, 4]"),
    ("ColorJitter", "brightness contrast saturation hue", "(0.5, 1.5), None, None, None"),
    ("GaussianBlur", "sigma_min sigma_max", "0.1, 2.0"),
):
    rule(
        f"torchvision.transforms.{_name}.get_params",
        to=f"compat.{_name}.get_params",
        args=_args,
        like=f"compat.{_name}.get_params",
        cases=[
            Case(
                f"torchvision.transforms.{_name}.get_params({_given})",
                f"ms_compat.{_name}.get_params({_given})",
                inputs=("float32[3,8,8]",),
                runs=False,
                why="draws random numbers",
            )
        ],
    )
