"""What a command prints. Names and messages come from other people's files: escape codes in them are spelled out."""

from __future__ import annotations

import click

from ..errors import printable


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    click.echo(printable(text, keeps_lines=True), err=err, nl=nl)
