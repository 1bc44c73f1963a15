"""torchvision.ops and torchvision.utils."""

from ... import Case, rule
from ..._call import Call

WHY = "compared with torchvision in tests/data/test_vision_ops.py"
FUNCTIONS = {
    "ops.box_area": ("boxes", "(b)"),
    "ops.box_iou": ("boxes1 boxes2", "(b, c)"),
    "ops.generalized_box_iou": ("boxes1 boxes2", "(b, c)"),
    "ops.box_convert": ("boxes in_fmt out_fmt", "(b, 'xyxy', 'xywh')"),
    "ops.clip_boxes_to_image": ("boxes size", "(b, (480, 640))"),
    "ops.remove_small_boxes": ("boxes min_size", "(b, 1.0)"),
    "ops.nms": ("boxes scores iou_threshold", "(b, s, 0.5)"),
    "ops.batched_nms": ("boxes scores idxs iou_threshold", "(b, s, i, 0.5)"),
    "ops.masks_to_boxes": ("masks", "(m)"),
    "ops.sigmoid_focal_loss": ("inputs targets alpha gamma reduction", "(p, t, reduction='mean')"),
    "ops.roi_align": (
        "input boxes output_size spatial_scale sampling_ratio aligned",
        "(f, b, (7, 7), 0.25, aligned=True)",
    ),
    "ops.RoIAlign": ("output_size spatial_scale sampling_ratio aligned", "(7, 0.25, 2)"),
    "ops.FrozenBatchNorm2d": ("num_features eps", "(64)"),
    "utils.make_grid": ("tensor nrow padding normalize value_range scale_each pad_value", "(b, nrow=4)"),
    "utils.save_image": ("tensor fp format", "(b, 'grid.png', nrow=4, normalize=True)"),
}

for _api, (_args, _call) in FUNCTIONS.items():
    _name = _api.partition(".")[2]
    rule(
        f"torchvision.{_api}",
        to=f"compat.{_name}",
        args=_args,
        like=f"compat.{_name}",
        params={each: each for each in ("weight", "bias", "running_mean", "running_var")}
        if _name == "FrozenBatchNorm2d"
        else {},
        cases=[Case(f"torchvision.{_api}{_call}", f"ms_compat.{_name}{_call}", runs=False, why=WHY)],
    )

rule(
    "torch.ops.torchvision.nms",
    to="compat.nms",
    args="dets scores iou_threshold",
    like="compat.nms",
    cases=[
        Case("torch.ops.torchvision.nms(b, s, 0.5)", "ms_compat.nms(b, s, 0.5)", runs=False, why=WHY),
    ],
)


@rule(
    "torch.ops.torchvision.roi_align",
    args="input rois spatial_scale pooled_height pooled_width sampling_ratio aligned",
    cases=[
        Case(
            "torch.ops.torchvision.roi_align(f, b, 0.25, 7, 7, 2, True)",
            "ms_compat.roi_align(f, b, (7, 7), 0.25, 2, True)",
            runs=False,
            why=WHY,
        ),
    ],
)
def compiled_roi_align(call: Call) -> None:
    names = ("input", "rois", "spatial_scale", "pooled_height", "pooled_width", "sampling_ratio", "aligned")
    if not all(map(call.has, names)):
        call.leave("not all seven arguments are given", "call torchvision.ops.roi_align")
        return
    x, rois, scale, height, width, ratio, aligned = map(call.text, names)
    call.replace(f"{call.name('compat.roi_align')}({x}, {rois}, ({height}, {width}), {scale}, {ratio}, {aligned})")


for _api in ("ops.DeformConv2d", "ops.deform_conv2d"):
    rule(
        f"torchvision.{_api}",
        missing="MindSpore's deformable convolution (ops.deformable_conv2d) runs on Ascend and GPU only, and orders the offsets otherwise",
        strategy="wrapper",
        advice="keep the layer and write a wrapper over mindspore.ops.deformable_conv2d, or gather the samples with grid_sample",
    )
