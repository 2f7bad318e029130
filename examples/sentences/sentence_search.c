// SPDX-License-Identifier: Apache-2.0
// usage: sentence_search MODEL FILE [QUERY]. Prints the three lines of FILE that are closest in
// meaning to the query. Lines that begin with # are titles of sections. Without a query: how many
// lines have their closest line in their section.

#include "open_model.h"

enum { BUCKETS = 8192, PREFIX = 5, BATCH = 16, DIMS = 32 };

typedef struct sentence {
    char *text;
    int section;
    float vector[DIMS]; // of length 1
    float score;        // its cosine with the query
} sentence;

// Writes two buckets of the table, by FNV-1a with 32 bits of `len` bytes and of an optional last
// one; returns 2. Words that share one bucket rarely share the other.
static int buckets_of(const unsigned char *piece, size_t len, unsigned char last, int64_t *ids)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ piece[i]) * 16777619u;
    if (last)
        hash = (hash ^ last) * 16777619u;
    ids[0] = hash % BUCKETS;
    ids[1] = hash / BUCKETS % BUCKETS;
    return 2;
}

static int is_of_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80;
}

// The buckets of each word, and of the first letters of longer words: "sailor" and "sailo-".
// Writes up to two per byte of the text; returns their number.
static int token_ids(const char *text, int64_t *ids)
{
    unsigned char *const word = new_array(strlen(text) + 1, 1);
    int n = 0;
    while (*text) {
        size_t len = 0;
        for (; is_of_word((unsigned char)*text); text++)
            word[len++] =
                (unsigned char)(*text >= 'A' && *text <= 'Z' ? *text + ('a' - 'A') : *text);
        if (len > 0)
            n += buckets_of(word, len, 0, ids + n);
        if (len > PREFIX)
            n += buckets_of(word, PREFIX, '-', ids + n);
        text += *text && !is_of_word((unsigned char)*text);
    }
    free(word);
    return n;
}

// Sets the vectors of n sentences, in one run.
static void embed(ln_session *session, sentence *sentences, int n)
{
    size_t longest = 1;
    for (int i = 0; i < n; i++)
        longest = strlen(sentences[i].text) > longest ? strlen(sentences[i].text) : longest;
    longest *= 2; // buckets; the mask hides what a sentence does not use
    int64_t *const ids = new_array((size_t)n * longest, sizeof(int64_t));
    float *const mask = new_array((size_t)n * longest, sizeof(float));
    for (int i = 0; i < n; i++) {
        const int n_tokens = token_ids(sentences[i].text, ids + (size_t)i * longest);
        for (int k = 0; k < n_tokens; k++)
            mask[(size_t)i * longest + (size_t)k] = 1;
    }
    const int dims[] = {n, (int)longest};
    check(ln_session_set_input(session, "ids", TL_INT64, 2, dims, ids), session);
    check(ln_session_set_input(session, "mask", TL_FLOAT, 2, dims, mask), session);
    check(ln_session_run(session), session);
    int len;
    const float *const units = output_of(session, "unit", &len);
    if (len != n * DIMS)
        fail("%d elements of vectors, expected %d", len, n * DIMS);
    for (int i = 0; i < n; i++)
        memcpy(sentences[i].vector, units + (size_t)i * DIMS, sizeof(sentences[i].vector));
    free(ids);
    free(mask);
}

// The lines of a text file, except titles and empty lines; *n: their number.
static sentence *read_sections(const char *name, int *n)
{
    FILE *file = fopen(name, "r");
    sentence *sentences = NULL;
    char *line = NULL;
    size_t size = 0;
    int section = 0;
    if (!file)
        fail("%s: cannot be read", name);
    *n = 0;
    while (next_line(file, &line, &size)) {
        section += line[0] == '#';
        if (line[0] == '#' || !line[0])
            continue;
        sentences = realloc(sentences, (size_t)(*n + 1) * sizeof(sentence));
        if (!sentences)
            fail("out of memory");
        sentences[(*n)++] = (sentence){.text = line, .section = section};
        line = NULL;
        size = 0;
    }
    free(line);
    fclose(file);
    return sentences;
}

static float score(const sentence *a, const sentence *b)
{
    float sum = 0;
    for (int d = 0; d < DIMS; d++)
        sum += a->vector[d] * b->vector[d];
    return sum;
}

static int by_score(const void *a, const void *b)
{
    const float x = ((const sentence *)a)->score, y = ((const sentence *)b)->score;
    return (x < y) - (x > y);
}

static void print_closest(sentence *sentences, int n, const sentence *query)
{
    for (int i = 0; i < n; i++)
        sentences[i].score = score(&sentences[i], query);
    if (n > 0)
        qsort(sentences, (size_t)n, sizeof(sentence), by_score);
    for (int i = 0; i < n && i < 3; i++)
        printf("%.2f  %s\n", (double)sentences[i].score, sentences[i].text);
}

static void print_share(const sentence *sentences, int n)
{
    int same = 0;
    for (int i = 0; i < n; i++) {
        int closest = -1;
        for (int j = 0; j < n; j++)
            if (j != i && (closest < 0 || score(&sentences[i], &sentences[j]) >
                                              score(&sentences[i], &sentences[closest])))
                closest = j;
        same += closest >= 0 && sentences[closest].section == sentences[i].section;
    }
    printf("%d of %d sentences have their closest one in their section\n", same, n);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        fail("usage: sentence_search MODEL FILE [QUERY]");
    ln_session *session = open_model(argv[1]);
    int n;
    sentence *const sentences = read_sections(argv[2], &n);
    for (int i = 0; i < n; i += BATCH)
        embed(session, &sentences[i], n - i < BATCH ? n - i : BATCH);
    sentence query = {.text = argv[3]};
    if (argc == 4) {
        embed(session, &query, 1);
        print_closest(sentences, n, &query);
    } else {
        print_share(sentences, n);
    }
    for (int i = 0; i < n; i++)
        free(sentences[i].text);
    free(sentences);
    ln_session_free(session);
    return 0;
}
