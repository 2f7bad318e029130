// SPDX-License-Identifier: Apache-2.0
// usage: classify_rows MODEL TABLE. Predicts which failure the machine of each row will have.

#include "open_model.h"

enum { MAX_COLUMNS = 32, N_TYPES = 3, N_FAILURES = 4 };

static const char *const TYPES[] = {"A", "B", "C"};
static const char *const FAILURES[] = {"none", "heat", "overload", "wear"};

// A line of CSV without quotes, cut at its commas.
typedef struct row {
    char *line;
    char *cells[MAX_COLUMNS];
    int n;
} row;

// rows[0] has the names of the columns.
typedef struct table {
    row *rows;
    int n;
} table;

static row cut(char *line)
{
    row r = {.line = line};
    for (char *cell = line; cell;) {
        if (r.n == MAX_COLUMNS)
            fail("a row has more than %d cells", MAX_COLUMNS);
        r.cells[r.n++] = cell;
        if ((cell = strchr(cell, ',')))
            *cell++ = 0;
    }
    return r;
}

static table read_table(const char *name)
{
    FILE *file = fopen(name, "r");
    table t = {NULL, 0};
    if (!file)
        fail("%s: cannot be read", name);
    for (;;) {
        char *line = NULL;
        size_t size = 0;
        if (!next_line(file, &line, &size))
            break;
        if (!(t.rows = realloc(t.rows, (size_t)(t.n + 1) * sizeof(row))))
            fail("out of memory");
        t.rows[t.n++] = cut(line);
        if (t.rows[t.n - 1].n != t.rows[0].n)
            fail("%s:%d: %d cells, expected %d", name, t.n, t.rows[t.n - 1].n, t.rows[0].n);
    }
    fclose(file);
    if (t.n == 0)
        fail("%s: is empty", name);
    return t;
}

static void free_table(table t)
{
    for (int i = 0; i < t.n; i++)
        free(t.rows[i].line);
    free(t.rows);
}

static int index_in(const char *const words[], int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(words[i], word))
            return i;
    fail("unknown column or value '%s'", word);
    return -1;
}

// Row i, from 1 on, of a column.
static const char *cell(table t, int i, const char *column)
{
    return t.rows[i].cells[index_in((const char *const *)t.rows[0].cells, t.rows[0].n, column)];
}

// Sets an input [rows, n] to n columns side by side.
static void set_numbers(ln_session *session, const char *input, table t, int n,
                        const char *const columns[])
{
    float *const values = new_array((size_t)t.n * (size_t)n, sizeof(float));
    for (int i = 1, k = 0; i < t.n; i++) {
        for (int j = 0; j < n; j++, k++) {
            const char *const text = cell(t, i, columns[j]);
            char *end;
            values[k] = strtof(text, &end);
            if (end == text || *end)
                fail("column '%s' has '%s', expected a number", columns[j], text);
        }
    }
    check(ln_session_set_input(session, input, TL_FLOAT, 2, (const int[]){t.n - 1, n}, values),
          session);
    free(values);
}

static void set_types(ln_session *session, table t)
{
    int64_t *const types = new_array((size_t)t.n, sizeof(int64_t));
    for (int i = 1; i < t.n; i++)
        types[i - 1] = index_in(TYPES, N_TYPES, cell(t, i, "type"));
    check(ln_session_set_input(session, "type", TL_INT64, 1, (const int[]){t.n - 1}, types),
          session);
    free(types);
}

static void print_failures(table t, const float *probs)
{
    int right = 0;
    for (int i = 1; i < t.n; i++, probs += N_FAILURES) {
        int best = 0;
        for (int j = 1; j < N_FAILURES; j++)
            best = probs[j] > probs[best] ? j : best;
        printf("%-8s %-8s %.2f\n", cell(t, i, "machine"), FAILURES[best], (double)probs[best]);
        right += !strcmp(FAILURES[best], cell(t, i, "failure"));
    }
    printf("%d of %d rows as in column 'failure'\n", right, t.n - 1);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: classify_rows MODEL TABLE");
    const table t = read_table(argv[2]);
    ln_session *session = open_model(argv[1]);
    set_numbers(session, "operating", t, 3,
                (const char *const[]){"speed", "torque", "temperature"});
    set_numbers(session, "age", t, 2, (const char *const[]){"hours", "service"});
    set_types(session, t);
    check(ln_session_run(session), session);
    int len;
    const float *const probs = output_of(session, "probabilities", &len);
    if (len != (t.n - 1) * N_FAILURES)
        fail("%d probabilities, expected %d for each row", len, N_FAILURES);
    print_failures(t, probs);
    ln_session_free(session);
    free_table(t);
    return 0;
}
