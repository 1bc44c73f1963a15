"""The facts of a file together with its text as far as it is converted: what a lifted step looks like depends on both."""

from __future__ import annotations

from ...facts import Facts
from ...plan import Texts


class Draft(Facts):
    def __init__(self, facts: Facts, texts: Texts) -> None:
        super().__init__(facts.reading, facts.rules, facts.settings, facts.is_notebook, facts._derived)
        self.texts = texts
