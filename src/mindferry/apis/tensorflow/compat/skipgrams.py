"""keras.preprocessing.sequence.skipgrams: pairs of words that stand near each other, as word2vec learns from."""

import random

import numpy as np


def make_sampling_table(size, sampling_factor=1e-5):
    """The chance to keep the word of each rank, where words are as frequent as Zipf has it."""
    rank = np.maximum(np.arange(size), 1)
    seldom = rank * (np.log(rank) + 0.577) + 0.5 - 1.0 / (12.0 * rank)
    return np.minimum(1.0, np.sqrt(sampling_factor * seldom))


def skipgrams(
    sequence,
    vocabulary_size,
    window_size=4,
    negative_samples=1.0,
    shuffle=True,
    categorical=False,
    sampling_table=None,
    seed=None,
):
    """(pairs, whether each stands in the text); the word 0 is passed over."""
    pairs = []
    for place, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        around = range(max(0, place - window_size), min(len(sequence), place + window_size + 1))
        pairs += [[word, sequence[other]] for other in around if other != place and sequence[other]]
    count = int(len(pairs) * negative_samples)
    labels = [[0, 1] if categorical else 1] * len(pairs) + [[1, 0] if categorical else 0] * count
    if negative_samples > 0:
        words = [word for word, _ in pairs]
        random.shuffle(words)
        pairs += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
    if shuffle:
        seed = random.randint(0, 10**7) if seed is None else seed
        for each in (pairs, labels):
            random.seed(seed)
            random.shuffle(each)
    return pairs, labels
