// SPDX-License-Identifier: Apache-2.0
// usage: classifier MODEL LABELS IMAGE... Prints the three most probable labels of each image.

#include <stdio.h>
#include <string.h>
#include <lightnet/ln_image.h>
#include <lightnet/ln_session.h>

enum { MAX_LABELS = 1000 };

typedef struct labels {
    int n;
    char names[MAX_LABELS][64];
} labels;

static int fail(const char *reason)
{
    fprintf(stderr, "classifier: %s\n", reason);
    return -1;
}

// One label per line.
static int read_labels(labels *l, const char *file)
{
    FILE *stream = fopen(file, "r");
    if (!stream)
        return fail("cannot open LABELS");
    while (l->n < MAX_LABELS && fgets(l->names[l->n], sizeof(l->names[0]), stream)) {
        l->names[l->n][strcspn(l->names[l->n], "\r\n")] = '\0';
        l->n++;
    }
    fclose(stream);
    return 0;
}

// Reads the image in the type and shape of the model's input, and runs.
static int run(ln_session *session, const ln_model *model, const char *file)
{
    const ln_image_format format = {.scale = {1, 1, 1}}; // samples as they are, 0 to 255
    const tl_tensor *info = ln_model_input_info(model, 0);
    if (!info)
        return fail("the model has no input");
    tl_tensor *image = ln_image_read(file, info, &format, NULL);
    if (!image)
        return fail(ln_last_error());
    const ln_status status =
        ln_session_set_input(session, ln_model_input_name(model, 0), image->dtype, image->ndim,
                             image->dims, image->data);
    tl_tensor_free_data_too(image);
    return status || ln_session_run(session) ? fail(ln_session_error(session)) : 0;
}

// The index of the next smaller element than that at `last`, or of the max if `last` is -1.
static int next_best(const float *probs, int n, int last)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        const int comes_later =
            last < 0 || probs[i] < probs[last] || (probs[i] == probs[last] && i > last);
        if (comes_later && (best < 0 || probs[i] > probs[best]))
            best = i;
    }
    return best;
}

static int print_best(ln_session *session, const ln_model *model, const labels *l, const char *file)
{
    const tl_tensor *probs = ln_session_output(session, ln_model_output_name(model, 0));
    if (!probs || probs->dtype != TL_FLOAT || probs->len != l->n)
        return fail("the first output of the model has not as many floats as there are labels");
    printf("%s:", file);
    for (int i = 0, best = -1; i < 3; i++) {
        best = next_best(probs->data, probs->len, best);
        if (best >= 0)
            printf("%s %s %.3f", i ? "," : "", l->names[best], ((const float *)probs->data)[best]);
    }
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    static labels l;
    ln_model *model = NULL;
    ln_session *session = NULL;
    if (argc < 4)
        return fprintf(stderr, "usage: classifier MODEL LABELS IMAGE...\n"), 2;
    int failed = read_labels(&l, argv[2]);
    if (!failed && (ln_model_open(argv[1], NULL, &model) || ln_session_create(model, &session)))
        failed = fail(ln_session_error(NULL));
    for (int i = 3; !failed && i < argc; i++)
        failed = run(session, model, argv[i]) || print_best(session, model, &l, argv[i]);
    ln_session_free(session);
    ln_model_free(model);
    return failed != 0;
}
