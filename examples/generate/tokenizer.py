# SPDX-License-Identifier: Apache-2.0
"""Byte-level BPE from a tokenizer.json of Hugging Face: text to ids and back. tokenizer.h describes what is supported.

    tokens = Tokenizer("tokenizer.json")
    ids = tokens.encode(b"Once upon a time")
    text = tokens.decode(ids)
"""
import heapq
import json
import unicodedata

CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
SPACES = {*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000}


def byte_letters():
    """The character that represents each byte in tokenizer.json: GPT-2's bytes_to_unicode."""
    shown = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in shown]
    return [chr(byte) if byte in shown else chr(256 + others.index(byte)) for byte in range(256)]


LETTERS = byte_letters()
BYTES = {letter: byte for byte, letter in enumerate(LETTERS)}


def kind_of(char):
    """"L": a letter, "N": a number, " ": a space, "?": others, such as punctuation and bytes that are not UTF-8."""
    if ord(char) in SPACES:
        return " "
    category = unicodedata.category(char)[0]
    return category if category in "LN" else "?"


def split(text):
    """Pieces of a str as by GPT-2's expression:
    's|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"""
    kinds, pieces, i = [kind_of(char) for char in text], [], 0
    while i < len(text):
        start = i
        if contraction := next((c for c in CONTRACTIONS if text.startswith(c, i)), None):
            i += len(contraction)
        else:
            i += text[i] == " " and i + 1 < len(text) and kinds[i + 1] != " "
            kind = kinds[i]
            while i < len(text) and kinds[i] == kind:
                i += 1
            # The last of several spaces belongs to the piece after them, if there is one.
            if kind == " " and i < len(text) and i - start > 1:
                i -= 1
        pieces.append(text[start:i])
    return pieces


class Tokenizer:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        self._check(path, data)
        model = data["model"]
        self._vocab = model["vocab"]
        self._whole_words = model.get("ignore_merges", False)
        self._bytes = {i: bytes(BYTES[c] for c in token) for token, i in self._vocab.items() if all(c in BYTES for c in token)}
        self._added = {token["content"]: token["id"] for token in data.get("added_tokens") or []}
        self._bytes.update({i: token.encode() for token, i in self._added.items()})
        self._merges = {}
        for rank, pair in enumerate(model["merges"]):
            left, right = pair.split(" ") if isinstance(pair, str) else pair
            self._merges.setdefault((self._vocab[left], self._vocab[right]), (rank, self._vocab[left + right]))

    def _check(self, path, data):
        """What would change ids, and is not supported, is an error."""
        parts, model = data.get("pre_tokenizer") or {}, data["model"]
        parts = parts["pretokenizers"] if parts.get("type") == "Sequence" else [parts]
        self._digits = len(parts) > 1 and parts[0].get("type") == "Digits" and parts.pop(0)
        others = {"model": (model.get("type") or "BPE") != "BPE" or model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"),
                  "normalizer": data.get("normalizer"),
                  "pre_tokenizer": len(parts) != 1 or parts[0].get("type") != "ByteLevel" or not parts[0].get("use_regex", True),
                  "post_processor": (data.get("post_processor") or {"type": "ByteLevel"})["type"] != "ByteLevel",
                  "added_tokens": any(token.get(key) for token in data.get("added_tokens") or [] for key in ("single_word", "lstrip", "rstrip"))}
        if unsupported := [name for name, is_other in others.items() if is_other]:
            raise ValueError(f"{path}: {', '.join(unsupported)} has settings that are not supported; expected byte-level BPE")
        self._prefix_space = parts[0].get("add_prefix_space", True)

    def id_of(self, token):
        """The id of a token, such as "<|endoftext|>"; None: none."""
        return self._added.get(token, self._vocab.get(token))

    def encode(self, text):
        """The ids of UTF-8 bytes. Bytes that are not UTF-8 are kept."""
        text = text.decode("utf-8", "surrogateescape")
        ids = []
        for part, token in self._split_added(text):
            ids += [token] if token is not None else self._encode_part(part)
        return ids

    def decode(self, ids):
        """The bytes of tokens; those of one id may end within a character."""
        return b"".join(self._bytes.get(i, b"") for i in ids)

    def _split_added(self, text):
        """(text, None) and (added token, its id) in turn: the longest added token at the first place counts."""
        while text:
            places = [(text.find(token), -len(token), token) for token in self._added if token in text]
            if not places:
                yield text, None
                return
            place, _, token = min(places)
            if place:
                yield text[:place], None
            yield token, self._added[token]
            text = text[place + len(token):]

    def _encode_part(self, text):
        ids = []
        for part in self._split_digits(text):
            if self._prefix_space and not part.startswith(" "):
                part = " " + part
            for piece in split(part):
                ids += self._encode_piece(piece.encode("utf-8", "surrogateescape"))
        return ids

    def _split_digits(self, text):
        if not self._digits:
            return [text]
        parts, last = [], None
        for char in text:
            kind = kind_of(char) == "N"
            if kind != last or kind and self._digits.get("individual_digits"):
                parts.append("")
            parts[-1] += char
            last = kind
        return parts

    def _encode_piece(self, piece):
        """Merges neighbours, the pair of the lowest rank first, the leftmost of equal ones."""
        word = "".join(LETTERS[byte] for byte in piece)
        if self._whole_words and word in self._vocab:
            return [self._vocab[word]]
        ids = [self._vocab[letter] for letter in word]
        following, previous = list(range(1, len(ids) + 1)), list(range(-1, len(ids) - 1))
        queue = []

        def push(i):
            if i >= 0 and following[i] < len(ids) and (ids[i], ids[following[i]]) in self._merges:
                rank, merged = self._merges[ids[i], ids[following[i]]]
                heapq.heappush(queue, (rank, i, ids[i], ids[following[i]], merged))

        for i in range(len(ids)):
            push(i)
        while queue:
            _, i, left, right, merged = heapq.heappop(queue)
            j = following[i]
            if ids[i] != left or j >= len(ids) or ids[j] != right:
                continue  # one of them was merged before
            ids[i], ids[j] = merged, None
            following[i] = following[j]
            if following[j] < len(ids):
                previous[following[j]] = i
            push(i)
            push(previous[i])
        return [i for i in ids if i is not None]
