// SPDX-License-Identifier: Apache-2.0
// usage: forks MODEL. Loads and runs a model on several threads, and uses it in children of fork(),
// while another thread runs a context of its own. Prints a line for each child.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lightnet/lightnet.h"

static const char *model;
static atomic_int is_over;

static ln_context *load(void)
{
    ln_context *const ctx = ln_context_create();
    const char *name;
    if (ln_context_set_threads(ctx, 4) || ln_context_init(ctx, model) ||
        ln_context_compile(ctx, "cpu") || ln_context_load(ctx, NULL)) {
        printf("%s\n", ln_context_error(ctx));
        exit(1);
    }
    LN_LIST_FOREACH (name, ctx->inputs) {
        void *const data = calloc(1, ln_context_data_size(ctx, name));
        ln_context_set_data(ctx, name, data);
        free(data);
    }
    return ctx;
}

// So often that each way in which threads share work is taken.
static int runs(ln_context *ctx)
{
    int good = 1;
    for (int i = 0; i < 1500; i++)
        good &= ln_context_run(ctx) == 0;
    return good;
}

static int runs_and_frees(ln_context *ctx)
{
    const int good = runs(ctx);
    ln_context_free(ctx);
    return good;
}

static int only_frees(ln_context *ctx)
{
    ln_context_free(ctx);
    return 1;
}

static int loads_anew(ln_context *ctx)
{
    (void)ctx;
    return runs_and_frees(load());
}

// Whether a child succeeds within 20 seconds.
static int child_does(int (*func)(ln_context *ctx), ln_context *ctx)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(!func(ctx));
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void *run_often(void *ctx)
{
    while (!is_over)
        ln_context_run(ctx);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    model = argv[1];
    ln_context *const ctx = load(), *const other = load();
    pthread_t thread;
    if (!runs(ctx) || pthread_create(&thread, NULL, run_often, other))
        return 1;
    static const struct {
        const char *what;
        int (*func)(ln_context *ctx);
    } children[] = {
        {"runs and frees", runs_and_frees}, {"only frees", only_frees}, {"loads anew", loads_anew}};
    for (int i = 0; i < 3; i++)
        printf("a child %s: %s\n", children[i].what,
               child_does(children[i].func, ctx) ? "good" : "failed");
    is_over = 1;
    pthread_join(thread, NULL);
    printf("the parent runs: %s\n", runs(ctx) && runs(other) ? "good" : "failed");
    ln_context_free(ctx);
    ln_context_free(other);
    return 0;
}
