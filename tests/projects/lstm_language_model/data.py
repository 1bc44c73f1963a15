import random

import torch


class Dictionary(object):
    def __init__(self):
        self.word2idx = {}
        self.idx2word = []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]

    def __len__(self):
        return len(self.idx2word)


class Corpus(object):
    def __init__(self, seed=0):
        self.dictionary = Dictionary()
        self.rng = random.Random(seed)
        self.train = self.tokenize(self.write(700))
        self.valid = self.tokenize(self.write(60))

    def write(self, sentences):
        subjects = 'the cat|a dog|my sister|the old man|nobody'.split('|')
        verbs = 'sees|likes|follows|remembers'.split('|')
        objects = 'the moon|a red house|some tea|the cat|it'.split('|')
        return [' '.join([self.rng.choice(subjects), self.rng.choice(verbs), self.rng.choice(objects), '<eos>'])
                for _ in range(sentences)]

    def tokenize(self, lines):
        """Tokenizes a list of sentences."""
        idss = []
        for line in lines:
            ids = []
            for word in line.split():
                ids.append(self.dictionary.add_word(word))
            idss.append(torch.tensor(ids).type(torch.int64))
        return torch.cat(idss)
