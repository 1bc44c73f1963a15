"""Keras' older way with words: a Tokenizer that counts them, and functions that split and hash texts."""

import collections
import hashlib

import numpy as np

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(input_text, filters=FILTERS, lower=True, split=" "):
    text = input_text.lower() if lower else input_text
    return [word for word in text.translate(str.maketrans(dict.fromkeys(filters, split))).split(split) if word]


def hashing_trick(text, n, hash_function=None, filters=FILTERS, lower=True, split=" ", analyzer=None):
    """Python's own `hash` gives other numbers in each process, as it does in Keras; 'md5' gives the same ones."""
    words = analyzer(text) if analyzer else text_to_word_sequence(text, filters, lower, split)
    if hash_function == "md5":
        return [int(hashlib.md5(word.encode()).hexdigest(), 16) % (n - 1) + 1 for word in words]
    return [(hash_function or hash)(word) % (n - 1) + 1 for word in words]


class Tokenizer:
    """Numbers for words, the most frequent first; 0 is no word's."""

    def __init__(
        self,
        num_words=None,
        filters=FILTERS,
        lower=True,
        split=" ",
        char_level=False,
        oov_token=None,
        analyzer=None,
        document_count=0,
    ):
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.document_count, self.word_counts = document_count, collections.OrderedDict()
        self.word_docs, self.index_docs = collections.defaultdict(int), collections.defaultdict(int)
        self.word_index, self.index_word = {}, {}

    def words_of(self, text):
        if isinstance(text, list):
            return [word.lower() for word in text] if self.lower else text
        if self.char_level:
            return text.lower() if self.lower else text
        return (
            self.analyzer(text) if self.analyzer else text_to_word_sequence(text, self.filters, self.lower, self.split)
        )

    def fit_on_texts(self, texts):
        for text in texts:
            self.document_count += 1
            words = self.words_of(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        ranked = sorted(self.word_counts, key=self.word_counts.get, reverse=True)
        known = ([] if self.oov_token is None else [self.oov_token]) + ranked
        self.word_index = {word: number for number, word in enumerate(known, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences):
        self.document_count += len(sequences)
        for sequence in sequences:
            for number in set(sequence):
                self.index_docs[number] += 1

    def _kept(self, found, number, unknown):
        """What stands for it: itself, the word for unknown ones, or None."""
        is_rare = bool(self.num_words) and found is not None and number >= self.num_words
        return unknown if found is None or is_rare else found

    def texts_to_sequences_generator(self, texts):
        unknown = self.word_index.get(self.oov_token)
        for text in texts:
            found = [self.word_index.get(word) for word in self.words_of(text)]
            kept = [self._kept(number, number, unknown) for number in found]
            yield [number for number in kept if number is not None]

    def texts_to_sequences(self, texts):
        return list(self.texts_to_sequences_generator(texts))

    def sequences_to_texts_generator(self, sequences):
        unknown = self.oov_token if self.oov_token in self.word_index else None
        for sequence in sequences:
            kept = [self._kept(self.index_word.get(number), number, unknown) for number in sequence]
            yield " ".join(word for word in kept if word is not None)

    def sequences_to_texts(self, sequences):
        return list(self.sequences_to_texts_generator(sequences))

    def texts_to_matrix(self, texts, mode="binary"):
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        made = np.zeros((len(sequences), self.num_words or len(self.word_index) + 1))
        for row, sequence in zip(made, sequences, strict=True):
            counts = collections.Counter(number for number in sequence if number < len(row))
            for number, count in counts.items():
                row[number] = self._weight(number, count, len(sequence), mode)
        return made

    def _weight(self, number, count, length, mode):
        if mode == "tfidf":
            rarity = np.log(1 + self.document_count / (1 + self.index_docs.get(number, 0)))
            return (1 + np.log(count)) * rarity
        return {"count": count, "freq": count / length, "binary": 1}[mode]
