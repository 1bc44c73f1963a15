"""One network that is tried, and the file of a project that makes it."""

from __future__ import annotations

from dataclasses import dataclass

GENERATE = """

def tokens(model, batch):
    ids = batch["input_ids"]
    return model.generate(ids, max_new_tokens=20, min_new_tokens=20, do_sample=False, pad_token_id=0)
"""


@dataclass(frozen=True, slots=True)
class Network:
    library: str
    name: str
    imports: str
    build: str  # an expression
    batch: dict[str, str]  # keyword, or '' for the only argument -> 'float[2,3]'
    take: str = "found[0]"  # of what the network returns
    outputs: str = ""  # the body of a function of model and batch, where it is more than a call
    detects: bool = False  # its scores decide which boxes are kept

    @property
    def generates(self) -> bool:
        return self.name.endswith(("ForCausalLM", "LMHeadModel"))

    @property
    def text(self) -> str:
        call = "model(*batch.values())" if "" in self.batch else "model(**batch)"
        body = self.outputs or f"    found = {call}\n    return {self.take}\n"
        text = f"{self.imports}\n\n\ndef build():\n    return {self.build}\n\n\ndef outputs(model, batch):\n{body}"
        text += GENERATE if self.generates else ""
        return text + "\n\nDETECTS = True\n" if self.detects else text
