"""The tables as one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from ..artifacts import Inventory
from .sheets import sheets


def html(inventory: Inventory) -> str:
    import jinja2

    text = files("mindferry.analyze").joinpath("page.html").read_text("utf-8")
    style = text.partition("<style>")[2].partition("</style>")[0]
    page = jinja2.Environment(autoescape=True).from_string(text)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return page.render(inventory=inventory, sheets=sheets(inventory), style_hash=digest) + "\n"
