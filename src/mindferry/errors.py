"""What a user did wrong, said in one sentence. The command line prints it and exits with code 2; no traceback."""

from __future__ import annotations


class MindferryError(Exception):
    """Bad input or a missing prerequisite. The message names the thing and says what to do next."""

    keeps_lines = False  # True: the message has further lines, such as the last ones of a log


class OtherNetworkError(MindferryError):
    """A call makes something else than the network that was asked for: its weights do not fit, or it is no network."""


def printable(text: str, keeps_lines: bool = False) -> str:
    """Text for a terminal: what a hostile file name does there (escape codes, line breaks) is spelled out instead."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or (keeps_lines and char in "\n\t") else repr(char)[1:-1] for char in text
    )


def brief(value: object) -> str:
    """Something from a file, short enough for a sentence."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."
