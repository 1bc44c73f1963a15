"""Parts of torch's libraries that the table serves: what a project takes of them does not come along with `--with`."""

SERVED_PARTS = (
    "torchvision.transforms.",
    "torchvision.datasets.",
    "torchvision.utils.",
    "torchvision.io.",
    "torchvision.tv_tensors.",
)
