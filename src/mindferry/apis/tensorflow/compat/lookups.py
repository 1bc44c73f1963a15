"""Layers that look words and numbers up, and those that hash them. They compute with numpy, before the network."""

import collections
import math
import re

import mindspore as ms
import numpy as np
from mindspore import Tensor

from .encodings import encoded
from .layers_base import Layer
from .string_hashes import bucket, crossed
from .tensors import as_dtype

PUNCTUATION = re.compile(r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~']")


def plain_values(data):
    """As an array of strings or numbers."""
    array = data.asnumpy() if isinstance(data, Tensor) else np.asarray(data)
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype == object:
        return np.array([each.decode() if isinstance(each, bytes) else each for each in array.flat]).reshape(
            array.shape
        )
    return array


def batches_in(data, steps=None):
    """What a layer is adapted to: one array, or an iterable of batches."""
    if isinstance(data, (list, tuple, Tensor)) or hasattr(data, "__array__"):
        return [data]
    return (batch for number, batch in enumerate(data) if steps is None or number < steps)


class IndexLookup(Layer):
    """Numbers for tokens: the mask's, those for tokens that are not known, then the vocabulary's."""

    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token=None,
        vocabulary=None,
        idf_weights=None,
        invert=False,
        output_mode="int",
        pad_to_max_tokens=False,
        sparse=False,
        oov_method="farmhash",
        salt=None,
        name=None,
        **kwargs,
    ):
        super().__init__(name=name)
        self.max_tokens, self.num_oov_indices, self.mask_token = max_tokens, num_oov_indices, mask_token
        self.oov_token, self.invert, self.pad_to_max_tokens = oov_token, invert, pad_to_max_tokens
        self.output_mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(output_mode, output_mode)
        self.oov_method, self.salt = oov_method, [salt, salt] if isinstance(salt, int) else salt
        self.tokens, self.numbers, self.idf_weights, self.built = [], {}, None, True
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    @property
    def first_unknown(self):
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    @property
    def first_token(self):
        return self.first_unknown + self.num_oov_indices

    def set_vocabulary(self, vocabulary, idf_weights=None):
        if isinstance(vocabulary, str):
            with open(vocabulary, encoding="utf-8") as file:
                vocabulary = self.of_own_kind(file.read().splitlines())
        tokens = plain_values(vocabulary).tolist()
        special = [self.mask_token] * self.first_unknown + [self.oov_token] * self.num_oov_indices
        has_special = tokens[: self.first_token] == special
        self.keep(tokens[self.first_token :] if has_special else tokens)
        if idf_weights is not None:
            weights = plain_values(idf_weights).astype(np.float32)
            front = np.full(0 if has_special else self.first_token, weights.mean(), np.float32)
            self.keep_weights(np.concatenate((front, weights)))

    def of_own_kind(self, lines):
        return lines

    def keep(self, tokens):
        if len(set(tokens)) < len(tokens):
            raise ValueError("the vocabulary has a token twice")
        self.tokens = tokens
        self.numbers = {token: place for place, token in enumerate(tokens, self.first_token)}

    def keep_weights(self, weights):
        depth = self.max_tokens if self.pad_to_max_tokens else len(weights)
        self.idf_weights = np.pad(weights, (0, depth - len(weights))).astype(np.float32)

    def adapt(self, data, steps=None):
        rows = []
        for batch in batches_in(data, steps):
            array = plain_values(batch)
            rows += (array[:, None] if array.ndim == 1 else array).tolist()
        self.adapt_to_rows(rows)

    def adapt_to_rows(self, rows):
        """The most frequent tokens first; of those that are as frequent, the last in the alphabet."""
        counts = collections.Counter(token for row in rows for token in np.ravel(row).tolist())
        for special in (self.mask_token, self.oov_token):
            counts.pop(special, None)
        order = sorted(counts, key=lambda token: (counts[token], sort_key(token)), reverse=True)
        self.keep(order[: self.max_tokens - self.first_token] if self.max_tokens else order)
        if self.output_mode == "tf_idf":
            documents = collections.Counter(token for row in rows for token in set(np.ravel(row).tolist()))
            weights = [math.log(1 + len(rows) / (1 + documents[token])) for token in self.tokens]
            front = [float(np.mean(weights))] * self.first_token
            self.keep_weights(np.array(front + weights, np.float32))

    def get_vocabulary(self, include_special_tokens=True):
        special = [self.mask_token] * self.first_unknown + [self.oov_token] * self.num_oov_indices
        return special + self.tokens if include_special_tokens else list(self.tokens)

    def vocabulary_size(self):
        return self.first_token + len(self.tokens)

    def number_of(self, token):
        """-1 for a mask that has no number."""
        if self.mask_token is not None and token == self.mask_token:
            return 0 if self.output_mode == "int" else -1
        if token in self.numbers:
            return self.numbers[token]
        if self.num_oov_indices == 0:
            raise ValueError(f"{token!r} is not in the vocabulary, and num_oov_indices is 0")
        if self.num_oov_indices == 1:
            return self.first_unknown
        if self.oov_method == "floormod":
            return token % self.num_oov_indices + self.first_unknown
        return bucket(token, self.num_oov_indices, self.salt) + self.first_unknown

    def numbers_of_tokens(self, array):
        made = [self.number_of(token) for token in array.ravel().tolist()]
        return np.array(made, np.int64).reshape(array.shape)

    def call(self, inputs, training=None):
        if self.invert:
            return self.tokens_of(plain_values(inputs))
        return self.codes(self.numbers_of_tokens(plain_values(inputs)))

    def codes(self, numbers):
        depth = self.max_tokens if self.pad_to_max_tokens else self.vocabulary_size()
        if self.output_mode != "tf_idf":
            return encoded(Tensor(numbers), self.output_mode, depth, ms.int64)
        return encoded(Tensor(numbers), "count", depth) * Tensor(self.idf_weights)

    def tokens_of(self, numbers):
        known = dict(enumerate(self.tokens, self.first_token))
        if self.mask_token is not None:
            known[0] = self.mask_token
        found = [known.get(number, self.oov_token) for number in numbers.ravel().tolist()]
        return np.array(found).reshape(numbers.shape)


def sort_key(token):
    return token.encode() if isinstance(token, str) else token


class StringLookup(IndexLookup):
    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token="[UNK]",
        vocabulary=None,
        idf_weights=None,
        invert=False,
        output_mode="int",
        pad_to_max_tokens=False,
        sparse=False,
        encoding="utf-8",
        name=None,
        salt=None,
        **kwargs,
    ):
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary,
            idf_weights,
            invert,
            output_mode,
            pad_to_max_tokens,
            salt=salt,
            name=name,
        )


class IntegerLookup(IndexLookup):
    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token=-1,
        vocabulary=None,
        vocabulary_dtype="int64",
        idf_weights=None,
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        oov_method="floormod",
        salt=None,
        name=None,
        **kwargs,
    ):
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary,
            idf_weights,
            invert,
            output_mode,
            pad_to_max_tokens,
            oov_method=oov_method,
            salt=salt,
            name=name,
        )

    def of_own_kind(self, lines):
        return [int(each) for each in lines]

    def tokens_of(self, numbers):
        return Tensor(super().tokens_of(numbers).astype(np.int64))


class TextVectorization(Layer):
    """Words of texts as numbers."""

    def __init__(
        self,
        max_tokens=None,
        standardize="lower_and_strip_punctuation",
        split="whitespace",
        ngrams=None,
        output_mode="int",
        output_sequence_length=None,
        pad_to_max_tokens=False,
        vocabulary=None,
        idf_weights=None,
        sparse=False,
        ragged=False,
        encoding="utf-8",
        name=None,
        **kwargs,
    ):
        super().__init__(name=name)
        self.standardize, self.split, self.output_sequence_length = standardize, split, output_sequence_length
        self.ngrams = tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else ngrams
        self.lookup = StringLookup(
            max_tokens,
            mask_token="",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            output_mode=output_mode,
            pad_to_max_tokens=pad_to_max_tokens,
        )
        self.built = True

    def set_vocabulary(self, vocabulary, idf_weights=None):
        self.lookup.set_vocabulary(vocabulary, idf_weights)

    def get_vocabulary(self, include_special_tokens=True):
        return self.lookup.get_vocabulary(include_special_tokens)

    def vocabulary_size(self):
        return self.lookup.vocabulary_size()

    def adapt(self, data, batch_size=None, steps=None):
        self.lookup.adapt_to_rows([row for batch in batches_in(data, steps) for row in self.rows_of(batch)])

    def rows_of(self, texts):
        """The tokens of each text."""
        array = plain_values(texts)
        if self.split is None:
            return [[self.standard(token) for token in np.ravel(row).tolist()] for row in array]
        return [self.pieces_of(self.standard(text)) for text in array.reshape(len(array)).tolist()]

    def standard(self, text):
        if callable(self.standardize):
            made = self.standardize(text)
            return made.item() if isinstance(made, np.ndarray) else made
        text = text.lower() if self.standardize in ("lower", "lower_and_strip_punctuation") else text
        has_punctuation = self.standardize not in ("strip_punctuation", "lower_and_strip_punctuation")
        return text if has_punctuation else PUNCTUATION.sub("", text)

    def pieces_of(self, text):
        if callable(self.split):
            words = list(self.split(text))
        else:
            words = text.split() if self.split == "whitespace" else list(text)
        if self.ngrams is None:
            return words
        return [
            " ".join(words[place : place + width]) for width in self.ngrams for place in range(len(words) - width + 1)
        ]

    def call(self, inputs, training=None):
        rows = [[self.lookup.number_of(token) for token in row] for row in self.rows_of(inputs)]
        is_int = self.lookup.output_mode == "int"
        length = self.output_sequence_length if is_int else None
        length = max((len(row) for row in rows), default=0) if length is None else length
        filler = 0 if is_int else -1
        made = np.full((len(rows), length), filler, np.int64)
        for place, row in enumerate(rows):
            made[place, : len(row)] = row[:length]
        return self.lookup.codes(made)


class Hashing(Layer):
    """The bucket of each value, by TensorFlow's own hash."""

    def __init__(self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
        kwargs["dtype"] = kwargs.get("dtype") or ("int64" if output_mode == "int" else "float32")
        super().__init__(**kwargs)
        self.num_bins, self.mask_value, self.output_mode = num_bins, mask_value, output_mode
        self.salt = [salt, salt] if isinstance(salt, int) else salt

    def call(self, inputs, training=None):
        array = plain_values(inputs)
        count = self.num_bins - 1 if self.mask_value is not None and self.num_bins > 1 else self.num_bins
        values = array.astype(np.int64) if array.dtype.kind == "f" else array
        made = np.array([bucket(each, count, self.salt) for each in values.ravel().tolist()], np.int64)
        made = made.reshape(array.shape)
        if count < self.num_bins:
            made = np.where(array == self.mask_value, 0, made + 1)
        return encoded(Tensor(made), self.output_mode, self.num_bins, as_dtype(self.dtype))


class HashedCrossing(Layer):
    """The bucket of several features' values together."""

    def __init__(self, num_bins, output_mode="int", sparse=False, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype or ("int64" if output_mode == "int" else "float32"))
        self.num_bins, self.output_mode = num_bins, output_mode

    def call(self, inputs, training=None):
        arrays = [plain_values(each) for each in inputs]
        rows = zip(*(each.ravel().tolist() for each in arrays))
        made = np.array([crossed(row, self.num_bins) for row in rows], np.int64).reshape(arrays[0].shape)
        return encoded(Tensor(made), self.output_mode, self.num_bins, as_dtype(self.dtype))
