// SPDX-License-Identifier: Apache-2.0
// The tokenizer of examples/generate: pieces, merges, any bytes, and any tokenizer.json.

#include "json_reader.h"
#include "tokenizer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ln_check.h"

enum { MAX = 1 << 15 };

// Pieces

static void check_pieces(const char *text, const char *const *pieces)
{
    size_t len = strlen(text);
    for (; *pieces; pieces++) {
        ck_assert_msg(len > 0, "no text is left for '%s'", *pieces);
        const size_t n = tokenizer_piece(text, len);
        ck_assert_msg(n == strlen(*pieces) && !memcmp(text, *pieces, n),
                      "a piece is '%.*s', expected '%s'", (int)n, text, *pieces);
        text += n;
        len -= n;
    }
    ck_assert_msg(len == 0, "'%s' is left", text);
}

START_TEST(text_is_split_as_by_the_expression_of_gpt2)
{
    static const struct {
        const char *text, *pieces[12];
    } cases[] = {
        // the example of Hugging Face's course
        {"Hello, how are  you?", {"Hello", ",", " how", " are", " ", " you", "?"}},
        {"it's we've I'm they'll he'd",
         {"it", "'s", " we", "'ve", " I", "'m", " they", "'ll", " he", "'d"}},
        {"don't you're", {"don", "'t", " you", "'re"}},
        {"IT'S 'tis", {"IT", "'", "S", " '", "tis"}},
        {"x''s", {"x", "''", "s"}},
        {"'rest", {"'re", "st"}},
        {"a1b22 333", {"a", "1", "b", "22", " 333"}},
        {"wait...what?!", {"wait", "...", "what", "?!"}},
        {"  a", {" ", " a"}},
        {"a  ", {"a", "  "}},
        {"a \n\n b", {"a", " \n\n", " b"}},
        {"a\n\n\nb", {"a", "\n\n", "\n", "b"}},
        {"\tx", {"\t", "x"}},
        {" ", {" "}},
        {"\u00e9t\u00e9 \u65e5\u672c\u8a9e", {"\u00e9t\u00e9", " \u65e5\u672c\u8a9e"}},
        {"a\u00b2\u2167", {"a", "\u00b2\u2167"}}, // numbers of the categories No and Nl
        {"a\u00a0\u3000b", {"a", "\u00a0", "\u3000", "b"}},
        {"e\u0301", {"e", "\u0301"}}, // a combining accent is no letter
        {"\U0001F600\U0001F600 ok", {"\U0001F600\U0001F600", " ok"}},
        {"a\xff\xc3", {"a", "\xff\xc3"}},
        {"a\xed\xa0\x80\xc1\x81", {"a", "\xed\xa0\x80\xc1\x81"}}, // a surrogate, an overlong A
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_pieces(cases[i].text, cases[i].pieces);
}
END_TEST

// A tokenizer.json

typedef struct text {
    char bytes[MAX];
    size_t len;
} text;

static void add(text *t, const char *format, const char *a, int b)
{
    t->len += (size_t)snprintf(t->bytes + t->len, MAX - t->len, format, a, b);
    ck_assert(t->len < MAX);
}

// The letter of a byte, as GPT-2 shows it, in JSON.
static void add_letter(text *t, int byte, int *others)
{
    const int is_shown = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    const int code = is_shown ? byte : 256 + (*others)++;
    add(t, "\"\\u%s%04x\":", "", code);
}

// The bytes have the ids 0 to 255; `merges` those from 256 on; `others` replaces what follows.
static void write_json(text *t, const char *vocab, const char *merges, const char *others)
{
    int n_others = 0;
    t->len = 0;
    add(t, "%s%.0d", "{\"model\": {\"type\": \"BPE\", \"vocab\": {", 0);
    for (int byte = 0; byte < 256; byte++) {
        add_letter(t, byte, &n_others);
        add(t, "%s%d", "", byte);
        add(t, "%s%.0d", byte < 255 ? "," : "", 0);
    }
    add(t, "%s%.0d", vocab, 0);
    add(t, "}, \"merges\": [%s]%.0d", merges, 0);
    add(t, "%s%.0d", others, 0);
    add(t, "%s%.0d", "}", 0);
}

static const char plain[] =
    "}, \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}";

// The merges of Hugging Face's course (hug, pug, pun, bun, hugs), and those of spaces.
static const char course_vocab[] =
    ", \"ug\": 256, \"un\": 257, \"hug\": 258, \"\\u0120h\": 259, \"aa\": 260, \"aaaa\": 261";
static const char course_merges[] =
    "\"u g\", \"u n\", \"h ug\", [\"\\u0120\", \"h\"], \"a a\", \"aa aa\"";

static tokenizer *parse(const char *vocab, const char *merges, const char *others, char *why)
{
    text t;
    write_json(&t, vocab, merges, others);
    return tokenizer_parse("tokenizer.json", t.bytes, t.len, why, 200);
}

static void check_ids(const tokenizer *tokens, const char *given, size_t len, const int *expected,
                      long n)
{
    int64_t *ids;
    ck_assert_int_eq(tokenizer_encode(tokens, given, len, &ids), n);
    for (long i = 0; i < n; i++)
        ck_assert_int_eq(ids[i], expected[i]);
    free(ids);
}

#define CHECK_IDS(tokens, text, ...)                                      \
    check_ids(tokens, text, sizeof(text) - 1, (const int[]){__VA_ARGS__}, \
              sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

START_TEST(neighbours_merge_in_the_order_of_their_ranks)
{
    char why[200];
    tokenizer *const tokens = parse(course_vocab, course_merges, plain, why);
    ck_assert_msg(tokens != NULL, "%s", why);
    CHECK_IDS(tokens, "bug", 'b', 256);
    CHECK_IDS(tokens, "hugs", 258, 's');
    CHECK_IDS(tokens, "unhug", 257, 258);
    // "u g" is before " h": the space and h merge only where no "ug" follows
    CHECK_IDS(tokens, "a hug", 'a', ' ', 258);
    CHECK_IDS(tokens, "a ha", 'a', 259, 'a');
    CHECK_IDS(tokens, "aaaaaaa", 261, 260, 'a'); // the leftmost pair first
    CHECK_IDS(tokens, "u'gun", 'u', '\'', 'g', 257);
    check_ids(tokens, "", 0, NULL, 0);
    tokenizer_free(tokens);
}
END_TEST

START_TEST(added_tokens_are_found_before_the_text_is_split)
{
    static const char others[] =
        "}, \"added_tokens\": [{\"id\": 300, \"content\": \"<|end|>\", \"special\": true},"
        " {\"id\": 301, \"content\": \"<|end|>!\"}, {\"id\": 97, \"content\": \"a\"}],"
        " \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true}";
    char why[200];
    size_t len;
    tokenizer *const tokens = parse(course_vocab, course_merges, others, why);
    ck_assert_msg(tokens != NULL, "%s", why);
    CHECK_IDS(tokens, "hug<|end|>hug", ' ', 258, 300, ' ', 258);
    CHECK_IDS(tokens, "<|end|>!", 301); // the longest
    CHECK_IDS(tokens, " h<|end", 259, '<', '|', 'e', 'n', 'd');
    CHECK_IDS(tokens, "aa", 'a', 'a');
    ck_assert_int_eq(tokenizer_id(tokens, "<|end|>"), 300);
    ck_assert_int_eq(tokenizer_id(tokens, "hug"), 258);
    ck_assert_int_eq(tokenizer_id(tokens, "none"), -1);
    ck_assert_str_eq(tokenizer_bytes(tokens, 300, &len) ? "there" : "", "there");
    ck_assert_uint_eq(len, 7);
    ck_assert_ptr_null(tokenizer_bytes(tokens, 299, &len)); // between two ids
    ck_assert_ptr_null(tokenizer_bytes(tokens, 302, &len));
    ck_assert_ptr_null(tokenizer_bytes(tokens, -1, &len));
    tokenizer_free(tokens);
}
END_TEST

START_TEST(digits_and_whole_words_follow_their_settings)
{
    static const char digits[] =
        "}, \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": ["
        "{\"type\": \"Digits\", \"individual_digits\": true},"
        "{\"type\": \"ByteLevel\", \"add_prefix_space\": false}]}";
    static const char words[] = ", \"ignore_merges\": true}, \"pre_tokenizer\":"
                                " {\"type\": \"ByteLevel\", \"add_prefix_space\": false}";
    char why[200];
    tokenizer *tokens = parse(", \"11\": 256", "\"1 1\"", digits, why);
    ck_assert_msg(tokens != NULL, "%s", why);
    CHECK_IDS(tokens, "11 1", '1', '1', ' ', '1');
    tokenizer_free(tokens);
    tokens = parse(", \"11\": 256", "\"1 1\"", plain, why);
    CHECK_IDS(tokens, "11 1", 256, ' ', '1');
    tokenizer_free(tokens);
    tokens = parse(", \"cat\": 256, \"ca\": 257", "\"c a\"", words, why);
    ck_assert_msg(tokens != NULL, "%s", why);
    CHECK_IDS(tokens, "cat cats", 256, ' ', 257, 't', 's');
    tokenizer_free(tokens);
}
END_TEST

// Any input

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void check_round_trip(const tokenizer *tokens, const char *given, size_t len)
{
    int64_t *ids;
    size_t done = 0, n_bytes;
    const long n = tokenizer_encode(tokens, given, len, &ids);
    ck_assert_int_ge(n, 0);
    for (long i = 0; i < n; i++) {
        const char *const bytes = tokenizer_bytes(tokens, ids[i], &n_bytes);
        ck_assert(bytes && n_bytes <= len - done && !memcmp(bytes, given + done, n_bytes));
        done += n_bytes;
    }
    ck_assert_uint_eq(done, len);
    free(ids);
}

START_TEST(any_bytes_survive_a_round_trip)
{
    static const char usual[] = " \n'shugnaa1.\xc3\xa9";
    static char bytes[1 << 20];
    char why[200];
    uint32_t state = 1;
    tokenizer *const tokens = parse(course_vocab, course_merges, plain, why);
    ck_assert_msg(tokens != NULL, "%s", why);
    for (int i = 0; i < 2000; i += ln_check_step()) {
        const size_t len = next_random(&state) % 64;
        char *const exact = malloc(len ? len : 1); // so that sanitizers see its end
        for (size_t k = 0; k < len; k++)
            exact[k] = (char)(i % 2 ? next_random(&state)
                                    : (uint32_t)usual[next_random(&state) % (sizeof(usual) - 1)]);
        check_round_trip(tokens, exact, len);
        free(exact);
    }
    memset(bytes, 'a', sizeof(bytes)); // a long word takes no quadratic time
    check_round_trip(tokens, bytes, sizeof(bytes));
    tokenizer_free(tokens);
}
END_TEST

START_TEST(errors_name_the_file_and_the_reason)
{
    static const struct {
        const char *vocab, *merges, *others, *why;
    } cases[] = {
        {"", "\"h ug\"", plain, "merge of a token that the vocab lacks: 'ug'"},
        {"", "\"hug\"", plain, "expected two tokens in merge 'hug'"},
        {"", "[\"h\"]", plain, "expected merges of two tokens"},
        {", \"ug\": 97", "", plain, "two tokens with the id of 'a'"},
        {", \"ug\": -1", "", plain, "id of a token, expected an integer below 1048576"},
        {", \"ug\": 1e300", "", plain, "id of a token, expected an integer below 1048576"},
        {", \"ug\": \"x\"", "", plain, "id of a token, expected an integer below 1048576"},
        {"", "", "}", "expected pre_tokenizer ByteLevel, or Digits and ByteLevel"},
        {"", "", "}, \"pre_tokenizer\": {\"type\": \"Whitespace\"}",
         "expected pre_tokenizer ByteLevel, or Digits and ByteLevel"},
        {"", "",
         "}, \"normalizer\": {\"type\": \"NFC\"}, \"pre_tokenizer\": {\"type\": \"ByteLevel\"}",
         "normalizers are not supported"},
        {"", "", ", \"end_of_word_suffix\": \"</w>\"}",
         "model does not support 'end_of_word_suffix'"},
        {"", "", "}, \"added_tokens\": [{\"id\": 1}], \"pre_tokenizer\": {\"type\": \"ByteLevel\"}",
         "added token without a content"},
        {"", "",
         "}, \"added_tokens\": [{\"id\": 1, \"content\": \"x\", \"lstrip\": true}],"
         " \"pre_tokenizer\": {\"type\": \"ByteLevel\"}",
         "unsupported setting of an added token: 'lstrip'"},
    };
    char why[200], expected[200];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_ptr_null(parse(cases[i].vocab, cases[i].merges, cases[i].others, why));
        snprintf(expected, sizeof(expected), "tokenizer.json: %s", cases[i].why);
        ck_assert_str_eq(why, expected);
    }
    static const char small[] =
        "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []},"
        " \"pre_tokenizer\": {\"type\": \"ByteLevel\"}}";
    ck_assert_ptr_null(tokenizer_parse("tokenizer.json", small, strlen(small), why, sizeof(why)));
    ck_assert_ptr_nonnull(strstr(why, "vocab lacks the byte"));
    ck_assert_ptr_null(tokenizer_read("/no/such/file", why, sizeof(why)));
    ck_assert_str_eq(why, "/no/such/file: cannot be read");
}
END_TEST

// Whether the bytes are a tokenizer. Another one need not return the text.
static int try_json(const char *bytes, size_t len)
{
    char why[20] = ""; // reasons are cut
    char *const exact = malloc(len ? len : 1);
    int64_t *ids = NULL;
    if (len > 0)
        memcpy(exact, bytes, len);
    tokenizer *const tokens = tokenizer_parse("tokenizer.json", exact, len, why, sizeof(why));
    free(exact);
    if (tokens)
        ck_assert_int_ge(tokenizer_encode(tokens, "a hug\xff 11<|end|>\n", 17, &ids), 0);
    else
        ck_assert_uint_gt(strlen(why), 0);
    free(ids);
    tokenizer_free(tokens);
    return tokens != NULL;
}

START_TEST(no_tokenizer_json_crashes)
{
    static const char others[] =
        "}, \"added_tokens\": [{\"id\": 300, \"content\": \"<|end|>\"}], \"pre_tokenizer\": "
        "{\"type\":"
        " \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\", \"individual_digits\": true},"
        " {\"type\": \"ByteLevel\", \"add_prefix_space\": false}]}";
    static const char changes[] = {'\0', '"', '\\', '{', ']', ',', '9', '\xff'};
    text t;
    int n_valid = 0;
    write_json(&t, course_vocab, course_merges, others);
    ck_assert(try_json(t.bytes, t.len));
    for (size_t len = 0; len < t.len; len += (size_t)ln_check_step())
        ck_assert(!try_json(t.bytes, len));
    for (size_t i = 0; i < t.len; i += (size_t)ln_check_step()) {
        if (i == 60)
            i = t.len - 700; // the letters between are alike
        const char kept = t.bytes[i];
        for (size_t k = 0; k < sizeof(changes); k++) {
            t.bytes[i] = changes[k];
            n_valid += try_json(t.bytes, t.len);
        }
        t.bytes[i] = kept;
    }
    ck_assert_int_gt(n_valid, 0); // changes within names of settings
    memset(t.bytes, '[', MAX);
    ck_assert(!try_json(t.bytes, MAX)); // too many nested values
}
END_TEST

// JSON

START_TEST(json_is_read_as_the_standard_says)
{
    static const char valid[] = " { \"a\" : [ 1 , -2.5e+1 , true , false , null , { } , [ ] ] ,"
                                " \"\\u00e9\\ud83d\\ude00\\n\\/\" : \"\\\"\\\\\" } ";
    static const char *const invalid[] = {"",
                                          " ",
                                          "{",
                                          "[1",
                                          "[1,]",
                                          "{\"a\"}",
                                          "{\"a\":}",
                                          "{\"a\":1,}",
                                          "{a:1}",
                                          "01",
                                          "1.",
                                          ".5",
                                          "1e",
                                          "-",
                                          "+1",
                                          "tru",
                                          "nul",
                                          "\"",
                                          "\"\\x\"",
                                          "\"\\u12\"",
                                          "\"\\ud800\"",
                                          "\"\\udc00x\"",
                                          "\"\\ud800\\u0041\"",
                                          "\"\t\"",
                                          "1 2",
                                          "[1}",
                                          "\"a\" \"b\""};
    char why[100];
    json_document *const document = json_parse(valid, strlen(valid), why, sizeof(why));
    ck_assert_msg(document != NULL, "%s", why);
    const json *const root = json_root(document), *value = json_first(json_get(root, "a"));
    ck_assert(value && value->number == 1 && value->next->number == -25);
    ck_assert(json_is_true(value->next->next) && !json_is_true(value));
    value = json_get(root, "\u00e9\U0001F600\n/");
    ck_assert(json_is(value, "\"\\"));
    ck_assert_ptr_null(json_get(root, "b"));
    ck_assert_ptr_null(json_get(value, "a"));
    json_free(document);
    for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
        ck_assert_msg(!json_parse(invalid[i], strlen(invalid[i]), why, sizeof(why)), "%s",
                      invalid[i]);
    ck_assert_ptr_null(json_parse("[1,\n2\n}", 7, why, sizeof(why)));
    ck_assert_str_eq(why, "line 3: expected ',' or the closing bracket");
}
END_TEST

LN_TEST_MAIN("tokenizer", text_is_split_as_by_the_expression_of_gpt2,
             neighbours_merge_in_the_order_of_their_ranks,
             added_tokens_are_found_before_the_text_is_split,
             digits_and_whole_words_follow_their_settings, any_bytes_survive_a_round_trip,
             errors_name_the_file_and_the_reason, no_tokenizer_json_crashes,
             json_is_read_as_the_standard_says)
