"""Lightning's loggers: a table of values in a file, or event files."""

import csv
import os

from .summaries import SummaryWriter


class Logger:
    """lightning.pytorch.loggers.Logger: a subclass writes what log_metrics() is given."""

    name = version = save_dir = None

    def log_metrics(self, metrics, step=None):
        pass

    def log_hyperparams(self, params, *arguments, **options):
        pass

    def log_graph(self, model, input_array=None):
        pass

    def after_save_checkpoint(self, checkpoint_callback):
        pass

    def save(self):
        pass

    def finalize(self, status):
        self.save()

    @property
    def log_dir(self):
        """save_dir/name/version_0."""
        version = self.version if isinstance(self.version, str) else f"version_{self.version}"
        return os.path.join(self.save_dir, str(self.name or ""), version)


class SilentLogger(Logger):
    """What a trial run (fast_dev_run) writes to: whatever is asked of it or of its experiment does nothing."""

    def __getattr__(self, name):
        return self

    def __call__(self, *arguments, **options):
        return self

    @property
    def experiment(self):
        return self


class CSVLogger(Logger):
    """A row for each step that was logged, in metrics.csv."""

    def __init__(self, save_dir, name="lightning_logs", version=None, prefix="", flush_logs_every_n_steps=100):
        self.save_dir, self.name, self.prefix = os.fspath(save_dir), name, prefix
        self.version = next_version(os.path.join(self.save_dir, name or "")) if version is None else version
        self.metrics, self.hparams = [], {}
        self.experiment = self

    def log_metrics(self, metrics, step=None):
        named = {f"{self.prefix}-{name}" if self.prefix else name: float(value) for name, value in metrics.items()}
        step = len(self.metrics) if step is None else step
        self.metrics.append({**named, "step": step})

    def log_hyperparams(self, params, *arguments, **options):
        self.hparams.update(params)

    def save(self):
        if not self.metrics:
            return
        os.makedirs(self.log_dir, exist_ok=True)
        columns = sorted({name for row in self.metrics for name in row})
        with open(os.path.join(self.log_dir, "metrics.csv"), "w", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(self.metrics)


class TensorBoardLogger(Logger):
    """Scalars in MindSpore's event files; `experiment` is the writer."""

    def __init__(self, save_dir, name="lightning_logs", version=None, log_graph=False, prefix="", **options):
        self.save_dir, self.name, self.prefix = os.fspath(save_dir), name, prefix
        self.version = next_version(os.path.join(self.save_dir, name or "")) if version is None else version
        self.experiment = SummaryWriter(self.log_dir)

    def log_metrics(self, metrics, step=None):
        for name, value in metrics.items():
            self.experiment.add_scalar(f"{self.prefix}-{name}" if self.prefix else name, float(value), step)

    def log_hyperparams(self, params, *arguments, **options):
        self.experiment.add_hparams(params, {})

    def save(self):
        self.experiment.flush()

    def finalize(self, status):
        self.experiment.close()


def next_version(folder):
    """The first number that no folder version_0, version_1, ... has."""
    used = [name.removeprefix("version_") for name in os.listdir(folder)] if os.path.isdir(folder) else []
    return max((int(each) for each in used if each.isdigit()), default=-1) + 1
