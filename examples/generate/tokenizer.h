// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE from a tokenizer.json of Hugging Face: text to ids and back.
//
//     char why[200];
//     tokenizer *tokens = tokenizer_read("tokenizer.json", why, sizeof(why));
//     int64_t *ids;
//     long n = tokenizer_encode(tokens, "Once upon a time", 16, &ids);
//     size_t len;
//     const char *piece = tokenizer_bytes(tokens, ids[0], &len); // "Once"
//     free(ids);
//     tokenizer_free(tokens);
//
// | part            | supported                                                                  |
// |-----------------|----------------------------------------------------------------------------|
// | `model`         | `BPE` with a token for each byte; `ignore_merges`. No suffixes or prefixes |
// | `pre_tokenizer` | `ByteLevel` with its expression (GPT-2's), `add_prefix_space`; `Digits`     |
// |                 | before it                                                                  |
// | `added_tokens`  | found in the text before it is split, the longest of those that begin      |
// |                 | first; no `single_word`, `lstrip`, `rstrip`                                |
// | `normalizer`    | none                                                                       |
// | `post_processor`| `ByteLevel`, which adds no tokens                                          |
//
// Other values are errors, except for settings without an effect on ids. Dropout is off.
// The expression is 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// with the letters and numbers of unicode_kinds.h. Bytes that are not UTF-8 count as
// punctuation, so that any bytes survive a round trip.
#ifndef TOKENIZER_H
#define TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tokenizer tokenizer;

/** Reads tokenizer.json. Returns new (tokenizer_free); NULL: `why` has the reason, with the name
 *  of the file, cut to `size` bytes. */
tokenizer *tokenizer_read(const char *file, char *why, size_t size);

/** The same from `len` bytes; `name` is for messages. */
tokenizer *tokenizer_parse(const char *name, const char *text, size_t len, char *why, size_t size);

/** Ignores NULL. */
void tokenizer_free(tokenizer *tokens);

/** The ids of `len` bytes. *ids: new (free). Returns their number; -1: no memory, *ids is NULL. */
long tokenizer_encode(const tokenizer *tokens, const char *text, size_t len, int64_t **ids);

/** The bytes of a token, which may end within a character; an added token is its name. *len: their
 *  number. Returns borrowed, until tokenizer_free; NULL: there is no such id. */
const char *tokenizer_bytes(const tokenizer *tokens, int64_t id, size_t *len);

/** The length of the first piece of a text by the expression above. `len` is at least 1. */
size_t tokenizer_piece(const char *text, size_t len);

/** The id of a token by its name in tokenizer.json, such as "<|endoftext|>"; -1: none. */
int64_t tokenizer_id(const tokenizer *tokens, const char *name);

#ifdef __cplusplus
}
#endif

#endif
