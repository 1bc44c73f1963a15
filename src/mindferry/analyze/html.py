"""The tables as one self-contained HTML page."""

from __future__ import annotations

from ..artifacts import Inventory
from .sheets import sheets


def html(inventory: Inventory) -> str:
    import jinja2

    environment = jinja2.Environment(loader=jinja2.PackageLoader("mindferry.analyze", "."), autoescape=True)
    return environment.get_template("page.html").render(inventory=inventory, sheets=sheets(inventory)) + "\n"
