from .bert import BERT
from .language_model import BERTLM
