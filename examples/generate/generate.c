// SPDX-License-Identifier: Apache-2.0
// usage: generate [OPTION...] MODEL-DIR PROMPT. Continues a text with a language model. MODEL-DIR
// has the files of Hugging Face's exporters: model.onnx (or onnx/model.onnx), tokenizer.json,
// generation_config.json. Speed goes to standard error.
//
//   --max-tokens N    at most N tokens (default 200)
//   --temperature T   0 (default): always the most likely token; higher: more varied
//   --top-k K         draws from the K most likely tokens (default 0: all)
//   --top-p P         draws from the most likely tokens, together at least P (default 1)
//   --seed N          of the draws (default 0)
//   --threads N       (default 1)
//   --ids             prints ids of tokens, one per line, instead of text
//   --ignore-end      does not stop at the end of the text

#include "json_reader.h"
#include "open_model.h"
#include "tokenizer.h"

#include <math.h>
#include <time.h>

// Arguments

typedef struct settings {
    const char *folder, *prompt;
    double temperature, top_p, seed, top_k, max_tokens, threads;
    int prints_ids, ignores_end;
} settings;

static double number_of(const char *name, const char *text)
{
    char *end;
    const double number = text ? strtod(text, &end) : -1;
    if (!text || end == text || *end || !(number >= 0 && number < 1e9))
        fail("option '%s' expects a number from 0 on", name);
    return number;
}

static settings read_arguments(char **argv)
{
    settings s = {.max_tokens = 200, .top_p = 1, .threads = 1};
    const struct {
        const char *name;
        double *number;
        int *flag;
    } options[] = {{"--max-tokens", &s.max_tokens, NULL},
                   {"--temperature", &s.temperature, NULL},
                   {"--top-k", &s.top_k, NULL},
                   {"--top-p", &s.top_p, NULL},
                   {"--seed", &s.seed, NULL},
                   {"--threads", &s.threads, NULL},
                   {"--ids", NULL, &s.prints_ids},
                   {"--ignore-end", NULL, &s.ignores_end}};
    const char **const rest[] = {&s.folder, &s.prompt};
    int n_rest = 0;
    const size_t n_options = sizeof(options) / sizeof(options[0]);
    for (argv++; *argv; argv++) {
        size_t i = 0;
        while (i < n_options && strcmp(*argv, options[i].name))
            i++;
        if (i < n_options && options[i].flag)
            *options[i].flag = 1;
        else if (i < n_options)
            *options[i].number = number_of(argv[0], argv[1]), argv++;
        else if (!strncmp(*argv, "--", 2))
            fail("unknown option '%s'", *argv);
        else if (n_rest++ < 2)
            *rest[n_rest - 1] = *argv;
    }
    if (n_rest != 2)
        fail("usage: generate [OPTION...] MODEL-DIR PROMPT");
    return s;
}

// Decoder: a model and its cache

typedef struct decoder {
    ln_model *model;
    ln_session *session;       // keeps the cache
    int n_past;                // tokens in the cache
    int64_t *positions, *ones; // 0, 1, 2 .. and 1, 1, 1 ..
} decoder;

// The cache is empty at first: its batch is 1, and another open size the number of tokens.
static void empty_cache(ln_session *session, const char *name, const tl_tensor *info)
{
    int dims[TL_MAXDIM];
    for (int i = 0; i < info->ndim; i++)
        dims[i] = info->dims[i] >= 0 ? info->dims[i] : i == 0 ? 1 : 0;
    check(ln_session_set_input(session, name, info->dtype, info->ndim, dims, NULL), session);
}

// Links "present.0.key", an output, to "past_key_values.0.key" or "past.0.key", and so on.
static void link_cache(const decoder *d)
{
    if (ln_session_link_states(d->session) < 1)
        fail("the model has no inputs 'past_key_values' with outputs 'present'");
    for (int i = 0; i < ln_model_num_outputs(d->model); i++) {
        const char *const output = ln_model_output_name(d->model, i);
        const char *const past = ln_session_linked_input(d->session, output);
        if (past)
            empty_cache(d->session, past,
                        ln_model_input_info(d->model, ln_model_input_index(d->model, past)));
    }
}

static int is_readable(const char *file)
{
    FILE *const stream = fopen(file, "rb");
    return stream && !fclose(stream);
}

// A decoder for texts of up to `room` tokens.
static void open_decoder(decoder *d, const settings *s, int room)
{
    char file[4096], threads[32];
    ln_options *const options = ln_options_create();
    snprintf(file, sizeof(file), "%s/model.onnx", s->folder);
    if (!is_readable(file))
        snprintf(file, sizeof(file), "%s/onnx/model.onnx", s->folder);
    snprintf(threads, sizeof(threads), "%.0f", s->threads);
    if (!options)
        fail("out of memory");
    check(ln_options_set(options, "threads", threads), NULL);
    check(ln_model_open(file, options, &d->model), NULL);
    check(ln_session_create(d->model, &d->session), NULL);
    ln_options_free(options);
    d->positions = new_array((size_t)room, sizeof(int64_t));
    d->ones = new_array((size_t)room, sizeof(int64_t));
    for (int i = 0; i < room; i++) {
        d->positions[i] = i;
        d->ones[i] = 1;
    }
    link_cache(d);
}

static void close_decoder(decoder *d)
{
    ln_session_free(d->session);
    ln_model_free(d->model);
    free(d->positions);
    free(d->ones);
}

// Binds an input of tokens [1, n], if the model has it.
static void bind_tokens(decoder *d, const char *name, const int64_t *data, int n)
{
    const int dims[] = {1, n};
    if (ln_model_input_index(d->model, name) >= 0)
        check(ln_session_bind_input(d->session, name, TL_INT64, 2, dims, data,
                                    (size_t)n * sizeof(int64_t)),
              d->session);
}

// Runs the model on n more tokens. Returns the logits of the token after them, until the next
// run; *vocabulary: their number.
static const float *run_decoder(decoder *d, const int64_t *ids, int n, int *vocabulary)
{
    bind_tokens(d, "input_ids", ids, n);
    bind_tokens(d, "position_ids", d->positions + d->n_past, n);
    bind_tokens(d, "attention_mask", d->ones, d->n_past + n);
    check(ln_session_run(d->session), d->session);
    d->n_past += n;
    int len;
    const float *const logits = output_of(d->session, "logits", &len);
    const tl_tensor *const output = ln_session_output(d->session, "logits");
    *vocabulary = output->ndim > 0 ? output->dims[output->ndim - 1] : 0;
    if (*vocabulary < 1 || len < *vocabulary)
        fail("output 'logits' is empty");
    return logits + len - *vocabulary;
}

// Sampler

typedef struct choice {
    double logit, weight;
    int id;
} choice;

// A number from 0 up to 1, by splitmix64 (Steele et al. 2014).
static double draw(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static int max_likely(const float *logits, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

// By logit, the highest first, then by id.
static int by_logit(const void *a, const void *b)
{
    const choice *const x = a, *const y = b;
    return x->logit != y->logit ? (x->logit < y->logit) - (x->logit > y->logit)
                                : (x->id > y->id) - (x->id < y->id);
}

// Sets the weights of the candidates, sorted, and returns how many are candidates.
static int cut(choice *choices, int n, const settings *s)
{
    double sum = 0, so_far = 0;
    int taken = 0;
    n = s->top_k > 0 && s->top_k < n ? (int)s->top_k : n;
    for (int i = 0; i < n; i++)
        sum += choices[i].weight = exp((choices[i].logit - choices[0].logit) / s->temperature);
    while (taken < n && (taken == 0 || so_far < s->top_p * sum))
        so_far += choices[taken++].weight;
    return taken;
}

static int sample(const float *logits, int n, const settings *s, uint64_t *state)
{
    if (s->temperature <= 0)
        return max_likely(logits, n);
    choice *const choices = new_array((size_t)n, sizeof(choice));
    for (int i = 0; i < n; i++)
        choices[i] = (choice){.logit = (double)logits[i], .id = i};
    qsort(choices, (size_t)n, sizeof(choice), by_logit);
    n = cut(choices, n, s);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += choices[i].weight;
    double left = draw(state) * sum;
    int i = 0;
    while (i < n - 1 && (left -= choices[i].weight) >= 0)
        i++;
    const int id = choices[i].id;
    free(choices);
    return id;
}

// Text

// "eos_token_id" of generation_config.json: a number, or an array of them; else a usual token.
typedef struct ends {
    int64_t ids[16];
    int n;
} ends;

static void read_ends(ends *e, const char *folder, const tokenizer *tokens)
{
    static const char *const usual[] = {"<|endoftext|>", "<|im_end|>", "</s>"};
    char file[4096], why[200];
    snprintf(file, sizeof(file), "%s/generation_config.json", folder);
    json_document *const document = json_read(file, why, sizeof(why));
    const json *const given = document ? json_get(json_root(document), "eos_token_id") : NULL;
    const json *id = json_first(given) ? json_first(given) : given;
    for (; id && id->type == JSON_NUMBER && e->n < 16; id = id == given ? NULL : id->next)
        e->ids[e->n++] = id->number >= 0 && id->number < 1e9 ? (int64_t)id->number : -1;
    for (int i = 0; i < 3 && e->n == 0; i++)
        if (tokenizer_id(tokens, usual[i]) >= 0)
            e->ids[e->n++] = tokenizer_id(tokens, usual[i]);
    json_free(document);
}

static int is_end(const ends *e, int64_t id)
{
    for (int i = 0; i < e->n; i++)
        if (e->ids[i] == id)
            return 1;
    return 0;
}

static void print_token(const tokenizer *tokens, int64_t id, const settings *s)
{
    size_t len;
    const char *const bytes = tokenizer_bytes(tokens, id, &len);
    if (s->prints_ids)
        printf("%lld\n", (long long)id);
    else if (bytes)
        fwrite(bytes, 1, len, stdout);
    fflush(stdout);
}

// The ids of the prompt (free); for an empty one that of the end of a text.
static int64_t *encode_prompt(const tokenizer *tokens, const char *prompt, const ends *e, int *n)
{
    int64_t *ids;
    const long len = tokenizer_encode(tokens, prompt, strlen(prompt), &ids);
    if (len < 0 || len > 1000000)
        fail("the prompt is too long");
    if (len == 0 && e->n == 0)
        fail("the prompt is empty");
    if (len == 0)
        ids[0] = e->ids[0]; // there is room for one
    *n = len > 0 ? (int)len : 1;
    return ids;
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print_speed(int n_prompt, double first, int n_more, double rest)
{
    fprintf(stderr, "prompt: %d tokens, %.0f tokens/s", n_prompt, n_prompt / first);
    if (n_more > 0)
        fprintf(stderr, "; then %d tokens, %.0f tokens/s", n_more, n_more / rest);
    fprintf(stderr, "\n");
}

// The prompt in one run, then one run for each token.
static void generate(decoder *d, const tokenizer *tokens, const int64_t *prompt, int n_prompt,
                     const ends *e, const settings *s)
{
    uint64_t state = (uint64_t)s->seed;
    int vocabulary, n = 0;
    const double begin = seconds();
    const float *logits = run_decoder(d, prompt, n_prompt, &vocabulary);
    const double first = seconds();
    for (; n < (int)s->max_tokens; n++) {
        const int64_t id = sample(logits, vocabulary, s, &state);
        if (is_end(e, id) && !s->ignores_end)
            break;
        print_token(tokens, id, s);
        if (n + 1 < (int)s->max_tokens)
            logits = run_decoder(d, &id, 1, &vocabulary);
    }
    if (!s->prints_ids)
        printf("\n");
    fflush(stdout);
    const int n_runs = d->n_past - n_prompt;
    print_speed(n_prompt, first - begin, n_runs, seconds() - first);
}

int main(int argc, char **argv)
{
    (void)argc;
    const settings s = read_arguments(argv);
    decoder d = {0};
    ends e = {0};
    char file[4096], why[4200];
    int n;
    snprintf(file, sizeof(file), "%s/tokenizer.json", s.folder);
    tokenizer *const tokens = tokenizer_read(file, why, sizeof(why));
    if (!tokens)
        fail("%s", why);
    read_ends(&e, s.folder, tokens);
    int64_t *const prompt = encode_prompt(tokens, s.prompt, &e, &n);
    open_decoder(&d, &s, n + (int)s.max_tokens);
    if (!s.prints_ids)
        printf("%s", s.prompt);
    generate(&d, tokens, prompt, n, &e, &s);
    close_decoder(&d);
    tokenizer_free(tokens);
    free(prompt);
    return 0;
}
