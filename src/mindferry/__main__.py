"""`python -m mindferry` is the `mindferry` command."""

from .cli import main

main()
