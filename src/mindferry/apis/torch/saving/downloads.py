"""torch.hub and model_zoo: what they fetch are PyTorch files and PyTorch code, which MindSpore can't read."""

from ... import Case, rule
from ..._call import Call

FILE = "download it once, run `mindferry weights convert FILE -o FILE.ckpt`, and load that with ms.load_checkpoint"

rule(
    "torch.hub.load_state_dict_from_url",
    missing="the address holds PyTorch weights",
    strategy="equivalent",
    advice=FILE,
)
rule("torch.utils.model_zoo.load_url", missing="the address holds PyTorch weights", strategy="equivalent", advice=FILE)
rule(
    "torch.hub.load",
    missing="it runs a repository's PyTorch code",
    strategy="wrapper",
    advice="clone the repository, convert it with `mindferry convert`, its weights with `mindferry weights convert`, and import the model",
)
rule("torch.hub.list", missing="it reads a repository's PyTorch code", strategy="not needed", advice="leave it out")
rule("torch.hub.help", missing="it reads a repository's PyTorch code", strategy="not needed", advice="leave it out")
rule(
    "torch.hub.download_url_to_file",
    missing="MindSpore has no download helper",
    strategy="equivalent",
    advice="urllib.request.urlretrieve(url, dst) from the standard library",
)


@rule(
    "torch.hub.get_dir",
    differs="a folder of MindSpore's own",
    cases=[
        Case(
            "torch.hub.get_dir()",
            "os.path.join(os.path.expanduser('~'), '.cache', 'mindspore')",
            runs=False,
            why="a folder's name",
        ),
    ],
)
@rule(
    "torch.hub._get_torch_home",
    differs="a folder of MindSpore's own",
    cases=[
        Case(
            "torch.hub._get_torch_home()",
            "os.path.join(os.path.expanduser('~'), '.cache', 'mindspore')",
            runs=False,
            why="a folder's name",
        ),
    ],
)
def cache_folder(call: Call) -> None:
    path = call.name("os.path")
    call.replace(f"{path}.join({path}.expanduser('~'), '.cache', 'mindspore')")


rule("torch.hub.set_dir", missing="there is no hub folder", strategy="not needed", advice="leave it out")
