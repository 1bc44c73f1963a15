"""The `mindferry` command. Each file in this folder is one subcommand, found by name and imported when used."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import click

from ..errors import MindferryError


class Commands(click.Group):
    """Finds subcommands by listing the folder, so that `mindferry env` doesn't import the report."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mindferry")
def cli() -> None:
    """Carry a PyTorch project over to MindSpore, and prove that it arrived whole.

    \b
    mindferry migrate examples/resnet50_cifar10 -o build/resnet50_ms   everything, then a report
    mindferry convert model.py -o build/model_ms                       the code alone
    mindferry weights convert model.pth -o model.ckpt                  the weights alone

    Results go to stdout, progress to stderr. Exit code 0: clean; 1: findings or a mismatch; 2: bad input.
    """


def main() -> None:
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except click.exceptions.Abort:
        sys.exit(130)
    except MindferryError as error:
        click.echo(f"mindferry: {error}", err=True)
        sys.exit(2)
