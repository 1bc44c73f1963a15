"""Parts of helpers that not every project needs. mindferry decides each of them by what a project uses, so no output has these names."""

TAKES_PLANNED_RATES = True  # a list of learning rates or a schedule of MindSpore's, as an optimizer's lr
TAKES_ORDER = True  # MindSpore's order_params among an optimizer's groups
FREEZES_PARAMETERS = True  # a parameter of an optimizer's may be frozen
LACKS_GRADIENTS = True  # the gradient of a parameter may be None
LEAVES_OUT_PARAMETERS = True  # a loss may be computed without some of the parameters that it trains
SHARES_STATE = True  # an optimizer keeps something once for a whole group
HAS_OWN_OPTIMIZERS = True  # classes of the project's, or others here, that have a step() of their own
EXTENDS_OPTIMIZERS = True  # a class of the project's whose step() calls that of an optimizer of torch.optim
TAKES_CLOSURES = True  # step(closure)
TAKES_EPOCHS = True  # scheduler.step(epoch)
STREAMS_DATA = True  # datasets that are iterated over and can't be indexed
TAKES_SINGLE_SAMPLES = True  # batch_size=None
MARKS_DATA = True  # datasets, transforms or collating functions that compute with Tensors
COLLATES_OTHERWISE = True  # a loader is told how to make a batch of its samples
NAMES_TUPLES = True  # samples that are named tuples
ADDS_DATASETS = True  # a dataset plus another
SUBSCRIPTS_CLASSES = True  # Dataset[int] as an annotation or a base
TAKES_GENERATORS = True  # random numbers of a generator with a seed of its own
SAVES_OBJECTS = True  # checkpoints that hold more than a network's state
KEEPS_OPTIMIZER_STATE = True  # an optimizer's or a schedule's state_dict()
SHARES_GRADIENTS = True  # an Accelerator decides when gradients count
SEEDS_APART = True  # manual_seed() gives torch's random numbers a stream of their own
CHANGES_RATES = True  # a learning rate may change after its optimizer was made
TAKES_FILES = True  # save() or load() may be given an open file
NAMES_ENTRIES = True  # somebody looks at a state dict's names
OVERRIDES_STATE = True  # a network has a state_dict() or load_state_dict() of its own
HAS_LOAD_HOOKS = True  # what a checkpoint holds is changed before it is loaded
HAS_LAZY_LAYERS = True  # layers that learn their size when they are first called or loaded
HAS_FLAT_WEIGHTS = True  # Conv1d, whose weight has an axis more in MindSpore
JOINS_TRANSFORMS = True  # a dataset's `transforms`, which take the image and the target
PRINTS_DATASETS = True  # repr() of datasets and transforms
RESUMES_SCHEDULES = True  # a schedule may begin in the middle
READS_STATES = True  # states are loaded from files, which have torch's names or MindSpore's
PACKS_SEQUENCES = True  # recurrent layers may be given packed sequences
HAS_DOUBLES = True  # an optimizer's parameter may be a float64
RENAMES_ENTRIES = True  # layers whose parameters MindSpore calls otherwise: norms, embeddings, PReLU
