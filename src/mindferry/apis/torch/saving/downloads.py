"""torch.hub and model_zoo: what they fetch are PyTorch files, which are converted once, and PyTorch code, which MindSpore can't run."""

from ... import Case, rule
from ..._call import Call

WHY = "reads a file; tests/weights/test_downloads.py does so"
ONCE = "nothing is downloaded: it reads what `mindferry weights convert --whole` has made of that file"

for _name in ("torch.hub.load_state_dict_from_url", "torch.utils.model_zoo.load_url"):

    @rule(
        _name,
        to="compat.load_state_dict_from_url",
        args="url model_dir map_location progress check_hash file_name weights_only",
        drop="map_location progress check_hash",
        positional=2,
        like="compat.load_state_dict_from_url",
        differs=ONCE,
        cases=[
            Case(
                f"{_name}('https://a.b/net.pth', progress=True, map_location='cpu')",
                "ms_compat.load_state_dict_from_url('https://a.b/net.pth')",
                runs=False,
                why=WHY,
            )
        ],
    )
    def load_state_dict_from_url(call: Call) -> None:
        call.warning = ONCE


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
