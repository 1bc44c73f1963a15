"""What a LightningModule or LightningDataModule was made with: save_hyperparameters() and hparams."""

import argparse
import copy
import dataclasses
import inspect


class HyperParameters(dict):
    """hparams.lr and hparams["lr"]."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"hparams has no {name}") from None

    def __setattr__(self, name, value):
        self[name] = value


class KeepsHyperParameters:
    """save_hyperparameters() reads the arguments of the __init__ that it is called in."""

    _hparams = None
    _hparams_initial = None
    _hparams_name = None

    @property
    def hparams(self):
        if self._hparams is None:
            self._hparams = HyperParameters()
        return self._hparams

    @property
    def hparams_initial(self):
        return copy.deepcopy(HyperParameters() if self._hparams_initial is None else self._hparams_initial)

    def save_hyperparameters(self, *args, ignore=None, frame=None, logger=True):
        if len(args) == 1 and not isinstance(args[0], str) and not args[0]:
            return
        given = init_arguments(frame or inspect.currentframe().f_back, self)
        ignored = {ignore} if isinstance(ignore, str) else set(ignore or ())
        given = {name: value for name, value in given.items() if name not in ignored}
        whole = [each for each in args if not isinstance(each, str)]
        if len(whole) == 1:  # save_hyperparameters(config)
            self._hparams_name = next((name for name, value in given.items() if value is whole[0]), None)
            chosen = whole[0]
        else:
            chosen = {name: given[name] for name in args if isinstance(name, str)} if args else given
        if isinstance(chosen, argparse.Namespace):
            chosen = vars(chosen)
        elif dataclasses.is_dataclass(chosen):
            chosen = {field.name: getattr(chosen, field.name) for field in dataclasses.fields(chosen)}
        if isinstance(chosen, dict):
            self.hparams.update(chosen)
        else:
            self._hparams = chosen
        self._hparams_initial = copy.copy(self._hparams)


def init_arguments(frame, owner):
    """The arguments of the __init__ methods that are running for the object; those of its own class count most."""
    found = {}
    while frame is not None and frame.f_code.co_name == "__init__":
        names, _, rest, values = inspect.getargvalues(frame)
        if not names or values.get(names[0]) is not owner:
            break
        found.update({name: values[name] for name in names[1:] if name in values})
        found.update(values.get(rest) or {} if rest else {})
        frame = frame.f_back
    return found
