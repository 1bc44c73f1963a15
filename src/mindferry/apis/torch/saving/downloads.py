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
for _names, _helper, _args, _given in (
    (
        ("torch.hub.download_url_to_file", "torch.hub._download_url_to_file"),
        "download_url_to_file",
        "url dst hash_prefix progress",
        "'https://a.b/cat.jpg', 'cat.jpg'",
    ),
    (
        ("torchvision.datasets.utils.download_url", "torchvision.datasets.download_url"),
        "download_url",
        "url root filename md5 max_redirect_hops",
        "'https://a.b/cat.jpg', 'data', md5='00'",
    ),
):
    for _name in _names:
        rule(
            _name,
            to=f"compat.{_helper}",
            args=_args,
            like=f"compat.{_helper}",
            cases=[Case(f"{_name}({_given})", f"ms_compat.{_helper}({_given})", runs=False, why=WHY)],
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
