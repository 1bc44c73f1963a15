"""torchvision.ops and torchvision.utils, and their conversions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from data_pairs import Both
from PIL import Image

SOURCE = "import torch\nimport torchvision\nfrom torchvision import ops, utils\n\n\ndef compute(boxes, others, scores, classes, masks, images):\n    return {0}\n"


def inputs() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 60, (40, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(1, 30, (40, 2))], 1).astype(np.float32)
    masks = rng.uniform(size=(3, 12, 15)) > 0.9
    images = rng.normal(size=(7, 3, 6, 5)).astype(np.float32)
    return [boxes, boxes[::3] + 4, rng.uniform(size=40).astype(np.float32), rng.integers(0, 3, 40), masks, images]


EXPRESSIONS = [
    "ops.box_area(boxes)",
    "ops.box_iou(boxes, others)",
    "ops.generalized_box_iou(boxes, others)",
    "ops.box_convert(boxes, 'xyxy', 'cxcywh')",
    "ops.box_convert(boxes, in_fmt='cxcywh', out_fmt='xywh')",
    "ops.box_convert(boxes, 'xywh', 'xyxy')",
    "ops.clip_boxes_to_image(boxes, (40, 50))",
    "ops.remove_small_boxes(boxes, 8.0)",
    "ops.masks_to_boxes(masks)",
    "ops.sigmoid_focal_loss(boxes / 30 - 1, torch.sigmoid(boxes) - 0.5, reduction='mean')",
    "ops.sigmoid_focal_loss(boxes / 30 - 1, torch.sigmoid(boxes) - 0.5, alpha=-1, gamma=3)",
    "ops.FrozenBatchNorm2d(3, eps=0.01)(images)",
    "utils.make_grid(images, nrow=3, padding=1, pad_value=0.5)",
    "utils.make_grid(images, normalize=True, scale_each=True)",
    "utils.make_grid(images, normalize=True, value_range=(-1, 1))",
    "utils.make_grid(images[:, :1], nrow=4)",
    "utils.make_grid(images[0])",
]


def run(both: Both, expression: str) -> tuple[np.ndarray, np.ndarray]:
    import mindspore as ms

    theirs, ours = both(SOURCE.format(expression))
    expected = theirs.compute(*(torch.from_numpy(each.copy()) for each in inputs()))
    return expected.numpy(), ours.compute(*(ms.Tensor(each) for each in inputs())).asnumpy()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_operator_computes_what_torchvisions_does(both: Both, expression: str) -> None:
    expected, actual = run(both, expression)
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    assert np.allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_nms_keeps_the_boxes_that_the_definition_keeps(both: Both) -> None:
    """The wheel's compiled nms does not load everywhere, so the reference is the definition."""
    import mindspore as ms

    ours = both(SOURCE.format("ops.nms(boxes, scores, 0.3), ops.batched_nms(boxes, scores, classes, 0.3)"))[1]
    boxes, _, scores, classes, *_ = inputs()
    kept, kept_by_class = (each.asnumpy().tolist() for each in ours.compute(*(ms.Tensor(each) for each in inputs())))

    def iou(a: int, b: int) -> float:
        width, height = np.minimum(boxes[a, 2:], boxes[b, 2:]) - np.maximum(boxes[a, :2], boxes[b, :2])
        inter = max(width, 0) * max(height, 0)
        area = [np.prod(boxes[i, 2:] - boxes[i, :2]) for i in (a, b)]
        return float(inter / (sum(area) - inter))

    for found, apart in ((kept, False), (kept_by_class, True)):
        expected: list[int] = []
        for box in np.argsort(-scores).tolist():
            if all(iou(box, other) <= 0.3 or (apart and classes[box] != classes[other]) for other in expected):
                expected.append(box)
        assert found == expected and 5 < len(found) < 40


def test_save_image_writes_the_same_file(both: Both, tmp_path: Path) -> None:
    import mindspore as ms

    source = SOURCE.format("utils.save_image(images, masks, nrow=4, normalize=True)")
    theirs, ours = both(source)
    arrays = inputs()
    theirs.compute(0, 0, 0, 0, str(tmp_path / "a.png"), torch.from_numpy(arrays[5]))
    ours.compute(0, 0, 0, 0, str(tmp_path / "b.png"), ms.Tensor(arrays[5]))
    one, other = (np.asarray(Image.open(tmp_path / f"{name}.png")).astype(int) for name in "ab")
    assert one.shape == other.shape and np.abs(one - other).max() <= 1 and np.ptp(one) > 100


@pytest.mark.parametrize("ratio", [2, -1])
@pytest.mark.parametrize("aligned", [True, False])
def test_roi_align_and_its_gradient_are_torchvisions(both: Both, ratio: int, aligned: bool) -> None:
    import mindspore as ms
    from torchvision.ops.roi_align import (
        _roi_align,  # the definition in Python; the compiled one does not load everywhere
    )

    rng = np.random.default_rng(4)
    features = rng.normal(size=(2, 3, 11, 13)).astype(np.float32)
    corners = rng.uniform(0, 12, (9, 2))
    rois = np.concatenate([rng.integers(0, 2, (9, 1)), corners, corners + rng.uniform(2, 10, (9, 2))], 1).astype(
        np.float32
    )
    source = SOURCE.format(f"ops.roi_align(boxes, others, (4, 5), 0.5, {ratio}, {aligned})")
    ours = both(source)[1]
    tensor = torch.from_numpy(features).requires_grad_()
    expected = _roi_align.__wrapped__(tensor, torch.from_numpy(rois), 0.5, 4, 5, ratio, aligned)
    cotangent = rng.normal(size=expected.shape).astype(np.float32)
    (expected * torch.from_numpy(cotangent)).sum().backward()

    def total(values: ms.Tensor) -> ms.Tensor:
        return (ours.compute(values, ms.Tensor(rois), 0, 0, 0, 0) * ms.Tensor(cotangent)).sum()

    actual = ours.compute(ms.Tensor(features), ms.Tensor(rois), 0, 0, 0, 0).asnumpy()
    assert np.allclose(actual, expected.detach().numpy(), atol=1e-5)
    assert np.allclose(ms.grad(total)(ms.Tensor(features)).asnumpy(), tensor.grad.numpy(), atol=1e-4)
    listed = [ms.Tensor(rois[rois[:, 0] == image, 1:]) for image in (0, 1)]
    order = np.argsort(rois[:, 0], kind="stable")
    assert np.allclose(ours.compute(ms.Tensor(features), listed, 0, 0, 0, 0).asnumpy(), actual[order], atol=1e-6)
