"""What a conversion's observed run lets the later commands do without a mindferry.toml: its networks, its training command."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from .apis import SOURCES
from .artifacts import STATE, Comparison, Finding
from .config import Train
from .errors import OtherNetworkError
from .files import complete_or_absent
from .observation import Observation, load_observation
from .observe.use import Comparable, comparables, training_of
from .observe.verified import as_the_run_reached, joined, reached_in_any_way

OBSERVED = "observed.zip"

Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NetworksCompared:
    """The comparison of all, those that it speaks of, and why others are not among them."""

    comparison: Comparison
    compared: tuple[Comparable, ...]
    missing: tuple[str, ...]


def archive_of(converted: Path) -> Path:
    """Where a conversion keeps what its run showed."""
    return converted / STATE / OBSERVED


def keep_archive(observed: Path, converted: Path) -> None:
    """Beside the conversion, for the commands that come later."""
    target = archive_of(converted)
    if observed.resolve() != target.resolve():
        with complete_or_absent(target) as partial:
            shutil.copyfile(observed, partial)


def is_observed(converted: Path) -> bool:
    return archive_of(converted).is_file()


def outside_of_run(output: Path, found: list[Finding]) -> list[Finding]:
    """Findings at places that the observed run did not come by."""
    from .report.reach import is_passed_by

    seen = load_observation(archive_of(output)) if found and is_observed(output) else None
    return [each for each in found if is_passed_by(seen, each.path, each.line)]


def verify_networks(converted: Path, observation: Observation, show: Show) -> NetworksCompared:
    """The networks that the run built, on the inputs that it gave them, with the weights that it left them."""
    from .frameworks.process import WorkerError

    results, compared = [], []
    with tempfile.TemporaryDirectory(prefix="mindferry-observed-") as folder:
        found, missing = comparables(observation, archive_of(converted), Path(folder))
        for each in found:
            try:
                fitting, result = _verify_fitting(converted, each, show)
                results.append(as_the_run_reached(result, observation))
                compared.append(fitting)
            except OtherNetworkError:
                why = "the script changed its layers after it was made, and no function of the project makes it so"
                missing.append(f"{each.network.name}: {why}")
            except WorkerError as error:
                if error.framework not in SOURCES:
                    raise
                # What only the whole script can build, as with a global that its main part sets, is compared by training.
                missing.append(f"{each.network.name}: the original can't build it outside of its script")
    results = reached_in_any_way(compared, results)
    whole = joined(compared, results, missing, observation.uncalled)
    return NetworksCompared(whole, tuple(compared), (*missing, *observation.uncalled))


def _verify_fitting(converted: Path, each: Comparable, show: Show) -> tuple[Comparable, Comparison]:
    """By the innermost call that makes the network as the run used it: a function may put other layers into what a class makes."""
    from .verify.run import verify
    from .verify.settings import settings

    for model in (each.model, *each.around):
        asked = settings(converted, model=model, inputs=each.inputs, weights=each.weights)
        try:
            return replace(each, model=model), verify(asked, show)
        except OtherNetworkError as error:
            refusal = error
    raise refusal


def observed_training(converted: Path, steps: int = 20, tolerance: float = 1e-3) -> Train | None:
    """The observed command that trains, as a [train] section would say it; of several the first, as the others need what it writes."""
    runs = load_observation(archive_of(converted)).runs if is_observed(converted) else ()
    found = (training_of(run.command, steps, tolerance) for run in runs[:1] if run.losses)
    return next((each for each in found if each is not None), None)
