"""`python -m mindferry` is the `mindferry` command."""

from .cli import main

if __name__ == "__main__":  # worker processes import this file
    main()
