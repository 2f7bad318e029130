// SPDX-License-Identifier: Apache-2.0
// lightnet completion: scripts that let bash, zsh and fish complete commands, options and their
// values, from the tables of commands and options.

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli_options.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

// How the shell completes the value of an option.
typedef enum kind { NOTHING, WORDS, FILES, FOLDERS } kind;

static kind kind_of(const cli_option *o)
{
    return o->words                 ? WORDS
           : strstr(o->arg, "FILE") ? FILES
           : !strcmp(o->arg, "DIR") ? FOLDERS
                                    : NOTHING;
}

// Prints text within single quotes of the shell, with `quote` for each single quote in it, and a
// backslash before characters of `special`.
static void print_quoted(const char *text, const char *quote, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            cli_print("%s", quote);
        else
            cli_print(strchr(special, *text) ? "\\%c" : "%c", *text);
    }
}

// `lightnet serve` is a program of its own: its help tells the options.
#define SERVE_OPTIONS "serve --help 2>/dev/null | sed -n 's/^ .*\\(--[a-z-]*\\).*/\\1/p'"

// Bash

static void print_bash_commands(const cli_command *const *commands, const char *between)
{
    for (int i = 1; commands[i]; i++)
        cli_print("%s%s", i > 1 ? between : "", commands[i]->usage.name);
}

static void print_bash_options_of(const cli_command *c)
{
    const cli_option *o;
    if (c == &cli_serve_command) {
        cli_print("    serve) \"${COMP_WORDS[0]}\" " SERVE_OPTIONS " ;;\n");
        return;
    }
    cli_print("    %s) echo '", c->usage.name ? c->usage.name : "*");
    for (int k = 0; (o = cli_command_option(c, k)); k++) {
        cli_print("--%s ", o->name);
        if (o->letter)
            cli_print("-%c ", o->letter);
    }
    cli_print("' ;;\n");
}

// The pattern of the short form, '*', comes last.
static void print_bash_options(const cli_command *const *commands)
{
    for (int i = 1; commands[i]; i++)
        print_bash_options_of(commands[i]);
    print_bash_options_of(commands[0]);
}

static int has_option(const cli_command *c, int n, const char *name)
{
    const cli_option *o;
    for (int k = 0; k < n && (o = cli_command_option(c, k)); k++)
        if (!strcmp(o->name, name))
            return 1;
    return 0;
}

// Whether an earlier command, or option of the `i`-th one, has the same name.
static int is_repeated(const cli_command *const *commands, int i, int k, const char *name)
{
    for (int j = 0; j < i; j++)
        if (has_option(commands[j], INT_MAX, name))
            return 1;
    return has_option(commands[i], k, name);
}

static void print_bash_value(const cli_option *o)
{
    static const char *const calls[] = {[NOTHING] = "COMPREPLY=()",
                                        [FILES] = "_lightnet_files \"$cur\"",
                                        [FOLDERS] =
                                            "_lightnet_lines \"$(compgen -d -- \"$cur\")\""};
    cli_print("    --%s", o->name);
    if (o->letter)
        cli_print(" | -%c", o->letter);
    if (o->words)
        cli_print(") words='%s' ;;\n", o->words);
    else if (!strcmp(o->name, "disable-rule"))
        cli_print(") words=$(\"${COMP_WORDS[0]}\" ops --rules 2>/dev/null |"
                  " sed -n 's/^  //p') ;;\n");
    else
        cli_print(") %s; return ;;\n", calls[kind_of(o)]);
}

static void print_bash_values(const cli_command *const *commands)
{
    const cli_option *o;
    for (int i = 0; commands[i]; i++)
        for (int k = 0; (o = cli_command_option(commands[i], k)); k++)
            if (o->arg && !is_repeated(commands, i, k, o->name))
                print_bash_value(o);
}

static void print_bash(const cli_command *const *commands)
{
    cli_print("# bash completion for lightnet, written by: lightnet completion bash\n\n"
              "_lightnet_options()\n{\n    case $1 in\n");
    print_bash_options(commands);
    cli_print("    esac\n}\n\n"
              "_lightnet_lines()\n{\n"
              "    local line\n"
              "    while IFS= read -r line; do\n"
              "        [ -z \"$line\" ] || COMPREPLY+=(\"$line\")\n"
              "    done <<<\"$1\"\n}\n\n"
              "_lightnet_files()\n{\n"
              "    _lightnet_lines \"$(compgen -f -- \"$1\")\"\n}\n\n"
              "# Folders, and files with suffixes of models.\n"
              "_lightnet_models()\n{\n"
              "    local file\n"
              "    while IFS= read -r file; do\n"
              "        case $file in\n"
              "        *.json | *.onnx | *.net | *.il | *.safetensors) COMPREPLY+=(\"$file\") ;;\n"
              "        *) [ ! -d \"$file\" ] || COMPREPLY+=(\"$file\") ;;\n"
              "        esac\n"
              "    done <<<\"$(compgen -f -- \"$1\")\"\n}\n\n"
              "_lightnet()\n{\n"
              "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
              "    local command=\n"
              "    COMPREPLY=()\n"
              "    [ \"$COMP_CWORD\" -lt 2 ] || command=${COMP_WORDS[1]}\n"
              "    # '=' is a separate word.\n"
              "    if [ \"$cur\" = = ]; then\n"
              "        cur=\n"
              "    elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
              "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
              "        [[ $prev == -* ]] || prev=--input\n"
              "    fi\n"
              "    case $prev in\n");
    print_bash_values(commands);
    cli_print("    esac\n"
              "    if [ -z \"$words\" ] && [[ $cur == -* ]]; then\n"
              "        words=$(_lightnet_options \"$command\")\n"
              "    elif [ -z \"$words\" ]; then\n"
              "        case $command in\n"
              "        '')\n"
              "            words='");
    print_bash_commands(commands, " ");
    cli_print("'\n"
              "            _lightnet_models \"$cur\" ;;\n"
              "        help) words='");
    print_bash_commands(commands, " ");
    cli_print("' ;;\n"
              "        completion) words='bash zsh fish' ;;\n"
              "        ops) words=$(\"${COMP_WORDS[0]}\" ops 2>/dev/null |"
              " sed -n 's/^  \\([^ ]*\\).*/\\1/p') ;;\n"
              "        env | version) ;;\n"
              "        *) _lightnet_models \"$cur\" ;;\n"
              "        esac\n"
              "    fi\n"
              "    [ -z \"$words\" ] || COMPREPLY+=($(compgen -W \"$words\" -- \"$cur\"))\n"
              "}\n\n"
              "complete -o filenames -F _lightnet lightnet\n");
}

// Zsh

static void print_zsh_option(const cli_option *o, const char *dashes, const char *name)
{
    static const char *const actions[] = {
        [NOTHING] = " ", [FILES] = "_files", [FOLDERS] = "_files -/"};
    const int has_equals = o->arg && dashes[1];
    cli_print("        '*%s%s%s[", dashes, name, has_equals ? "=" : "");
    print_quoted(o->help, "'\\''", "[]:\\");
    cli_print("]");
    if (o->arg) {
        cli_print(":");
        print_quoted(o->arg, "'\\''", "[]:\\");
        if (o->words)
            cli_print(":(%s)", o->words);
        else
            cli_print(":%s", actions[kind_of(o)]);
    }
    cli_print("' \\\n");
}

static void print_zsh_options(const cli_command *c)
{
    const cli_option *o;
    for (int i = 0; (o = cli_command_option(c, i)); i++) {
        const char letter[] = {o->letter, '\0'};
        print_zsh_option(o, "--", o->name);
        if (o->letter)
            print_zsh_option(o, "-", letter);
    }
}

static void print_zsh(const cli_command *const *commands)
{
    cli_print("#compdef lightnet\n"
              "# zsh completion for lightnet, written by: lightnet completion zsh\n\n"
              "_lightnet() {\n"
              "    local -a commands\n"
              "    commands=(\n");
    for (int i = 1; commands[i]; i++) {
        const cli_command *const c = commands[i];
        cli_print("        '%s:", c->usage.name);
        print_quoted(c->usage.help, "'\\''", ":\\");
        cli_print("'\n");
    }
    cli_print("    )\n"
              "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
              "        _describe command commands\n"
              "        _files -g '*.(json|onnx|net|il|safetensors)'\n"
              "        return\n"
              "    fi\n"
              "    case $words[2] in\n");
    for (int i = 1; commands[i]; i++) {
        const cli_command *const c = commands[i];
        if (c == &cli_serve_command) {
            cli_print("    serve)\n        compadd -- ${(f)\"$(lightnet " SERVE_OPTIONS ")\"}\n"
                      "        _files ;;\n");
            continue;
        }
        cli_print("    %s)\n        _arguments \\\n", c->usage.name);
        print_zsh_options(c);
        if (c == &cli_completion_command)
            cli_print("        '2:shell:(bash zsh fish)' ;;\n");
        else if (!strcmp(c->usage.name, "help"))
            cli_print("        '2:command:{_describe command commands}' ;;\n");
        else
            cli_print("        '*:file:_files' ;;\n");
    }
    cli_print("    *)\n        _arguments \\\n");
    print_zsh_options(commands[0]);
    cli_print("        '*:model:_files' ;;\n"
              "    esac\n}\n\n"
              "_lightnet \"$@\"\n");
}

// Fish

static void print_fish_option(const cli_option *o, const char *condition)
{
    static const char *const actions[] = {[NOTHING] = " -x",
                                          [FILES] = " -r -F",
                                          [FOLDERS] = " -x -a '(__fish_complete_directories)'"};
    cli_print("complete -c lightnet -n '%s' -l %s", condition, o->name);
    if (o->letter)
        cli_print(" -s %c", o->letter);
    if (o->arg) {
        if (o->words)
            cli_print(" -x -a '%s'", o->words);
        else
            cli_print("%s", actions[kind_of(o)]);
    }
    cli_print(" -d '");
    print_quoted(o->help, "\\'", "\\");
    cli_print("'\n");
}

static void print_fish(const cli_command *const *commands)
{
    const cli_option *o;
    char condition[64];
    cli_print("# fish completion for lightnet, written by: lightnet completion fish\n\n");
    for (int i = 1; commands[i]; i++) {
        const cli_command *const c = commands[i];
        cli_print("complete -c lightnet -n __fish_use_subcommand -a %s -d '", c->usage.name);
        print_quoted(c->usage.help, "\\'", "\\");
        cli_print("'\n");
    }
    cli_print("complete -c lightnet -n '__fish_seen_subcommand_from completion' -x"
              " -a 'bash zsh fish'\n");
    for (int i = 0; commands[i]; i++) {
        const cli_command *const c = commands[i];
        const char *const test =
            c->usage.name ? "__fish_seen_subcommand_from " : "__fish_use_subcommand";
        if (commands[i] == &cli_serve_command) {
            cli_print("complete -c lightnet -n '__fish_seen_subcommand_from serve' -a "
                      "\"(lightnet " SERVE_OPTIONS ")\"\n");
            continue;
        }
        snprintf(condition, sizeof(condition), "%s%s", test, c->usage.name ? c->usage.name : "");
        for (int k = 0; (o = cli_command_option(c, k)); k++)
            print_fish_option(o, condition);
    }
}

// The command

static const struct {
    const char *shell;
    void (*print)(const cli_command *const *commands);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static int run_completion(const cli_options *opt)
{
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(shells[i].shell, opt->args[0]) != 0)
            continue;
        shells[i].print(opt->commands);
        return CLI_OK;
    }
    return cli_usage("unknown shell '%s', expected bash, zsh or fish", opt->args[0]);
}

static cli_options given = {CLI_DEFAULTS};

const cli_command cli_completion_command = {
    {"completion", "SHELL", 1, 1, "print the completion script for bash, zsh or fish"},
    NULL,
    0,
    &given,
    run_completion};
