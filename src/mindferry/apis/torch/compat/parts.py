"""Parts of helpers that not every project needs. mindferry decides each of them by what a project uses, so no output has these names."""

TAKES_PLANNED_RATES = True  # a list of learning rates or a schedule of MindSpore's, as an optimizer's lr
TAKES_ORDER = True  # MindSpore's order_params among an optimizer's groups
FREEZES_PARAMETERS = True  # a parameter of an optimizer's may be frozen
LACKS_GRADIENTS = True  # the gradient of a parameter may be None
SHARES_STATE = True  # an optimizer keeps something once for a whole group
HAS_OWN_OPTIMIZERS = True  # classes of the project's, or others here, that have a step() of their own
EXTENDS_OPTIMIZERS = True  # a class of the project's whose step() calls that of an optimizer of torch.optim
TAKES_CLOSURES = True  # step(closure)
TAKES_EPOCHS = True  # scheduler.step(epoch)
STREAMS_DATA = True  # datasets that are iterated over and can't be indexed
TAKES_SINGLE_SAMPLES = True  # batch_size=None
MARKS_DATA = True  # datasets, transforms or collating functions that compute with Tensors
NAMES_TUPLES = True  # samples that are named tuples
ADDS_DATASETS = True  # a dataset plus another
SUBSCRIPTS_CLASSES = True  # Dataset[int] as an annotation or a base
TAKES_GENERATORS = True  # random numbers of a generator with a seed of its own
SAVES_OBJECTS = True  # checkpoints that hold more than a network's state
