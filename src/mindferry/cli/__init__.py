"""The `mindferry` command. Each file in this folder is one subcommand, found by name and imported when used."""

from __future__ import annotations

import importlib
import io
import os
import pkgutil
import sys
from typing import NoReturn

import click

from ..errors import MindferryError, printable

ORDER = (
    "migrate",
    "observe",
    "analyze",
    "convert",
    "weights",
    "verify",
    "train",
    "report",
)  # as they are needed; the others follow


class Commands(click.Group):
    """Finds subcommands by listing the folder, so that `mindferry env` doesn't import the report."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            import difflib

            close = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            hint = f"did you mean {close[0]}?" if close else "`mindferry` alone lists them."
            raise click.UsageError(f"No such command {args[0]!r}; {hint}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Whole first sentences, where click would cut them."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, command.get_short_help_str(200)) for name, command in commands if command is not None]
            )

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

    `mindferry COMMAND --help` shows examples of each. Results go to stdout, progress to stderr, --json prints data.
    Exit code 0: clean; 1: findings or a mismatch; 2: bad input; 3: a defect of mindferry's own.
    """


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file name that is no text is shown, and stops nothing
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.exit(130)
    except MindferryError as error:
        _refuse(printable(str(error), error.keeps_lines))
    except BrokenPipeError:  # nobody reads any more: `mindferry analyze | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(141)
    except OSError as error:
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        _refuse(printable(f"{place}{error.strerror or error}"))
    except MemoryError:
        _refuse("there is not enough memory for this; close something, or give a smaller part of the project")
    except Exception as error:
        _own_defect(error)


def _refuse(sentence: str) -> NoReturn:
    click.echo(f"mindferry: {sentence}", err=True)
    sys.exit(2)


def _own_defect(error: Exception) -> NoReturn:
    """Something that should not happen: where it happened goes into a file for the report."""
    import tempfile
    import traceback

    text = f"{' '.join(map(repr, sys.argv))}\n{sys.version}\n{''.join(traceback.format_exception(error))}"
    with tempfile.NamedTemporaryFile(
        "w", prefix="mindferry-defect-", suffix=".txt", delete=False, errors="replace"
    ) as out:
        out.write(text)
    what = printable(f"{type(error).__name__}: {str(error)[:200]}")
    click.echo(
        f"mindferry: this is a defect of mindferry's own ({what}); please report it to its issue tracker, with {out.name}",
        err=True,
    )
    sys.exit(3)
