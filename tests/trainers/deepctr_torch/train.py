"""DeepFM.fit on made-up clicks: embeddings, regularization, a metric, validation."""

import numpy as np

from deepctr_torch.inputs import DenseFeat, SparseFeat, get_feature_names
from deepctr_torch.models import DeepFM

rng = np.random.RandomState(0)
rows = 1024
data = {f"C{i}": rng.randint(0, 20, rows) for i in range(4)}
data.update({f"I{i}": rng.rand(rows).astype("float32") for i in range(3)})
click = ((data["C0"] % 3 == 0) | (data["I0"] > 0.7)).astype("float32")

columns = [SparseFeat(f"C{i}", vocabulary_size=20, embedding_dim=4) for i in range(4)] + [DenseFeat(f"I{i}", 1) for i in range(3)]
names = get_feature_names(columns)
model = DeepFM(columns, columns, task="binary", dnn_hidden_units=(32, 16), l2_reg_embedding=1e-5, device="cpu")
model.compile("adagrad", "binary_crossentropy", metrics=["binary_crossentropy", "auc"])
model.fit({name: data[name] for name in names}, click, batch_size=64, epochs=4, verbose=2, validation_split=0.1)
