"""Raised where a piece of code can't be rewritten; the message says why, and becomes a finding."""

from __future__ import annotations


class Refused(Exception):
    """`raise Refused("its arguments can't be told")`."""
