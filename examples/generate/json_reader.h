// SPDX-License-Identifier: Apache-2.0
// Reads JSON (RFC 8259) into a tree of values, for small programs that need no library for it.
//
//     char why[100];
//     json_document *document = json_parse(text, len, why, sizeof(why));
//     const json *model = json_get(json_root(document), "model");
//     for (const json *merge = json_first(json_get(model, "merges")); merge; merge = merge->next)
//         use(merge->text, merge->len);
//     json_free(document);
#ifndef JSON_READER_H
#define JSON_READER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_type;

typedef struct json {
    json_type type;
    double number;            // of a number
    const char *text;         // of a string, with its escapes resolved; \0 follows it
    size_t len;               // its bytes, which may include \0
    const char *key;          // within an object; NULL elsewhere
    size_t key_len;           // its bytes
    const struct json *child; // the first value of an array or an object
    const struct json *next;  // the next value of the same array or object
} json;

typedef struct json_document json_document;

/** Parses `len` bytes. Returns new (json_free); NULL: `why` has the reason and its line, cut to
 *  `size` bytes. Rejects more than 100 nested values, and escaped surrogates without a partner.
 *  Bytes above 0x7f are kept as they are. */
json_document *json_parse(const char *text, size_t len, char *why, size_t size);

/** The same for a file. */
json_document *json_read(const char *file, char *why, size_t size);

/** Ignores NULL. */
void json_free(json_document *document);

/** The value of the document. Returns borrowed, as the functions below. */
const json *json_root(const json_document *document);

/** The first value of `key` in an object; NULL: none, or `object` is no object. */
const json *json_get(const json *object, const char *key);

/** The first value of an array or an object; NULL: none, another type, or `value` is NULL. */
const json *json_first(const json *value);

/** Whether `value` is the string `text`. */
int json_is(const json *value, const char *text);

/** Whether `value` is `true`. */
int json_is_true(const json *value);

#ifdef __cplusplus
}
#endif

#endif
