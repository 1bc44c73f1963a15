from .model import BERT
