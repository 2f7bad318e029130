// SPDX-License-Identifier: Apache-2.0
// Three steps: added tokens are cut out of the text, the rest is split into pieces, and in each
// piece, which begins as one token per byte, neighbours are merged in the order of their ranks.
//
// tokenizer.json shows each byte of a token as a letter (GPT-2's bytes_to_unicode): printable
// characters of Latin-1 as themselves, the 68 others as the code points 256 and up.

#include "tokenizer.h"

#include "json_reader.h"
#include "unicode_kinds.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ID = 1 << 20, N_LETTERS = 256 + 68, NO_TOKEN = -1 };

// A hash table with open addressing: the value of a pair of ids, or the id of a name. Half of the
// slots stay empty.
typedef struct slot {
    int32_t left, right; // of a pair
    int32_t rank;        // of a pair; the merge of the lowest rank comes first
    int32_t id;          // NO_TOKEN: the slot is empty
} slot;

typedef struct token {
    char *bytes; // NULL: no token has this id
    size_t len;
    const char *name; // its key in the vocabulary; NULL: only an added token
    size_t name_len;
} token;

struct tokenizer {
    json_document *document;
    token *tokens;
    int32_t n_tokens; // 1 + the highest id
    int32_t *added;   // the ids of added tokens
    int32_t n_added;
    slot *names, *merges;
    size_t names_mask, merges_mask; // numbers of slots, less 1
    int32_t of_byte[256];
    int adds_space, splits_digits, isolates_digits, keeps_words;
};

// Characters

// Ordered as the alternatives of the expression.
typedef enum char_kind { LETTER, NUMBER, SPACE, OTHER } char_kind;

static int is_within(uint32_t code, const uint32_t (*ranges)[2], size_t n)
{
    size_t low = 0;
    while (n > 0) {
        const size_t half = n / 2;
        if (code > ranges[low + half][1]) {
            low += half + 1;
            n -= half + 1;
        } else if (code < ranges[low + half][0]) {
            n = half;
        } else {
            return 1;
        }
    }
    return 0;
}

#define IS_WITHIN(code, ranges) is_within(code, ranges, sizeof(ranges) / sizeof((ranges)[0]))

static char_kind kind_of(uint32_t code)
{
    static const uint32_t spaces[][2] = {
        {0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
        {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
    return IS_WITHIN(code, spaces)            ? SPACE
           : IS_WITHIN(code, unicode_letters) ? LETTER
           : IS_WITHIN(code, unicode_numbers) ? NUMBER
                                              : OTHER;
}

// The length of the first character of UTF-8, and its code point; 1 and UINT32_MAX for a byte that
// begins no valid one. len is at least 1.
static size_t read_char(const char *text, size_t len, uint32_t *code)
{
    static const uint32_t min[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char first = (unsigned char)text[0];
    const size_t n = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    *code = n > 1 ? first & 0x7Fu >> n : first;
    for (size_t i = 1; i < n; i++) {
        if (i >= len || ((unsigned char)text[i] & 0xC0) != 0x80)
            return *code = UINT32_MAX, 1;
        *code = *code << 6 | ((unsigned char)text[i] & 0x3F);
    }
    if (n == 0 || *code < min[n] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000))
        return *code = UINT32_MAX, 1;
    return n;
}

static char_kind char_at(const char *text, size_t len, size_t *n)
{
    uint32_t code;
    *n = read_char(text, len, &code);
    return kind_of(code);
}

// The length of the characters of `kind` that begin the text; *last: that of the last one.
static size_t run_of(const char *text, size_t len, char_kind kind, size_t *last)
{
    size_t end = 0, n;
    while (end < len && char_at(text + end, len - end, &n) == kind) {
        *last = n;
        end += n;
    }
    return end;
}

static size_t contraction_at(const char *text, size_t len)
{
    static const char *const all[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const size_t n = strlen(all[i]);
        if (len >= n && !memcmp(text, all[i], n))
            return n;
    }
    return 0;
}

size_t tokenizer_piece(const char *text, size_t len)
{
    size_t n, last = 0;
    const size_t contraction = contraction_at(text, len);
    if (contraction)
        return contraction;
    size_t begin = text[0] == ' ' && len > 1 && char_at(text + 1, len - 1, &n) != SPACE;
    const char_kind kind = char_at(text + begin, len - begin, &n);
    const size_t end = begin + run_of(text + begin, len - begin, kind, &last);
    // The last of several spaces belongs to the piece after them, if there is one.
    return kind == SPACE && end < len && end > last ? end - last : end;
}

// Hash tables

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

static uint64_t hash_bytes(const char *bytes, size_t len)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    return hash;
}

static slot *new_slots(size_t n, size_t *mask)
{
    size_t size = 16;
    while (size < 2 * n)
        size *= 2;
    slot *const slots = malloc(size * sizeof(slot));
    for (size_t i = 0; slots && i < size; i++)
        slots[i].id = NO_TOKEN;
    *mask = size - 1;
    return slots;
}

// The slot of a name in the vocabulary, or the empty one for it.
static slot *find_name(const tokenizer *t, const char *name, size_t len)
{
    size_t i = hash_bytes(name, len) & t->names_mask;
    for (; t->names[i].id != NO_TOKEN; i = (i + 1) & t->names_mask) {
        const token *const other = &t->tokens[t->names[i].id];
        if (other->name_len == len && !memcmp(name, other->name, len))
            break;
    }
    return &t->names[i];
}

static slot *find_merge(const tokenizer *t, int32_t left, int32_t right)
{
    size_t i = mix((uint64_t)left << 32 | (uint32_t)right) & t->merges_mask;
    while (t->merges[i].id != NO_TOKEN &&
           (t->merges[i].left != left || t->merges[i].right != right))
        i = (i + 1) & t->merges_mask;
    return &t->merges[i];
}

// Reading

typedef struct reader {
    tokenizer *t;
    const json *root;
    int32_t byte_of[N_LETTERS]; // of each letter; -1: none
    char why[120];
} reader;

static int reject(reader *r, const char *why, const char *what, size_t len)
{
    if (!r->why[0])
        snprintf(r->why, sizeof(r->why), "%s%s%.*s%s", why, what ? " '" : "",
                 (int)(len < 60 ? len : 60), what ? what : "", what ? "'" : "");
    return -1;
}

static size_t n_children(const json *value)
{
    size_t n = 0;
    for (const json *child = json_first(value); child; child = child->next)
        n++;
    return n;
}

// The letter of each byte: see above.
static uint32_t letter_of(int byte, int *n_others)
{
    const int is_shown =
        (byte >= 0x21 && byte < 0x7F) || (byte >= 0xA1 && byte < 0xAD) || byte >= 0xAE;
    return is_shown ? (uint32_t)byte : 256 + (uint32_t)(*n_others)++;
}

static void set_letters(reader *r)
{
    int n_others = 0;
    memset(r->byte_of, -1, sizeof(r->byte_of));
    for (int byte = 0; byte < 256; byte++)
        r->byte_of[letter_of(byte, &n_others)] = byte;
}

// The bytes that the letters of a token show; its name, if it has other characters.
static void decode_name(const reader *r, token *t)
{
    for (size_t i = 0; i < t->name_len;) {
        uint32_t code;
        i += read_char(t->name + i, t->name_len - i, &code);
        if (code >= N_LETTERS || r->byte_of[code] < 0) {
            memcpy(t->bytes, t->name, t->len = t->name_len);
            return;
        }
        t->bytes[t->len++] = (char)r->byte_of[code];
    }
}

// The token of an id, with room for `len` bytes and without its old ones; NULL: failed.
static token *token_of(reader *r, const json *id, size_t len)
{
    if (!id || id->type != JSON_NUMBER || !(id->number >= 0 && id->number < r->t->n_tokens) ||
        id->number != (int32_t)id->number)
        return reject(r, "id of a token, expected an integer below 1048576", NULL, 0), NULL;
    token *const t = &r->t->tokens[(int32_t)id->number];
    free(t->bytes);
    t->len = 0;
    t->bytes = malloc(len + 1);
    if (!t->bytes)
        return reject(r, "out of memory", NULL, 0), NULL;
    return t;
}

// 1 + the highest id, at most MAX_ID.
static int32_t count_ids(const json *vocab, const json *added)
{
    double max = 0;
    for (const json *id = json_first(vocab); id; id = id->next)
        max = id->number > max ? id->number : max;
    for (const json *entry = json_first(added); entry; entry = entry->next) {
        const json *const id = json_get(entry, "id");
        max = id && id->number > max ? id->number : max;
    }
    return max < MAX_ID ? (int32_t)max + 1 : MAX_ID;
}

static int read_added_token(reader *r, const json *entry)
{
    static const char *const unsupported[] = {"single_word", "lstrip", "rstrip"};
    const json *const content = json_get(entry, "content"), *const id = json_get(entry, "id");
    if (!content || content->type != JSON_STRING || content->len == 0)
        return reject(r, "added token without a content", NULL, 0);
    for (int i = 0; i < 3; i++)
        if (json_is_true(json_get(entry, unsupported[i])))
            return reject(r, "unsupported setting of an added token:", unsupported[i],
                          strlen(unsupported[i]));
    token *const t = token_of(r, id, content->len);
    if (!t)
        return -1;
    memcpy(t->bytes, content->text, t->len = content->len);
    r->t->added[r->t->n_added++] = (int32_t)id->number;
    return 0;
}

// After the vocabulary: an added token may have the id of one there.
static int read_added(reader *r)
{
    const json *entry = json_first(json_get(r->root, "added_tokens"));
    while (entry && !read_added_token(r, entry))
        entry = entry->next;
    return entry ? -1 : 0;
}

static int read_token(reader *r, const json *id)
{
    token *const t = token_of(r, id, id->key_len);
    if (!t)
        return -1;
    if (t->name)
        return reject(r, "two tokens with the id of", t->name, t->name_len);
    t->name = id->key;
    t->name_len = id->key_len;
    decode_name(r, t);
    find_name(r->t, t->name, t->name_len)->id = (int32_t)id->number;
    return 0;
}

static int read_vocab(reader *r)
{
    tokenizer *const t = r->t;
    const json *const vocab = json_get(json_get(r->root, "model"), "vocab");
    const json *const added = json_get(r->root, "added_tokens");
    if (!vocab || vocab->type != JSON_OBJECT)
        return reject(r, "model without a vocab", NULL, 0);
    t->n_tokens = count_ids(vocab, added);
    t->tokens = calloc((size_t)t->n_tokens, sizeof(token));
    t->added = calloc(n_children(added) + 1, sizeof(int32_t));
    t->names = new_slots(n_children(vocab), &t->names_mask);
    if (!t->tokens || !t->added || !t->names)
        return reject(r, "out of memory", NULL, 0);
    for (const json *id = json_first(vocab); id; id = id->next)
        if (read_token(r, id))
            return -1;
    return 0;
}

// The id of a part of a merge, by its name.
static int32_t part_id(reader *r, const char *name, size_t len)
{
    const int32_t id = find_name(r->t, name, len)->id;
    if (id == NO_TOKEN)
        reject(r, "merge of a token that the vocab lacks:", name, len);
    return id;
}

// The two parts of a merge: "left right", or ["left", "right"]. `both` receives them joined.
static int split_merge(reader *r, const json *merge, char *both, size_t *left, size_t *len)
{
    const json *const first = json_first(merge), *const second = first ? first->next : NULL;
    if (merge->type == JSON_STRING) {
        const char *const space = memchr(merge->text, ' ', merge->len);
        if (!space || space == merge->text)
            return reject(r, "expected two tokens in merge", merge->text, merge->len);
        *left = (size_t)(space - merge->text);
        *len = merge->len - 1;
        memcpy(both, merge->text, *left);
        memcpy(both + *left, space + 1, *len - *left);
        return 0;
    }
    if (!second || first->type != JSON_STRING || second->type != JSON_STRING)
        return reject(r, "expected merges of two tokens", NULL, 0);
    *left = first->len;
    *len = first->len + second->len;
    memcpy(both, first->text, first->len);
    memcpy(both + *left, second->text, second->len);
    return 0;
}

static size_t merge_size(const json *merge)
{
    const json *const first = json_first(merge);
    return merge->len + (first ? first->len + (first->next ? first->next->len : 0) : 0);
}

static int read_merge(reader *r, const json *merge, int32_t rank, char *both)
{
    size_t left_len, len;
    if (split_merge(r, merge, both, &left_len, &len))
        return -1;
    const int32_t left = part_id(r, both, left_len);
    const int32_t right = part_id(r, both + left_len, len - left_len);
    const int32_t merged = part_id(r, both, len);
    if (left == NO_TOKEN || right == NO_TOKEN || merged == NO_TOKEN)
        return -1;
    slot *const found = find_merge(r->t, left, right);
    if (found->id == NO_TOKEN)
        *found = (slot){.left = left, .right = right, .rank = rank, .id = merged};
    return 0;
}

static int read_merges(reader *r)
{
    const json *const merges = json_get(json_get(r->root, "model"), "merges");
    size_t longest = 0;
    int32_t rank = 0;
    for (const json *merge = json_first(merges); merge; merge = merge->next)
        longest = merge_size(merge) > longest ? merge_size(merge) : longest;
    char *const both = malloc(longest + 1);
    r->t->merges = new_slots(n_children(merges), &r->t->merges_mask);
    int status = both && r->t->merges ? 0 : reject(r, "out of memory", NULL, 0);
    for (const json *merge = json_first(merges); merge && !status; merge = merge->next)
        status = read_merge(r, merge, rank++, both);
    free(both);
    return status;
}

static int read_bytes(reader *r)
{
    for (int byte = 0, n_others = 0; byte < 256; byte++) {
        const uint32_t code = letter_of(byte, &n_others);
        const char utf8[] = {(char)(0xC0 | code >> 6), (char)(0x80 | (code & 0x3F))};
        const char ascii = (char)code;
        r->t->of_byte[byte] =
            code < 0x80 ? find_name(r->t, &ascii, 1)->id : find_name(r->t, utf8, 2)->id;
        if (r->t->of_byte[byte] == NO_TOKEN)
            return reject(r, "vocab lacks the byte", code < 0x80 ? &ascii : utf8,
                          1 + (code > 0x7F));
    }
    return 0;
}

static int is_absent(const json *value)
{
    return !value || value->type == JSON_NULL || (value->type == JSON_STRING && value->len == 0);
}

static int is_of_type(const json *part, const char *type)
{
    return json_is(json_get(part, "type"), type);
}

static int read_model(reader *r)
{
    static const char *const unsupported[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    const json *const model = json_get(r->root, "model");
    const json *const type = json_get(model, "type");
    if (!model || (!is_absent(type) && !json_is(type, "BPE")))
        return reject(r, "expected a model of type BPE", NULL, 0);
    for (int i = 0; i < 2; i++)
        if (!is_absent(json_get(model, unsupported[i])))
            return reject(r, "model does not support", unsupported[i], strlen(unsupported[i]));
    r->t->keeps_words = json_is_true(json_get(model, "ignore_merges"));
    return 0;
}

static int read_pre_tokenizer(reader *r)
{
    const json *part = json_get(r->root, "pre_tokenizer");
    const int is_sequence = is_of_type(part, "Sequence");
    if (is_sequence)
        part = json_first(json_get(part, "pretokenizers"));
    if (is_sequence && is_of_type(part, "Digits")) {
        r->t->splits_digits = 1;
        r->t->isolates_digits = json_is_true(json_get(part, "individual_digits"));
        part = part->next;
    }
    const json *const regex = json_get(part, "use_regex"), *const space =
                                                               json_get(part, "add_prefix_space");
    if (!is_of_type(part, "ByteLevel") || (regex && !json_is_true(regex)) ||
        (is_sequence && part->next))
        return reject(r, "expected pre_tokenizer ByteLevel, or Digits and ByteLevel", NULL, 0);
    r->t->adds_space = !space || json_is_true(space);
    return 0;
}

// Rejects what would change ids, and is not supported.
static int check_others(reader *r)
{
    const json *const post = json_get(r->root, "post_processor");
    if (!is_absent(json_get(r->root, "normalizer")))
        return reject(r, "normalizers are not supported", NULL, 0);
    if (!is_absent(post) && !is_of_type(post, "ByteLevel"))
        return reject(r, "expected post_processor ByteLevel, or none", NULL, 0);
    return 0;
}

static tokenizer *build(const char *name, json_document *document, char *why, size_t size)
{
    reader r = {.t = calloc(1, sizeof(tokenizer)), .root = json_root(document)};
    set_letters(&r);
    if (!r.t) {
        snprintf(why, size, "out of memory");
        json_free(document);
        return NULL;
    }
    r.t->document = document;
    if (read_model(&r) || read_pre_tokenizer(&r) || check_others(&r) || read_vocab(&r) ||
        read_merges(&r) || read_bytes(&r) || read_added(&r)) {
        snprintf(why, size, "%s: %s", name, r.why);
        tokenizer_free(r.t);
        return NULL;
    }
    return r.t;
}

tokenizer *tokenizer_read(const char *file, char *why, size_t size)
{
    json_document *const document = json_read(file, why, size);
    return document ? build(file, document, why, size) : NULL;
}

tokenizer *tokenizer_parse(const char *name, const char *text, size_t len, char *why, size_t size)
{
    char reason[80];
    json_document *const document = json_parse(text, len, reason, sizeof(reason));
    if (document)
        return build(name, document, why, size);
    snprintf(why, size, "%s: %s", name, reason);
    return NULL;
}

void tokenizer_free(tokenizer *tokens)
{
    if (!tokens)
        return;
    for (int32_t i = 0; i < tokens->n_tokens && tokens->tokens; i++)
        free(tokens->tokens[i].bytes);
    free(tokens->tokens);
    free(tokens->added);
    free(tokens->names);
    free(tokens->merges);
    json_free(tokens->document);
    free(tokens);
}

// Encoding

// The tokens of a piece, as a list within an array.
typedef struct symbol {
    int32_t id; // NO_TOKEN: it was merged into the one before it
    size_t previous, next;
} symbol;

// A merge that was possible when it came into the queue.
typedef struct candidate {
    int32_t rank, left, right, merged;
    size_t at; // the symbol of `left`
} candidate;

typedef struct encoder {
    const tokenizer *t;
    symbol *symbols;
    candidate *queue; // a heap: the lowest rank first, then the leftmost
    size_t n_queue, n_symbols;
    int64_t *ids;
    long n_ids;
} encoder;

static int is_before(const candidate *a, const candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void push(encoder *e, size_t at)
{
    const symbol *const s = at < e->n_symbols ? &e->symbols[at] : NULL;
    if (!s || s->next >= e->n_symbols)
        return;
    const slot *const merge = find_merge(e->t, s->id, e->symbols[s->next].id);
    if (merge->id == NO_TOKEN)
        return;
    const candidate added = {merge->rank, merge->left, merge->right, merge->id, at};
    size_t i = e->n_queue++;
    for (; i > 0 && is_before(&added, &e->queue[(i - 1) / 2]); i = (i - 1) / 2)
        e->queue[i] = e->queue[(i - 1) / 2];
    e->queue[i] = added;
}

static candidate pop(encoder *e)
{
    const candidate first = e->queue[0], last = e->queue[--e->n_queue];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < e->n_queue) {
        child += child + 1 < e->n_queue && is_before(&e->queue[child + 1], &e->queue[child]);
        if (!is_before(&e->queue[child], &last))
            break;
        e->queue[i] = e->queue[child];
        i = child;
    }
    e->queue[i] = last;
    return first;
}

static void merge_at(encoder *e, const candidate *c)
{
    symbol *const s = &e->symbols[c->at];
    if (s->id != c->left || s->next >= e->n_symbols || e->symbols[s->next].id != c->right)
        return; // one of them was merged before
    e->symbols[s->next].id = NO_TOKEN;
    s->id = c->merged;
    s->next = e->symbols[s->next].next;
    if (s->next < e->n_symbols)
        e->symbols[s->next].previous = c->at;
    push(e, c->at);
    push(e, s->previous);
}

// The id of a whole piece, for models with ignore_merges; NO_TOKEN: none.
static int32_t whole_word(const tokenizer *t, const char *text, size_t len)
{
    char name[256];
    size_t n = 0;
    if (!t->keeps_words || len > sizeof(name) / 2)
        return NO_TOKEN;
    for (size_t i = 0; i < len; i++) {
        const token *const byte = &t->tokens[t->of_byte[(unsigned char)text[i]]];
        memcpy(name + n, byte->name, byte->name_len); // one or two bytes
        n += byte->name_len;
    }
    return find_name(t, name, n)->id;
}

static void encode_piece(encoder *e, const char *text, size_t len)
{
    const int32_t word = whole_word(e->t, text, len);
    if (word != NO_TOKEN) {
        e->ids[e->n_ids++] = word;
        return;
    }
    e->n_symbols = len;
    for (size_t i = 0; i < len; i++)
        e->symbols[i] = (symbol){e->t->of_byte[(unsigned char)text[i]], i - 1, i + 1};
    for (size_t i = 0; i < len; i++)
        push(e, i);
    while (e->n_queue > 0) {
        const candidate c = pop(e);
        merge_at(e, &c);
    }
    for (size_t i = 0; i < len; i++)
        if (e->symbols[i].id != NO_TOKEN)
            e->ids[e->n_ids++] = e->symbols[i].id;
}

// The length of the digits, or of other characters, that begin the text.
static size_t digits_at(const tokenizer *t, const char *text, size_t len)
{
    size_t n;
    if (!t->splits_digits)
        return len;
    const int is_number = char_at(text, len, &n) == NUMBER;
    size_t end = n;
    while (end < len && !(is_number && t->isolates_digits) &&
           (char_at(text + end, len - end, &n) == NUMBER) == is_number)
        end += n;
    return end;
}

// Encodes text without added tokens. `text[-1]` may be overwritten.
static void encode_text(encoder *e, char *text, size_t len)
{
    while (len > 0) {
        const size_t part = digits_at(e->t, text, len);
        const int adds_space = e->t->adds_space && text[0] != ' ';
        const char *at = text - adds_space;
        if (adds_space)
            text[-1] = ' ';
        for (const char *const end = text + part; at < end;) {
            const size_t piece = tokenizer_piece(at, (size_t)(end - at));
            encode_piece(e, at, piece);
            at += piece;
        }
        text += part;
        len -= part;
    }
}

// The longest added token that begins the text; NO_TOKEN: none.
static int32_t added_at(const tokenizer *t, const char *text, size_t len)
{
    int32_t best = NO_TOKEN;
    for (int32_t i = 0; i < t->n_added; i++) {
        const token *const added = &t->tokens[t->added[i]];
        if (added->len <= len && added->bytes[0] == text[0] &&
            !memcmp(added->bytes, text, added->len) &&
            (best == NO_TOKEN || added->len > t->tokens[best].len))
            best = t->added[i];
    }
    return best;
}

static void encode_all(encoder *e, char *text, size_t len)
{
    size_t begin = 0;
    for (size_t i = 0; i < len;) {
        const int32_t added = added_at(e->t, text + i, len - i);
        if (added == NO_TOKEN) {
            i++;
            continue;
        }
        encode_text(e, text + begin, i - begin);
        e->ids[e->n_ids++] = added;
        begin = i += e->t->tokens[added].len;
    }
    encode_text(e, text + begin, len - begin);
}

// Each byte, and each space that a part gets, is at most one token; a part has at least a byte. A
// merge enters two candidates in place of one, and there are fewer merges than bytes.
long tokenizer_encode(const tokenizer *tokens, const char *text, size_t len, int64_t **ids)
{
    encoder e = {.t = tokens};
    char *copy = NULL;
    *ids = NULL;
    if (len > SIZE_MAX / 4 / sizeof(candidate) || len > LONG_MAX / 4)
        return -1;
    copy = malloc(len + 1); // begins with room for a space
    e.symbols = malloc((len + 1) * sizeof(symbol));
    e.queue = malloc(3 * (len + 1) * sizeof(candidate));
    e.ids = malloc(2 * (len + 1) * sizeof(int64_t));
    const int has_memory = copy && e.symbols && e.queue && e.ids;
    if (has_memory) {
        memcpy(copy + 1, text, len);
        encode_all(&e, copy + 1, len);
        *ids = e.ids;
    } else {
        free(e.ids);
    }
    free(copy);
    free(e.symbols);
    free(e.queue);
    return has_memory ? e.n_ids : -1;
}

const char *tokenizer_bytes(const tokenizer *tokens, int64_t id, size_t *len)
{
    const int is_known = id >= 0 && id < tokens->n_tokens && tokens->tokens[id].bytes;
    *len = is_known ? tokens->tokens[id].len : 0;
    return is_known ? tokens->tokens[id].bytes : NULL;
}

int64_t tokenizer_id(const tokenizer *tokens, const char *name)
{
    const size_t len = strlen(name);
    for (int32_t i = 0; i < tokens->n_added; i++) {
        const token *const added = &tokens->tokens[tokens->added[i]];
        if (added->len == len && !memcmp(added->bytes, name, len))
            return tokens->added[i];
    }
    return find_name(tokens, name, len)->id;
}
