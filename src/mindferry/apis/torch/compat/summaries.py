"""torch.utils.tensorboard.SummaryWriter on MindSpore's own event files."""

import atexit
import json
import os
import time

import mindspore as ms
import numpy as np

OPEN_RECORDS = {}  # by folder: MindSpore opens one at a time, which takes what a second writer gets too, under its folder's name


class SummaryWriter:
    """Scalars, images and histograms go into a mindspore.SummaryRecord; texts, graphs, figures and sounds are not kept."""

    def __init__(self, log_dir=None, comment="", *settings, **options):
        self.log_dir = str(log_dir) if log_dir else os.path.join("runs", f"events{comment}")
        self.logdir = self.log_dir  # as tensorboardX calls it
        self.step, self.scalars = 0, {}

    def get_logdir(self):
        return self.log_dir

    def _add(self, kind, tag, value, step):
        if not OPEN_RECORDS:  # the first value opens the file
            OPEN_RECORDS[self.log_dir] = ms.SummaryRecord(self.log_dir)
            atexit.register(self.close)
        [(home, record)] = OPEN_RECORDS.items()
        tag = tag if home == self.log_dir else f"{os.path.basename(os.path.normpath(self.log_dir))}/{tag}"
        self.step = self.step + 1 if step is None else int(step)
        record.add_value(kind, tag.replace(" ", "_"), ms.Tensor(np.asarray(value), ms.float32))
        record.record(self.step)

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, *settings, **options):
        value = scalar_value.asnumpy() if hasattr(scalar_value, "asnumpy") else scalar_value
        self._add("scalar", tag, value, global_step)
        at = time.time() if walltime is None else walltime
        self.scalars.setdefault(f"{self.log_dir}/{tag}", []).append([at, self.step, float(np.asarray(value).item())])

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        for tag, value in tag_scalar_dict.items():
            self.add_scalar(f"{main_tag}/{tag}", value, global_step)

    def add_histogram(self, tag, values, global_step=None, *settings, **options):
        self._add("histogram", tag, values.asnumpy() if hasattr(values, "asnumpy") else values, global_step)

    def add_image(self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"):
        picture = np.asarray(img_tensor.asnumpy() if hasattr(img_tensor, "asnumpy") else img_tensor, np.float32)
        self._add("image", tag, (picture if dataformats == "CHW" else picture.transpose(2, 0, 1))[None], global_step)

    def add_images(self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"):
        pictures = img_tensor.asnumpy() if hasattr(img_tensor, "asnumpy") else img_tensor
        for number, picture in enumerate(pictures):
            self.add_image(f"{tag}/{number}", picture, global_step, walltime, dataformats.replace("N", ""))

    def export_scalars_to_json(self, path):
        with open(path, "w") as file:
            json.dump(self.scalars, file)

    def add_video(self, *arguments, **options):
        pass

    def add_audio(self, *arguments, **options):
        pass

    def add_embedding(self, *arguments, **options):
        pass

    def add_pr_curve(self, *arguments, **options):
        pass

    def add_mesh(self, *arguments, **options):
        pass

    def add_custom_scalars(self, *arguments, **options):
        pass

    def add_text(self, *arguments, **options):
        pass

    def add_graph(self, *arguments, **options):
        pass

    def add_figure(self, *arguments, **options):
        pass

    def add_hparams(self, *arguments, **options):
        pass

    def flush(self):
        for record in OPEN_RECORDS.values():
            record.flush()

    def close(self):
        record = OPEN_RECORDS.pop(self.log_dir, None)
        if record is not None:
            record.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
