// SPDX-License-Identifier: Apache-2.0
// lightnet ops: the operators and their documentation, from the descriptions, and the rules.
// lightnet version: features of this build and this machine. lightnet env: the environment
// variables, their meanings and values.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_options.h"
#include "lightnet/lightnet.h"
#include "lightnet/ln_optypes.h"
#include "ln_op_docs.h"
#include "output/cli_color.h"
#include "output/cli_json.h"
#include "output/cli_print.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_functions.h"

typedef struct ops_options {
    cli_options shared;
    int rules;
} ops_options;

// A plug-in's operator contains its documentation; that of LightNet's operators is in op_docs.
static const ln_op_docs *docs_of(const ln_op *op)
{
    static const ln_op_docs none;
    if (op->op_arg->info && op->op_arg->info->docs)
        return op->op_arg->info->docs;
    for (size_t i = 0; i < sizeof(op_docs) / sizeof(op_docs[0]); i++)
        if (!strcmp(op_docs[i].optype, op->op_arg->optype))
            return op_docs[i].docs;
    return &none;
}

static const char *doc_of(const ln_op *op)
{
    const char *doc = docs_of(op)->doc;
    return doc ? doc : "";
}

// The documentation of an argument; `*docs` is that of the next one then. NULL: none.
static const ln_arg_docs *next_docs(const ln_arg_docs **docs)
{
    static const ln_arg_docs none;
    return *docs ? (*docs)++ : &none;
}

// Prints the origin of an operator or an architecture outside LightNet.
static void print_origin(const char *before, const ln_plugin_loaded *from, const char *behind)
{
    if (from)
        cli_print("%splug-in %s, %s%s", before, from->plugin->name, from->file, behind);
}

static void list_ops(const ln_arch *arch)
{
    cli_print("%soperators of arch %s%s", cli_color(stdout, CLI_BOLD), arch->arch_name,
              cli_color_end(stdout));
    print_origin(" (", ln_plugin_of_arch(arch), ")");
    cli_print(":\n");
    for (ln_op **op = arch->reg_ops; op && *op; op++) {
        cli_print("  %-24s %s", (*op)->op_arg->optype, doc_of(*op));
        print_origin(" (", ln_plugin_of_op(*op), ")");
        cli_print("\n");
    }
}

static void list_rules(const ln_arch *arch)
{
    cli_print("%srules of arch %s:%s\n", cli_color(stdout, CLI_BOLD), arch->arch_name,
              cli_color_end(stdout));
    for (const char **name = arch->rule_names; name && *name; name++)
        cli_print("  %s\n", *name);
}

static void print_args(const char *title, const ln_arg_info *args, const ln_arg_docs **docs)
{
    for (; args; args = ln_arg_info_next(args)) {
        const ln_arg_docs *of_arg = next_docs(docs);
        cli_print("  %-8s %s%s: %s", title, args->arg_name, args->variadic ? "..." : "",
                  of_arg->type ? of_arg->type : "");
        if (args->optional)
            cli_print(" (may be absent)");
        if (of_arg->deflt)
            cli_print(" (default %s)", of_arg->deflt);
        cli_print("\n");
        if (of_arg->doc)
            cli_print("           %s\n", of_arg->doc);
    }
}

// The functions and operations that a parameter names, with their formulas (tl_functions.h).
static const struct function {
    const char *optype, *name, *formula;
} functions[] = {
#define TEXT_OF(...)           FIRST_TEXT(__VA_ARGS__, )
#define FIRST_TEXT(first, ...) #first
#define FUNCTION(prefix, NAME, name, types, cost, sets, ...) \
    {LN_OP_UNARY, "TL_UNARY_" #NAME, TEXT_OF(__VA_ARGS__)},
#define OPERATION(prefix, NAME, name, types, cost, sets, ...) \
    {LN_OP_BINARY, "TL_BINARY_" #NAME, TEXT_OF(__VA_ARGS__)},
    TL_UNARY_FUNCS(FUNCTION, ) TL_BINARY_OPS(OPERATION, )
#undef FUNCTION
};

static void print_functions(const ln_op *op)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        if (ln_op_is_form_of(op, functions[i].optype))
            cli_print("  formula  %s: %s\n", functions[i].name, functions[i].formula);
}

static void print_meaning(const char *text)
{
    for (const char *title = "means"; text && *text; title = "") {
        const int len = (int)strcspn(text, "\n");
        cli_print("  %-8s %.*s\n", title, len, text);
        text += len + (text[len] == '\n');
    }
}

static void print_one(const ln_op *op)
{
    const ln_op_info *info = op->op_arg->info;
    const ln_op_docs *docs = docs_of(op);
    const ln_arg_docs *of_args = docs->args;
    cli_print("%s (%s)\n", op->op_arg->optype, op->op_arg->arch);
    if (!info)
        return;
    cli_print("  %s\n", doc_of(op));
    print_args("input", info->tensors_in, &of_args);
    print_args("output", info->tensors_out, &of_args);
    print_args("param", info->params, &of_args);
    print_functions(op);
    print_meaning(docs->means);
    cli_print("  kind     %s\n", ln_kind_name(ln_op_kind(op)));
    if (docs->source)
        cli_print("  from     %s\n", docs->source);
    print_origin("  of       ", ln_plugin_of_op(op), "\n");
}

// Operators of ONNX

// Whether `name` is the operator, alone or after its domain, "com.microsoft.QuickGelu".
static int is_named(const ln_format_operator *op, const char *name)
{
    const size_t len = strlen(op->domain);
    return !strcmp(name, op->type) || (!strncmp(name, op->domain, len) && name[len] == '.' &&
                                       !strcmp(name + len + 1, op->type));
}

static int find_onnx(const char *name, ln_format_operator *op)
{
    for (size_t i = 0; ln_format_operator_at(i, op); i++)
        if (is_named(op, name))
            return 1;
    return 0;
}

// The next of the operator's types; 0: no more.
static int next_type(const char **ops, char type[LN_MAX_NAME_LEN])
{
    const int len = (int)strcspn(*ops, " ");
    snprintf(type, LN_MAX_NAME_LEN, "%.*s", len, *ops);
    *ops += len + ((*ops)[len] == ' ');
    return len > 0;
}

static void print_onnx(const ln_format_operator *onnx)
{
    char type[LN_MAX_NAME_LEN];
    const char *rest = onnx->ops;
    cli_print("%s (ONNX)\n", onnx->type);
    cli_print("  %s\n", *rest ? "is translated to" : "is computed when the model is read");
    while (next_type(&rest, type)) {
        const ln_op *op = ln_hash_find(LN_ARCH.op_proto_table, type);
        cli_print("  %-24s %s\n", type, op ? doc_of(op) : "");
    }
}

static int fail_unknown(const char *name)
{
    const char *closest = NULL, *const dot = strrchr(name, '.'),
               *const optype = dot ? dot + 1 : name;
    LN_FOREACH (const ln_arch *, arch, ln_arch_list())
        for (ln_op **op = arch->reg_ops; op && *op; op++)
            closest = ln_closer_name(optype, closest, (*op)->op_arg->optype);
    ln_format_operator onnx;
    for (size_t i = 0; ln_format_operator_at(i, &onnx); i++)
        closest = ln_closer_name(optype, closest, onnx.type);
    return closest ? cli_fail("unknown operator '%s'; did you mean '%s'?", name, closest)
                   : cli_fail("unknown operator '%s'; 'lightnet ops' lists them", name);
}

// JSON

static void add_origin(cli_json *doc, const ln_plugin_loaded *from)
{
    if (from)
        cli_json_text(doc, "plugin", from->file);
}

static void add_args(cli_json *doc, const char *key, const ln_arg_info *args, int have_defaults,
                     const ln_arg_docs **docs)
{
    cli_json_open(doc, key, '[');
    for (; args; args = ln_arg_info_next(args)) {
        const ln_arg_docs *of_arg = next_docs(docs);
        cli_json_open(doc, NULL, '{');
        cli_json_text(doc, "name", args->arg_name);
        cli_json_text(doc, "type", of_arg->type);
        cli_json_flag(doc, "variadic", args->variadic);
        cli_json_flag(doc, "optional", args->optional);
        if (have_defaults)
            cli_json_text(doc, "default", of_arg->deflt);
        cli_json_text(doc, "doc", of_arg->doc);
        cli_json_close(doc);
    }
    cli_json_close(doc);
}

static void add_operators(cli_json *doc, const ln_arch *arch)
{
    cli_json_open(doc, "operators", '[');
    for (ln_op **op = arch->reg_ops; op && *op; op++) {
        cli_json_open(doc, NULL, '{');
        cli_json_text(doc, "type", (*op)->op_arg->optype);
        cli_json_text(doc, "doc", doc_of(*op));
        add_origin(doc, ln_plugin_of_op(*op));
        cli_json_close(doc);
    }
    cli_json_close(doc);
}

static void add_rules(cli_json *doc, const ln_arch *arch)
{
    cli_json_open(doc, "rules", '[');
    for (const char **name = arch->rule_names; name && *name; name++)
        cli_json_text(doc, NULL, *name);
    cli_json_close(doc);
}

static void list_as_json(const ops_options *opt)
{
    cli_json doc = {0};
    cli_json_open(&doc, NULL, '{');
    cli_json_open(&doc, "architectures", '[');
    LN_FOREACH (const ln_arch *, arch, ln_arch_list()) {
        cli_json_open(&doc, NULL, '{');
        cli_json_text(&doc, "name", arch->arch_name);
        add_origin(&doc, ln_plugin_of_arch(arch));
        (opt->rules ? add_rules : add_operators)(&doc, arch);
        cli_json_close(&doc);
    }
    cli_json_close(&doc);
    cli_json_close(&doc);
}

static void print_one_as_json(const ln_op *op)
{
    cli_json doc = {0};
    const ln_op_info *info = op->op_arg->info;
    const ln_op_docs *docs = docs_of(op);
    const ln_arg_docs *of_args = docs->args;
    cli_json_open(&doc, NULL, '{');
    cli_json_text(&doc, "type", op->op_arg->optype);
    cli_json_text(&doc, "architecture", op->op_arg->arch);
    cli_json_text(&doc, "doc", doc_of(op));
    cli_json_text(&doc, "kind", ln_kind_name(ln_op_kind(op)));
    add_args(&doc, "inputs", info ? info->tensors_in : NULL, 0, &of_args);
    add_args(&doc, "outputs", info ? info->tensors_out : NULL, 0, &of_args);
    add_args(&doc, "params", info ? info->params : NULL, 1, &of_args);
    cli_json_text(&doc, "means", docs->means);
    cli_json_text(&doc, "source", docs->source);
    add_origin(&doc, ln_plugin_of_op(op));
    cli_json_close(&doc);
}

static void print_onnx_as_json(const ln_format_operator *onnx)
{
    cli_json doc = {0};
    char type[LN_MAX_NAME_LEN];
    cli_json_open(&doc, NULL, '{');
    cli_json_text(&doc, "onnx", onnx->type);
    cli_json_open(&doc, "operators", '[');
    for (const char *rest = onnx->ops; next_type(&rest, type);)
        cli_json_text(&doc, NULL, type);
    cli_json_close(&doc);
    cli_json_close(&doc);
}

static int run_ops(const cli_options *shared)
{
    const ops_options *opt = (const ops_options *)shared;
    if (opt->rules && shared->n_args)
        return cli_usage("--rules lists all rules; leave out '%s'", shared->args[0]);
    if (!shared->n_args && shared->json) {
        list_as_json(opt);
        return CLI_OK;
    }
    if (!shared->n_args) {
        LN_FOREACH (const ln_arch *, arch, ln_arch_list())
            (opt->rules ? list_rules : list_ops)(arch);
        return CLI_OK;
    }
    const ln_op *op = ln_hash_find(LN_ARCH.op_proto_table, shared->args[0]);
    ln_format_operator onnx;
    if (!op && !find_onnx(shared->args[0], &onnx))
        return fail_unknown(shared->args[0]);
    if (op)
        (shared->json ? print_one_as_json : print_one)(op);
    else
        (shared->json ? print_onnx_as_json : print_onnx)(&onnx);
    return CLI_OK;
}

static ops_options given = {.shared = {CLI_DEFAULTS}};

static const cli_option options[] = {
    CLI_SHARED("json", "json"),
    {"rules", 0, CLI_FLAG, offsetof(ops_options, rules), NULL, "list the rules for --disable-rule"},
    CLI_SHARED("plugin", "plugin"),
};

const cli_command cli_ops_command = {
    {"ops", "[OPTYPE]", 0, 1, "list operators and rules, or document an operator"},
    CLI_ROWS(options),
    &given.shared,
    run_ops};

static const struct variable {
    const char *name;
    const char *help;
} variables[] = {
    {"LIGHTNET_NUM_THREADS", "threads for runs without --threads, 0 for all cores (default 0)"},
    {"LIGHTNET_MAX_ISA", "max instruction set: " TL_ISA_NAMES},
    {"LIGHTNET_PLUGIN_PATH",
     "folders of plug-ins, *.so, which ':' separates; --plugin adds others"},
};

static void print_env_as_json(void)
{
    cli_json doc = {0};
    cli_json_open(&doc, NULL, '{');
    cli_json_open(&doc, "variables", '[');
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        cli_json_open(&doc, NULL, '{');
        cli_json_text(&doc, "name", variables[i].name);
        cli_json_text(&doc, "value", getenv(variables[i].name));
        cli_json_text(&doc, "doc", variables[i].help);
        cli_json_close(&doc);
    }
    cli_json_close(&doc);
    cli_json_close(&doc);
}

static int run_env(const cli_options *opt)
{
    if (opt->json) {
        print_env_as_json();
        return CLI_OK;
    }
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i].name);
        cli_print("%-22s %-10s %s\n", variables[i].name, value ? value : "(not set)",
                  variables[i].help);
    }
    return CLI_OK;
}

static cli_options given_to_env = {CLI_DEFAULTS};

static const cli_option env_options[] = {
    CLI_SHARED("json", "json"),
    CLI_SHARED("plugin", "plugin"),
};

const cli_command cli_env_command = {{"env", "", 0, 0, "list the environment variables"},
                                     CLI_ROWS(env_options),
                                     &given_to_env,
                                     run_env};

int cli_version(const cli_options *opt)
{
    char text[LN_MAXLINE];
    (void)opt;
    cli_print("lightnet %s\n", LN_VERSION);
    cli_print("models:   %s\n", ln_sprint_formats(text, sizeof(text)));
    cli_print("images:   %s\n", ln_sprint_image_formats(text, sizeof(text)));
    cli_print("targets:  %s\n", ln_sprint_targets(text, sizeof(text)));
    cli_print("libraries: %s\n", ln_sprint_libraries(text, sizeof(text)));
    cli_print("kernels:  %s\n", tl_isa_name(tl_isa_best()));
    return CLI_OK;
}

static cli_options given_to_version = {CLI_DEFAULTS};

const cli_command cli_version_command = {
    {"version", "", 0, 0, "print the version and the supported features"},
    NULL,
    0,
    &given_to_version,
    cli_version};
