"""What a library can't be installed without comes along too, where it needs torch; einx has something to stand in for it."""

from __future__ import annotations

from pathlib import Path

import torch
from installed_packages import install, project, run_without

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

OUTER = {
    "__init__.py": """
        import torch.nn as nn
        from einx import subtract, where
        from torch_small_tools import halved

        class Scaler(nn.Module):
            def forward(self, x):
                distance = subtract("j, i -> i j", x[0], x[1])
                return where("i j, j,", distance > 0, halved(x[1]), -1.0)
        """
}
TOOLS = {"__init__.py": "import torch\n\ndef halved(x):\n    return torch.mul(x, 0.5)\n"}
MAIN = """
    import torch
    from outer import Scaler

    def made(values):
        return Scaler()(torch.tensor(values)).tolist()
    """


def test_a_requirement_that_needs_torch_comes_along_by_itself(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site, "outer", OUTER, requires="torch-small-tools\nRequires-Dist: einx")
    install(site, "torch_small_tools", TOOLS)
    install(site, "einx", {"__init__.py": "def subtract(): ...\n"}, requires="numpy")
    install(site, "unrelated", {"__init__.py": "import torch\n"})
    source = project(tmp_path / "mine", {"main.py": MAIN})
    settings = Settings(packages=("outer",), sites=(str(site),))
    record = convert_project(source, tmp_path / "out", settings=settings)
    assert [each.message for file in record.files for each in file.findings if each.severity == "error"] == []
    carried = {path.name for path in (tmp_path / "out/ported").iterdir() if path.is_dir()}
    assert carried == {"outer", "torch_small_tools", "einx"}
    values = [[0.5, 2.0, -1.0], [1.0, 0.25, 3.0]]
    x = torch.tensor(values)
    distance = x[0][None] - x[1][:, None]
    wanted = torch.where(distance > 0, x[1][None] * 0.5, torch.tensor(-1.0)).tolist()
    code = f"import main\nprint(main.made({values}))"
    got = run_without({"outer", "torch_small_tools", "einx"}, tmp_path / "out", code)
    assert eval(got) == wanted


def test_a_requirement_whose_licence_forbids_copies_stays_behind(tmp_path: Path) -> None:
    site = tmp_path / "site"
    plain = {"__init__.py": "from torch_small_tools import halved\n\ndef used(x):\n    return x\n"}
    install(site, "outer", plain, requires="torch-small-tools")
    install(site, "torch_small_tools", TOOLS, licence="Proprietary")
    source = project(tmp_path / "mine", {"main.py": "import torch\nfrom outer import used\nused(torch.ones(2))\n"})
    convert_project(source, tmp_path / "out", settings=Settings(packages=("outer",), sites=(str(site),)))
    assert not (tmp_path / "out/ported/torch_small_tools").exists()


def test_the_stand_in_for_einx_permutes_reduces_and_looks_up() -> None:
    from mindferry.library.stand_ins import einx

    chance = torch.Generator().manual_seed(3)
    x, y = torch.randn(2, 3, 4, generator=chance), torch.randn(4, 3, generator=chance)
    index = torch.randint(0, 3, (2, 5), generator=chance)
    assert torch.equal(einx.multiply("b n d, d n", x, y), x * y.T[None])
    assert torch.equal(einx.subtract("... j, ... i -> ... i j", x, x), x[..., None, :] - x[..., None])
    assert torch.equal(einx.less("j, i -> 1 i j", y[0], y[1]), (y[0][None] < y[1][:, None])[None])
    assert torch.allclose(einx.sum("b [n] d", x), x.sum(1))
    assert torch.allclose(einx.mean("... d -> ...", x), x.mean(-1))
    assert torch.equal(einx.get_at("b [n] d, b i -> b i d", x, index), x[torch.arange(2)[:, None], index])
    assert torch.equal(einx.get_at("b n [d], b n -> b n", x, index[:, :3]), x.gather(2, index[:, :3, None])[..., 0])


def test_torchvision_comes_along_for_networks_that_derive_from_its_own(tmp_path: Path) -> None:
    from mindferry.library.packages import find_package
    from mindferry.library.required_packages import builds_on_vision

    site = tmp_path / "site"
    install(site, "deriving", {"net.py": "from torchvision.models.resnet import ResNet\n", "__init__.py": ""})
    install(site, "looking", {"__init__.py": "from torchvision import transforms\n"})
    install(site, "hooking", {"__init__.py": "from torchvision.models.feature_extraction import create\n"})
    found = {name: builds_on_vision(find_package(name, [site])) for name in ("deriving", "looking", "hooking")}
    assert found == {"deriving": True, "looking": False, "hooking": False}
