from .pretrain import BERTTrainer
