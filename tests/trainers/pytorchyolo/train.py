"""pytorchyolo's train.run on drawn boxes, with a small darknet of its own format."""

import os
import sys

import numpy as np
from PIL import Image

CONFIG = """[net]
batch=4
subdivisions=1
width=64
height=64
channels=3
momentum=0.9
decay=0.0005
learning_rate=0.001
burn_in=10
max_batches=500
policy=steps
steps=400,450
scales=.1,.1

[convolutional]
batch_normalize=1
filters=8
size=3
stride=2
pad=1
activation=leaky

[convolutional]
batch_normalize=1
filters=16
size=3
stride=2
pad=1
activation=leaky

[convolutional]
batch_normalize=1
filters=16
size=3
stride=1
pad=1
activation=leaky

[shortcut]
from=-2
activation=linear

[convolutional]
batch_normalize=1
filters=32
size=3
stride=2
pad=1
activation=leaky

[convolutional]
size=1
stride=1
pad=1
filters=21
activation=linear
batch_normalize=0

[yolo]
mask = 0,1,2
anchors = 10,14, 23,27, 37,58
classes=2
num=3
"""

rng = np.random.RandomState(0)
os.makedirs("yolo/images", exist_ok=True)
os.makedirs("yolo/labels", exist_ok=True)
paths = []
for i in range(24):
    picture = rng.randint(0, 60, (64, 64, 3)).astype(np.uint8)
    x, y, size = rng.randint(5, 30), rng.randint(5, 30), rng.randint(12, 28)
    kind = i % 2
    picture[y : y + size, x : x + size, kind] += 150
    paths.append(os.path.abspath(f"yolo/images/{i}.png"))
    Image.fromarray(picture).save(paths[-1])
    with open(f"yolo/labels/{i}.txt", "w") as f:
        f.write(f"{kind} {(x + size / 2) / 64} {(y + size / 2) / 64} {size / 64} {size / 64}\n")
for name, text in {"tiny.cfg": CONFIG, "files.txt": "\n".join(paths) + "\n", "names.txt": "red\ngreen\n",
                   "tiny.data": "classes=2\ntrain=yolo/files.txt\nvalid=yolo/files.txt\nnames=yolo/names.txt\n"}.items():  # fmt: skip
    with open(f"yolo/{name}", "w") as f:
        f.write(text)

from pytorchyolo.train import run  # noqa: E402

sys.argv[1:] = ["-m", "yolo/tiny.cfg", "-d", "yolo/tiny.data", "-e", "10", "--n_cpu", "0", "--seed", "1", "--evaluation_interval", "100",
                "--checkpoint_interval", "100"]  # fmt: skip
run()
