// SPDX-License-Identifier: Apache-2.0
// Operations on tensors of strings (TL_STRING, see tl_string.h). Strings are UTF-8; each invalid
// byte counts as a character.
//
// Functions that create strings put them into exec->strings, and fail without it. They use one
// thread. As all functions tl_exec_X, they trust dtypes and shapes, and return 0, or -1 with a
// reason.

#ifndef TL_TEXT_H
#define TL_TEXT_H

#include <stddef.h>

#include "tensorlight/tl_api.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** Whether src1 and src2, broadcast, are equal strings; dst has TL_BOOL. */
TL_API int tl_exec_strings_equal(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                                 tl_tensor *dst);

/** src1 followed by src2, broadcast. Source: ONNX StringConcat-20. */
TL_API int tl_exec_strings_join(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                                tl_tensor *dst);

/** From strings to numbers or bools, or back; shapes of equal len. Source: ONNX Cast-13.
 *
 *  To strings: integers in decimal, bools as True and False, floats with the fewest digits that
 *  distinguish them from all others of their type, in plain notation from 1e-4 to below 1e16, else
 *  with an exponent: 0.1, 1.0, 1e-05, as NumPy prints them, but INF, -INF and NaN.
 *  From strings: decimal numbers with or without an exponent, INF, INFINITY and NAN in any case,
 *  with a sign and white space around; True and False, too, for bools. Integers accept a fraction,
 *  which is cut. -1: another text, or one out of an integer's range. */
TL_API int tl_exec_cast_strings(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** The parts between delimiters, at most max_split + 1 (max_split < 0: any number); `delimiter`
 *  NULL or empty: between white space, which begins and ends no part. Source: ONNX StringSplit-20
 *  and Python's str.split. */
typedef struct tl_split {
    const char *delimiter; // ends with a 0
    int max_split;
} tl_split;

/** src [..] -> dst [.., k], each string's parts and then empty ones, and counts [..] of TL_INT64,
 *  the number of parts; *k: the max of them. `dst` holds [.., max]. -1: more parts. */
TL_API int tl_exec_strings_split(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                 tl_tensor *counts, const tl_split *param, int max, int *k);

/** Letters: unchanged, or in lower or upper case by Unicode's simple case mapping, which maps one
 *  character to one, in every language. */
typedef enum tl_case {
    TL_CASE_INVALID = -1,
    TL_CASE_NONE = 0,
    TL_CASE_LOWER,
    TL_CASE_UPPER,
    TL_CASE_SIZE
} tl_case;
TL_API const char *tl_case_name(tl_case letters);
TL_API tl_case tl_case_from_str(const char *str);

/** src [C] without the strings in `stopwords` (1-D, or NULL), converted to the case; *n: the number
 *  of those left. `ignores_case`: letters of stop words match those of the other case. If none is
 * left, one empty string is. `dst` has room for max(C, 1). Source: ONNX StringNormalizer-10. */
TL_API int tl_exec_strings_normalize(const tl_exec *exec, const tl_tensor *src,
                                     const tl_tensor *stopwords, tl_tensor *dst, tl_case letters,
                                     int ignores_case, int *n);

// Regular expressions

/** A regular expression in the syntax of RE2, without \C and most names of \p: L, N, P, Z and the
 *  scripts Latin, Greek, Cyrillic, Han. Matching time is linear in the length of the text. */
typedef struct tl_regex tl_regex;

/** Returns new (tl_regex_free). NULL with a reason that names the position: invalid syntax, too
 *  large, no memory. */
TL_API tl_regex *tl_regex_create(const char *pattern);

/** Ignores NULL. */
TL_API void tl_regex_free(tl_regex *regex);

/** Bytes of scratch memory for tl_exec_regex_match. */
TL_API size_t tl_regex_scratch(const tl_regex *regex);

/** Whether the expression matches the whole of each string; dst has TL_BOOL. Source: ONNX
 *  RegexFullMatch-20. */
TL_API int tl_exec_regex_match(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                               const tl_regex *regex);

// N-grams: sequences of tokens, which are numbers or strings

/** A pool of n-grams, one after the other: those of length i + 1 from token starts[i] on. A NaN
 *  equals a NaN. */
typedef struct tl_ngrams {
    const int *starts; // ascending, the first is 0
    int n_starts;
} tl_ngrams;

/** The number of n-grams in a pool of `len` tokens. -1 with a reason: starts are not ascending, or
 *  beyond the pool, or a length does not divide the tokens of its n-grams. */
TL_API int tl_ngrams_count(const tl_ngrams *grams, int len);

/** order [tl_ngrams_count] of TL_INT32: the indices of the n-grams, sorted by length and tokens. */
TL_API int tl_exec_ngrams_order(const tl_exec *exec, const tl_tensor *pool, tl_tensor *order,
                                const tl_ngrams *grams);

/** Bytes of scratch memory for tl_exec_ngrams_order. */
TL_API size_t tl_ngrams_scratch(const tl_tensor *order);

/** keys and values are 1-D, in pairs: dst[i] = values[k] for the first k with keys[k] = src[i],
 *  else *deflt. keys have the dtype of src, `order` is that of 1-grams; values, deflt (of one
 *  element) and dst have any dtype. Source: ONNX LabelEncoder (ai.onnx.ml). */
TL_API int tl_exec_lookup(const tl_exec *exec, const tl_tensor *src, const tl_tensor *keys,
                          const tl_tensor *order, const tl_tensor *values, const tl_tensor *deflt,
                          tl_tensor *dst);

/** Modes of TfIdfVectorizer: counts; weights of those found; products of counts and weights. */
typedef enum tl_tfidf_mode {
    TL_TFIDF_MODE_INVALID = -1,
    TL_TFIDF_TF = 0,
    TL_TFIDF_IDF,
    TL_TFIDF_TFIDF,
    TL_TFIDF_MODE_SIZE
} tl_tfidf_mode;
TL_API const char *tl_tfidf_mode_name(tl_tfidf_mode mode);
TL_API tl_tfidf_mode tl_tfidf_mode_from_str(const char *str);

typedef struct tl_tfidf {
    tl_ngrams grams;
    int min, max; // lengths of n-grams to count
    int max_skip; // max tokens skipped between two of an n-gram
    tl_tfidf_mode mode;
} tl_tfidf;

/** dst [N, D] or [D] of TL_FLOAT: the n-grams in the rows of src [N, C] or [C]: of n-gram i at
 *  index[i] (TL_INT32, 0 .. D-1), by weights[i] (TL_FLOAT). `pool` has TL_STRING as src, or
 *  TL_INT64, for TL_INT32 and TL_INT64. Source: ONNX TfIdfVectorizer-9. */
TL_API int tl_exec_tfidf(const tl_exec *exec, const tl_tensor *src, const tl_tensor *pool,
                         const tl_tensor *order, const tl_tensor *index, const tl_tensor *weights,
                         tl_tensor *dst, const tl_tfidf *param);

TL_END_DECLS

#endif
