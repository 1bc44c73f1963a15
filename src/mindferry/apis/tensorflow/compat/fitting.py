"""compile, fit, evaluate and predict, in Keras' order of things."""

import inspect

import numpy as np
from mindspore import Tensor, ops

from .batches import batches_of, merge_parts, unpack_x_y_sample_weight, validation_batches
from .callbacks import Callbacks
from .layers_base import value_and_gradients
from .losses_named import get_loss
from .metrics import Mean, Metric
from .metrics_named import get_metric
from .optimizers_named import get_optimizer
from .tensors import as_tensor, flat, map_structure


def plain(value):
    """A number that can be printed and compared."""
    return float(value.asnumpy()) if isinstance(value, Tensor) and value.size == 1 else value


class CompiledLoss:
    """One loss, or one an output with its weight."""

    def __init__(self, loss, weights):
        self.loss, self.weights, self.parts = loss, weights, []

    def __call__(self, y_true, y_pred, sample_weight, names):
        keys = list(y_pred) if isinstance(y_pred, dict) else names
        outputs = [y_pred[key] for key in keys] if isinstance(y_pred, dict) else flat(y_pred)
        targets = self._listed(y_true, keys, len(outputs))
        losses, weights = self._listed(self.loss, keys, len(outputs)), self._listed(self.weights, keys, len(outputs))
        samples = self._listed(sample_weight, keys, len(outputs))
        total, self.parts = None, []
        for loss, target, output, weight, sample in zip(losses, targets, outputs, weights, samples):
            if loss is None:
                continue
            value = get_loss(loss)(target, output, sample)
            self.parts.append((keys[len(self.parts)] if len(self.parts) < len(keys) else "output", value))
            value = value if weight is None else value * weight
            total = value if total is None else total + value
        return total

    def _listed(self, given, keys, count):
        if isinstance(given, dict):
            return [given.get(key) for key in keys]
        if isinstance(given, (list, tuple)) and len(given) == count:
            return list(given)
        return [given] * count


class Fitting:
    """What a network needs for its own training."""

    def prepare_fitting(self):
        for name in ("optimizer", "losses_", "_given_metrics", "history"):
            self.__dict__[name] = None
        self.__dict__.update(_named_metrics=None, _part_losses={}, loss_tracker_=Mean("loss"), stop_training=False)

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        loss_weights=None,
        metrics=None,
        weighted_metrics=None,
        run_eagerly=False,
        steps_per_execution=1,
        jit_compile="auto",
        auto_scale_loss=True,
        **_,
    ):
        self.__dict__["_compiled_with"] = {
            "optimizer": optimizer,
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
        }
        self.__dict__["optimizer"] = get_optimizer(optimizer)
        self.__dict__["loss"] = loss
        self.__dict__["losses_"] = (
            CompiledLoss(map_structure(get_loss, loss), loss_weights) if loss is not None else None
        )
        self.__dict__["_given_metrics"] = (metrics, weighted_metrics)
        self.__dict__["_named_metrics"] = None

    @property
    def output_names(self):
        graph = self.__dict__.get("graph")
        if graph is None:
            return []
        return [getattr(each.node.operation, "name", None) or "output" for each in flat(graph.outputs)]

    @property
    def metrics(self):
        own = list(self._own_metrics())
        tracker = [self.loss_tracker_] if "_compiled_with" in self.__dict__ or not own else []
        compiled = [self.compiled_metrics] if any(each for each in self._given_metrics or ()) else []
        return tracker + compiled + list(self._part_losses.values()) + own

    @property
    def metrics_names(self):
        """Keras has one name for all metrics that `compile` was given."""
        return [each.name for each in self.metrics]

    def _own_metrics(self):
        return metrics_within(self)

    def reset_metrics(self):
        for each in self.metrics:
            each.reset_state()

    def _prepare_metrics(self, y_true, y_pred):
        """(output or None, metric, name shown, whether it is weighed): made when labels and predictions are known."""
        if self._named_metrics is not None:
            return
        found = []
        names = list(y_pred) if isinstance(y_pred, dict) else self.output_names
        outputs = y_pred if isinstance(y_pred, dict) else flat(y_pred)
        is_many = len(outputs) > 1
        for is_weighed, given in enumerate(self._given_metrics or ()):
            for place, (key, value) in enumerate(outputs.items() if isinstance(outputs, dict) else enumerate(outputs)):
                name = names[place] if place < len(names) else f"output_{place}"
                for each in metrics_of(given, key, name, place, len(outputs)):
                    metric = get_metric(each, pick_part(y_true, key, place, is_many), value) if each else None
                    if metric is not None:
                        shown = f"{name}_{metric.name}" if is_many else metric.name
                        is_taken = any(shown == other for _, _, other, _ in found)
                        shown = f"weighted_{shown}" if is_weighed and is_taken else shown
                        found.append(((key, place, is_many), metric, shown, bool(is_weighed)))
        self.__dict__["_named_metrics"] = found

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        total = None
        if self.losses_ is not None:
            total = self.losses_(y, y_pred, sample_weight, self.output_names)
        for each in self.losses:
            each = each if not each.ndim else ops.sum(each)
            total = each if total is None else total + each
        if total is None:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return total

    def compiled_loss(self, y, y_pred, sample_weight=None, regularization_losses=None):
        """compute_loss, as older programs call it."""
        loss = self.compute_loss(None, y, y_pred, sample_weight)
        self._track(loss, flat(y_pred)[0].shape[0])
        return loss

    @property
    def compiled_metrics(self):
        return CompiledMetrics(self)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        if y is not None and y_pred is not None:
            self.compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self):
        found = {}
        for each in self.metrics:
            made = each.result()
            found.update(made if isinstance(made, dict) else {each.name: made})
        return found

    def outputs_for(self, x, is_training):
        """A network whose `call` does not take `training` is not told, and its layers train as if they were not."""
        return self(x, training=is_training) if "training" in self._parameters_of_call() else self(x)

    def _loss_of(self, x, y, y_pred, sample_weight, is_training):
        """An own `compute_loss` may be older than its argument `training`."""
        mode = {"training": is_training} if "training" in inspect.signature(self.compute_loss).parameters else {}
        return self.compute_loss(x, y, y_pred, sample_weight, **mode)

    def train_step(self, data):
        x, y, sample_weight = unpack_x_y_sample_weight(data)

        def forward_fn():
            y_pred = self.outputs_for(x, True)
            loss = self._loss_of(x, y, y_pred, sample_weight, True)
            return self.optimizer.scale_loss(loss), loss, y_pred

        if self.weights and not self.trainable_variables:  # as the first half of a GAN that was set to trainable=False
            _, loss, y_pred = forward_fn()
        else:
            (_, loss, y_pred), gradients = value_and_gradients(forward_fn, lambda: self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self._track(loss, flat(x)[0].shape[0])
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def _track(self, loss, count):
        """The loss, and that of each output where there are several."""
        self.loss_tracker_.update_state(loss, np.float64(count))
        parts = self.losses_.parts if self.losses_ is not None else []
        for name, value in parts if len(parts) > 1 else ():
            tracker = self._part_losses.setdefault(name, Mean(f"{name}_loss"))
            tracker.update_state(ops.stop_gradient(value), np.float64(count))

    def test_step(self, data):
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self.outputs_for(x, False)
        loss = self._loss_of(x, y, y_pred, sample_weight, False)
        self._track(loss, flat(x)[0].shape[0])
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data):
        x, _, _ = unpack_x_y_sample_weight(data)
        return self.outputs_for(x, False)

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        initial_epoch=0,
        steps_per_epoch=None,
        validation_steps=None,
        validation_batch_size=None,
        validation_freq=1,
        **_,
    ):
        if validation_split:
            count = int(len(flat(x)[0]) * (1 - validation_split))
            parts = [map_structure(lambda each: each[count:], part) for part in (x, y, sample_weight)]
            validation_data = tuple(part for part in parts if part is not None)
            x, y, sample_weight = [map_structure(lambda each: each[:count], part) for part in (x, y, sample_weight)]
        data = batches_of(x, y, sample_weight, batch_size, shuffle, class_weight, steps_per_epoch)
        data.reset()
        listeners = Callbacks(callbacks, self, {"epochs": epochs, "steps": data.count, "verbose": verbose}, verbose)
        self.__dict__["stop_training"], logs = False, {}
        listeners.call("on_train_begin")
        for epoch in range(self.__dict__.pop("resumed_epoch", initial_epoch), epochs):
            self.reset_metrics()
            listeners.call("on_epoch_begin", epoch)
            for step, batch in enumerate(data.epoch()):
                listeners.call("on_train_batch_begin", step)
                logs = self.train_step(batch)
                listeners.call("on_train_batch_end", step, self._flat_logs(logs))
                if self.stop_training:
                    break
            epoch_logs = dict(self._collected(logs))
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                validation = validation_batches(validation_data, validation_batch_size or batch_size, validation_steps)
                found = self.evaluate(validation, verbose=0, callbacks=listeners, return_dict=True)
                epoch_logs.update({f"val_{name}": value for name, value in found.items()})
            logs = self._flat_logs(epoch_logs)
            listeners.call("on_epoch_end", epoch, logs)
            if self.stop_training:
                break
        if hasattr(self.optimizer, "finalize_variable_values"):
            self.optimizer.finalize_variable_values(self.trainable_variables)
        listeners.call("on_train_end", logs)
        return self.history

    def _collected(self, logs):
        """What the metrics have collected, where a step gives values under these very names."""
        results = self.get_metrics_result()
        return results if isinstance(logs, dict) and {*logs} == {*results} else logs

    def _flat_logs(self, logs):
        """Numbers by their names, which Keras puts in order."""
        made = {}
        for name, value in sorted((logs or {}).items()):
            made.update(
                {key: plain(each) for key, each in value.items()} if isinstance(value, dict) else {name: plain(value)}
            )
        return made

    def evaluate(
        self,
        x=None,
        y=None,
        batch_size=None,
        verbose="auto",
        sample_weight=None,
        steps=None,
        callbacks=None,
        return_dict=False,
        **_,
    ):
        data = batches_of(x, y, sample_weight, batch_size, False, None, steps)
        data.reset()
        listeners = (
            callbacks if isinstance(callbacks, Callbacks) else Callbacks(callbacks, self, {"steps": data.count}, 0)
        )
        self.reset_metrics()
        listeners.call("on_test_begin")
        logs = {}
        for step, batch in enumerate(data.epoch()):
            listeners.call("on_test_batch_begin", step)
            logs = self.test_step(batch)
            listeners.call("on_test_batch_end", step, self._flat_logs(logs))
        logs = self._flat_logs(self._collected(logs))
        listeners.call("on_test_end", logs)
        if verbose not in (0, "0", False) and not isinstance(callbacks, Callbacks):
            print(" - ".join(f"{name}: {value:.4f}" for name, value in logs.items()))
        return self._shown(logs, return_dict)

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        data = batches_of(x, None, None, batch_size, False, None, steps)
        listeners = Callbacks(callbacks, self, {"steps": data.count}, 0)
        listeners.call("on_predict_begin")
        parts = []
        for step, batch in enumerate(data.epoch()):
            listeners.call("on_predict_batch_begin", step)
            parts.append(
                map_structure(
                    lambda each: each.asnumpy() if isinstance(each, Tensor) else each, self.predict_step(batch)
                )
            )
            listeners.call("on_predict_batch_end", step, {"outputs": parts[-1]})
        listeners.call("on_predict_end")
        return merge_parts(parts)

    def _one_batch(self, x, y, sample_weight, class_weight):
        self.reset_metrics()
        return next(iter(batches_of(x, y, sample_weight, len(flat(x)[0]), False, class_weight, None).epoch()))

    def _shown(self, logs, return_dict):
        """A list has them in the metrics' order, and what no metric is called by its name after them."""
        logs = self._flat_logs(logs)
        parts = [part for each in self.metrics for part in getattr(each, "metrics", [each])]
        names = [each.name for each in parts]
        values = [logs[name] for name in names if name in logs] + [logs[name] for name in logs if name not in names]
        return logs if return_dict else values[0] if len(values) == 1 else values

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        return self._shown(self.train_step(self._one_batch(x, y, sample_weight, class_weight)), return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        return self._shown(self.test_step(self._one_batch(x, y, sample_weight, None)), return_dict)

    def predict_on_batch(self, x):
        made = self.predict_step((map_structure(as_tensor, x),))
        return map_structure(lambda each: each.asnumpy(), made)


def metrics_within(layer):
    """The metrics among its attributes, and those of its layers; a network among these keeps its own for itself."""
    found = metrics_of_attributes(layer)
    for each in layer.sublayers:
        held = metrics_of_attributes(each) if isinstance(each, Fitting) else []
        found += [other for other in metrics_within(each) if other not in found and other not in held]
    return found


def metrics_of_attributes(layer):
    return [value for name in layer._attributes if isinstance(value := getattr(layer, name, None), Metric)]


def metrics_of(given, key, name, place, count):
    """Those of one output: given by its name, in a list of lists, in a list that has one for each, or all for the first."""
    if isinstance(given, dict):
        wanted = given.get(name, given.get(key, []))
    elif count == 1 or not isinstance(given, (list, tuple)):
        wanted = given
    elif any(isinstance(each, (list, tuple)) for each in given) or len(given) == count:
        wanted = given[place]
    else:
        wanted = given if place == 0 else []
    return list(wanted) if isinstance(wanted, (list, tuple)) else [wanted]


class CompiledMetrics:
    """All metrics that `compile` was given, as the one that a network's `metrics` have for them."""

    name = "compile_metrics"

    def __init__(self, model):
        self.model = model

    @property
    def metrics(self):
        return [metric for _, metric, _, _ in self.model._named_metrics or []]

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.model._prepare_metrics(y_true, y_pred)
        for (key, place, is_many), metric, _, is_weighed in self.model._named_metrics:
            weight = pick_part(sample_weight, key, place, is_many) if is_weighed else None
            more = (weight,) if weight is not None else ()
            metric.update_state(pick_part(y_true, key, place, is_many), pick_part(y_pred, key, place, is_many), *more)

    def result(self):
        return {shown: metric.result() for _, metric, shown, _ in self.model._named_metrics or []}

    def reset_state(self):
        for each in self.metrics:
            each.reset_state()


def pick_part(value, key, place, is_many):
    if value is None:
        return None
    if isinstance(value, dict):
        return value[key] if key in value else list(value.values())[place]
    return flat(value)[place] if is_many else flat(value)[0] if isinstance(value, (list, tuple)) else value
