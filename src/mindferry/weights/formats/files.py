"""Open a checkpoint by what is in it, write one by its name."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...errors import MindferryError
from ...files import complete_or_absent, remove_abandoned, write_text
from .bundle import index_of, is_bundle, read_bundle
from .ckpt import check_ckpt, read_ckpt, write_ckpt
from .entry import Advance, Checkpoint, Entry, silent
from .keras import MAGIC as H5_MAGIC
from .keras import check_keras, holds_keras, read_keras, write_keras
from .limits import bad
from .pth import LEGACY_MAGIC, ZIP_MAGIC, read_pth
from .pth_write import write_pth
from .safetensors import check_safetensors, read_safetensors, write_safetensors
from .sharded import index_text, read_sharded, shard_names, split

INDEX = ".index.json"
TORCH_SUFFIXES = (".pth", ".pt", ".bin")
WRITABLE = "a name that ends in .ckpt, .safetensors, .pth or .weights.h5"


def open_checkpoint(path: Path, key: str | None = None, allowed: frozenset[str] = frozenset()) -> Checkpoint:
    """List a file's tensors. Nothing in it is run, and no more than its headers is read."""
    if not path.exists() and is_bundle(path):  # model.ckpt-100 stands for its .index and its .data files
        path = path.with_name(path.name + ".index")
    if not path.exists():
        raise bad(path, "doesn't exist; check the path")
    if path.is_dir():
        path = _index_in(path)
    if not path.is_file():
        raise bad(path, "is no regular file")  # a pipe would be waited for
    if path.name.endswith(INDEX):
        checkpoint = read_sharded(path, lambda shard: open_checkpoint(shard, None, allowed))
    else:
        checkpoint = _open_single(path, key, allowed)
    if key and key != checkpoint.key:
        raise bad(path, f"is no training checkpoint: there is no {key!r} to choose in it; leave --key out")
    return checkpoint


def _open_single(path: Path, key: str | None, allowed: frozenset[str]) -> Checkpoint:
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError as error:
        raise bad(path, f"cannot be read ({error.strerror}); check the path") from None
    if not head:
        raise bad(path, "is empty")
    if head.startswith(H5_MAGIC) or path.suffix == ".keras" or (head.startswith(ZIP_MAGIC) and holds_keras(path)):
        return read_keras(path)
    if path.suffix == ".index":
        return read_bundle(path)
    is_pickle = head[:1] == b"\x80" and path.suffix not in (".safetensors", ".ckpt")
    if head.startswith((ZIP_MAGIC, LEGACY_MAGIC)) or is_pickle or path.suffix in TORCH_SUFFIXES:
        return read_pth(path, key, allowed)
    if path.suffix == ".safetensors" or head[8:9] == b"{":
        return read_safetensors(path)
    if path.suffix == ".ckpt" or head[:1] == b"\n":
        return read_ckpt(path)
    known = ".pth, .pt, .bin, .safetensors, .ckpt, .h5, .keras and TensorFlow's .index"
    raise bad(path, f"is no checkpoint that mindferry knows; it reads {known}")


def _index_in(folder: Path) -> Path:
    table = index_of(folder)
    if table is not None:
        return table
    found = sorted(folder.glob(f"*{INDEX}")) or [p for s in (".safetensors", ".bin") for p in folder.glob(f"*{s}")]
    if len(found) != 1:
        raise bad(folder, f"is a folder with {len(found)} indexes or checkpoints; name the file")
    return found[0]


def check_writable(path: Path, entries: Sequence[Entry]) -> None:
    """Refuse, before anything is written, a name or a type that the format can't hold."""
    if path.suffix == ".ckpt":
        check_entry = check_ckpt
    elif path.suffix == ".safetensors":
        check_entry = check_safetensors
    elif path.suffix in TORCH_SUFFIXES:
        return
    elif path.name.endswith(".weights.h5"):
        check_entry = check_keras
    else:
        raise MindferryError(f"cannot tell the format of {path}; give -o {WRITABLE}")
    for entry in entries:
        check_entry(entry)


def write_checkpoint(
    path: Path,
    entries: Sequence[Entry],
    style: str,
    *,
    shard_bytes: int = 0,
    check: Callable[[], None] = lambda: None,
    advance: Advance = silent,
    force: bool = True,
    sources: Sequence[Path] = (),
) -> None:
    """Write by suffix; `style` is the framework that safetensors' metadata names. Complete, or absent.

    `check` runs beside the copying, on another core, and keeps the files from their names if it raises.
    Without `force` no file is replaced; one of `sources` never is.
    """
    check_writable(path, entries)
    groups, names = [list(entries)], [path.name]
    if shard_bytes:
        if path.suffix != ".safetensors":
            raise MindferryError(f"only safetensors can be sharded, and {path} is none; leave --shard out or change -o")
        groups = split(entries, shard_bytes)
        names = shard_names(path, len(groups))
    for name in [*names, path.name + INDEX] if shard_bytes else names:
        check_free(path.with_name(name), sources, force)
    remove_abandoned(path.parent)
    with _beside(check) as done, contextlib.ExitStack() as files:
        for group, name in zip(groups, names, strict=True):
            partial = files.enter_context(complete_or_absent(path.with_name(name)))
            _write(path, partial, group, style, advance)
        done()  # raises before any file gets its name
    if shard_bytes:
        write_text(path.with_name(path.name + INDEX), index_text(groups, names))


def check_free(path: Path, sources: Sequence[Path], force: bool) -> None:
    """Refuse to replace the original, and anything else without being asked to."""
    if any(path.exists() and source.exists() and path.samefile(source) for source in sources):
        raise MindferryError(f"{path} is the file that is being converted; give another name with -o")
    if path.is_dir():
        raise MindferryError(f"{path} is a folder; give a file with -o")
    if not force and (path.exists() or path.is_symlink()):
        raise MindferryError(f"{path} exists already; give another name with -o, or --force to replace it")


@contextlib.contextmanager
def _beside(check: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Run `check` on another core; yield what waits for it and raises what it raised."""
    failures: list[Exception] = []

    def run() -> None:
        try:
            check()
        except Exception as error:
            failures.append(error)

    def done() -> None:
        thread.join()
        if failures:
            raise failures[0]

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield done
    finally:
        thread.join()


def _write(path: Path, partial: Path, entries: Sequence[Entry], style: str, advance: Advance) -> None:
    if path.suffix == ".ckpt":
        write_ckpt(partial, entries, advance)
    elif path.suffix == ".safetensors":
        write_safetensors(partial, entries, {"format": style}, advance)
    elif path.name.endswith(".weights.h5"):
        write_keras(partial, entries, advance)
    else:
        write_pth(partial, entries, advance)
