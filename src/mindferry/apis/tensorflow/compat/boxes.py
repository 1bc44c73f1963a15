"""tf.image.non_max_suppression: boxes that overlap a better one go."""

import numpy as np
from mindspore import Tensor

from .tensors import as_tensor


def shared_area(box, boxes):
    """Intersection over union of one box with each of several: (y1, x1, y2, x2), corners in any order."""
    low, high = (np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:]))
    own_low, own_high = np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])
    inner = np.prod(np.clip(np.minimum(high, own_high) - np.maximum(low, own_low), 0, None), 1)
    union = np.prod(high - low, 1) + np.prod(own_high - own_low) - inner
    return np.where(union > 0, inner / np.where(union > 0, union, 1), 0.0)


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    boxes, scores = (
        np.asarray(each.asnumpy() if isinstance(each, Tensor) else each, np.float32) for each in (boxes, scores)
    )
    left = [place for place in np.argsort(-scores, kind="stable") if scores[place] > score_threshold]
    kept = []
    while left and len(kept) < int(max_output_size):
        best = left.pop(0)
        kept.append(best)
        shares = shared_area(boxes[best], boxes[left]) if left else ()
        left = [place for place, share in zip(left, shares) if share <= iou_threshold]
    return as_tensor(np.array(kept, np.int32))
