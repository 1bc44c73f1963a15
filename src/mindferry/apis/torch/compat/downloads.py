"""torch.hub's downloads: MindSpore can't read what is there, so it is converted once and found by its name."""

import os
import urllib.parse

from .saving import load

CHECKPOINTS = os.path.join(os.path.expanduser("~"), ".cache", "mindspore", "checkpoints")


def load_state_dict_from_url(
    url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False
):
    """torch.hub.load_state_dict_from_url, from what was downloaded and converted before; nothing is fetched."""
    name = file_name or os.path.basename(urllib.parse.urlparse(url).path)
    path = os.path.join(model_dir or CHECKPOINTS, os.path.splitext(name.removesuffix(".tar"))[0] + ".ckpt")
    if not os.path.exists(path):
        command = f"mindferry weights convert --whole {name} -o {path}"
        raise FileNotFoundError(f"there is no {path}: download {url}, and run `{command}`")
    return load(path, weights_only=weights_only)
