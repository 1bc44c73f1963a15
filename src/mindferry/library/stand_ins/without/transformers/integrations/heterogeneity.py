"""All layers of these networks have the same settings."""


class HeterogeneousConfigMixin:
    """A configuration that all layers share."""

    is_heterogeneous = False
    per_layer_attributes = None

    @property
    def per_layer_config(self):
        return [self] * self.num_hidden_layers

    @per_layer_config.setter
    def per_layer_config(self, per_layer_config):
        if per_layer_config is not None:
            raise NotImplementedError(
                "per_layer_config was not carried along: name it in the project's code, and convert again"
            )

    def _iter_config_keys_with_heterogeneous_adjustment(self, keys):
        yield from keys

    def _update_heterogeneous_to_dict_output(self, d):
        """There is nothing to add."""

    def _getattr_without_heterogeneous_validation(self, key, *default):
        return getattr(self, key, *default)

    def _hasattr_without_heterogeneous_validation(self, key):
        return hasattr(self, key)
