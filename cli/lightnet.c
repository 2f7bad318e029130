// SPDX-License-Identifier: Apache-2.0
// lightnet: compiles and runs neural-network models. Finds the command and calls it.

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli_options.h"
#include "input/cli_given.h"
#include "input/cli_npz_inputs.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_plugin.h"
#include "lightnet/ln_util.h"
#include "output/cli_color.h"
#include "output/cli_print.h"

enum { CALL_SIZE = 32 };

static const cli_command help_command;

static const cli_command *const commands[] = {
    &cli_short_command,    &cli_run_command,     &cli_compile_command,    &cli_convert_command,
    &cli_quantize_command, &cli_show_command,    &cli_verify_command,     &cli_bench_command,
    &cli_report_command,   &cli_serve_command,   &cli_ops_command,        &cli_env_command,
    &help_command,         &cli_version_command, &cli_completion_command, NULL};

static const cli_command *find_command(const char *name)
{
    for (int i = 1; name && commands[i]; i++)
        if (!strcmp(commands[i]->usage.name, name))
            return commands[i];
    return commands[0];
}

// Names that other programs have for a command.
static const struct other_name {
    const char *other, *name;
} other_names[] = {
    {"info", "show"},   {"inspect", "show"},    {"summary", "show"},   {"infer", "run"},
    {"predict", "run"}, {"benchmark", "bench"}, {"export", "convert"}, {"server", "serve"},
};

static const char *own_name(const char *name)
{
    for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
        if (!strcmp(other_names[i].other, name))
            return other_names[i].name;
    return name;
}

static int fail_unknown(const char *name)
{
    const char *closest = NULL;
    for (int i = 1; commands[i]; i++)
        closest = ln_closer_name(own_name(name), closest, commands[i]->usage.name);
    return closest ? cli_usage("unknown command '%s'; did you mean '%s'?", name, closest)
                   : cli_usage("unknown command '%s'; see lightnet --help", name);
}

// How the command is called, in `name`.
static const char *call_of(const cli_command *cmd, char name[CALL_SIZE])
{
    snprintf(name, CALL_SIZE, "lightnet%s%s", cmd->usage.name ? " " : "",
             cmd->usage.name ? cmd->usage.name : "");
    return name;
}

static void print_help(const cli_command *cmd)
{
    char name[CALL_SIZE];
    cli_print("%susage:%s %s%s%s [OPTION...]\n", cli_color(stdout, CLI_BOLD), cli_color_end(stdout),
              call_of(cmd, name), *cmd->usage.args ? " " : "", cmd->usage.args);
    cli_print("%s.\n", cmd->usage.help);
    if (!cmd->usage.name) {
        cli_print("MODEL is a file or - for standard input. Other commands, each with --help:\n\n");
        for (int i = 1; commands[i]; i++)
            cli_print("  lightnet %-10s %-16s %s\n", commands[i]->usage.name,
                      commands[i]->usage.args, commands[i]->usage.help);
    }
    cli_print("\n");
    cli_options_help(cmd);
    cli_examples_print(cmd);
}

// "MODEL is missing", for a command of "MODEL -o FILE".
static int fail_first(const cli_command *cmd, const char *what)
{
    char name[CALL_SIZE];
    return cli_usage("%.*s is %s; see %s --help", (int)strcspn(cmd->usage.args, " "),
                     cmd->usage.args, what, call_of(cmd, name));
}

// An argument that belongs to an option.
static int fail_surplus(const cli_command *cmd, const cli_options *opt, const char *surplus)
{
    char name[CALL_SIZE];
    const char *const printed = cmd == &cli_show_command ? cli_show_diagram(opt) : NULL;
    if (printed)
        return cli_usage("unexpected argument '%s'; did you mean '%s >%s'?", surplus, printed,
                         surplus);
    if (cmd == &cli_run_command && cli_given_is_input(surplus))
        return cli_usage("unexpected argument '%s'; did you mean '-i %s'?", surplus, surplus);
    return cli_usage("unexpected argument '%s'; see %s --help", surplus, call_of(cmd, name));
}

static int fail_args(const cli_command *cmd, const cli_options *opt)
{
    char name[CALL_SIZE];
    call_of(cmd, name);
    if (opt->n_args < cmd->usage.min_args)
        return fail_first(cmd, "missing");
    const char *surplus = opt->args[cmd->usage.max_args];
    if (cmd->usage.name)
        return fail_surplus(cmd, opt, surplus);
    if (find_command(opt->args[0])->usage.name)
        return cli_usage("command '%s' must precede its options; see %s %s --help", opt->args[0],
                         name, opt->args[0]);
    // A model, or an unknown command.
    return access(opt->args[0], F_OK)
               ? fail_unknown(opt->args[0])
               : cli_usage("unexpected argument '%s'; see %s --help", surplus, name);
}

static int show_help(const cli_options *opt)
{
    const char *name = opt->n_args ? opt->args[0] : NULL;
    const cli_command *cmd = find_command(name);
    if (name && !cmd->usage.name)
        return fail_unknown(name);
    if (cmd == &cli_serve_command)
        return cmd->run(opt);
    print_help(cmd);
    return CLI_OK;
}

static cli_options given_to_help = {CLI_DEFAULTS};

static const cli_command help_command = {
    {"help", "[COMMAND]", 0, 1, "list the options of a command"},
    NULL,
    0,
    &given_to_help,
    show_help};

// The plug-ins of LIGHTNET_PLUGIN_PATH, of --plugin, and of the requested targets.
static int load_plugins(const cli_options *opt)
{
    const char *const targets[] = {opt->target, opt->against};
    int failed = ln_plugin_load_path(NULL);
    for (int i = 0; i < opt->plugins.n && !failed; i++)
        failed = ln_plugin_load(opt->plugins.items[i]);
    for (int i = 0; i < 2 && !failed; i++)
        failed = targets[i] && ln_plugin_load_target(targets[i]);
    return failed ? cli_fail("%s", ln_last_error()) : CLI_OK;
}

// A name that cannot be a file's is meant as a command.
static int is_meant_as_command(const char *name)
{
    return *name && !strpbrk(name, "./-") && access(name, F_OK);
}

static int run_command(const cli_command *cmd, cli_options *opt)
{
    if (cli_color_set(opt))
        return cli_usage("--color is '%s', expected auto, always or never", opt->color);
    if (opt->help) {
        if (opt->help != CLI_LISTED)
            print_help(cmd);
        return CLI_OK;
    }
    if (opt->version)
        return cli_version(opt);
    if (opt->n_args < cmd->usage.min_args ||
        (cmd->usage.max_args >= 0 && opt->n_args > cmd->usage.max_args))
        return fail_args(cmd, opt);
    if (cmd->usage.min_args && !*opt->args[0])
        return fail_first(cmd, "empty");
    if (!cmd->usage.name && is_meant_as_command(opt->args[0]))
        return fail_unknown(opt->args[0]);
    int status = cli_given_check_swapped(opt);
    if (!status)
        status = load_plugins(opt);
    if (!status)
        status = cli_npz_expand(opt);
    if (!status)
        cli_given_warn(opt);
    return status ? status : cmd->run(opt);
}

// Keeps files that are opened later from becoming standard streams that were closed. Printing to
// one of these is still an error.
static void fill_closed_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    fill_closed_streams();
    cli_color_look(argc, argv);
    const char *first = argc > 1 ? argv[1] : NULL;
    const cli_command *cmd = find_command(first);
    const int named = cmd->usage.name != NULL;
    // Its options are those of another command, too.
    if (first && !named && is_meant_as_command(first))
        return fail_unknown(first);
    if (cmd == &cli_serve_command)
        return cli_serve(argv + 1);
    char name[CALL_SIZE];
    cmd->values->commands = commands;
    int status = cli_options_read(cmd, call_of(cmd, name), argc - named, argv + named);
    if (!status)
        status = run_command(cmd, cmd->values);
    cli_npz_free(cmd->values);
    cli_options_free(cmd->values);
    return status ? status : cli_flush();
}
