from .dataset import BERTDataset
from .vocab import WordVocab
