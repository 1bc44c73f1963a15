"""torch.hub's downloads: MindSpore can't read what is there, so it is converted once and found by its name."""

import hashlib
import os
import urllib.parse
import urllib.request

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


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """torch.hub.download_url_to_file."""
    with urllib.request.urlopen(urllib.request.Request(url, headers={"User-Agent": "python"})) as found:
        content = found.read()
    told = hashlib.sha256(content).hexdigest()[: len(hash_prefix or "")]
    if told != (hash_prefix or ""):
        raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{told}")')
    with open(os.path.expanduser(dst), "wb") as file:
        file.write(content)


def download_url(url, root, filename=None, md5=None, max_redirect_hops=3):
    """torchvision.datasets.utils.download_url: a file that is there, and is the right one, is not fetched again."""
    path = os.path.join(os.path.expanduser(root), filename or os.path.basename(url))
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if not _is_whole(path, md5):
        download_url_to_file(url, path)
        if not _is_whole(path, md5):
            raise RuntimeError("File not found or corrupted.")


def _is_whole(path, md5):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return md5 is None or hashlib.md5(file.read()).hexdigest() == md5
