"""safetensors.torch and safetensors.safe_open: the files are the same ones, their tensors MindSpore's."""

from ... import Case, rule

FILE = "files are the business of tests/optim/test_safetensors.py"

for name, helper, call in (
    ("torch.load_file", "safe_load_file", '("net.safetensors")'),
    ("torch.save_file", "safe_save_file", '({}, "net.safetensors")'),
    ("torch.load", "safe_load", '(b"")'),
    ("torch.save", "safe_save", "({})"),
    ("torch.load_model", "safe_load_model", '(nn.ReLU(), "net.safetensors")'),
    ("torch.save_model", "safe_save_model", '(nn.ReLU(), "net.safetensors")'),
    ("safe_open", "SafeFile", '("net.safetensors", framework="pt")'),
):
    rule(
        f"safetensors.{name}",
        to=f"compat.{helper}",
        like=f"compat.{helper}",
        cases=[Case(f"safetensors.{name}{call}", f"ms_compat.{helper}{call}", runs=False, why=FILE)],
    )
