/* faultlag: how late, how far away and at what cost CUDA programs learn of
 * their own faults. This program links no CUDA: it plans trials, runs each in
 * a process of its own (faultlag-trial), and keeps what came of them. */
#include <stdio.h>
#include <string.h>

#include "harness/command.h"
#include "harness/version.h"

static const struct command {
    const char *name;
    enum fl_command id;
    int (*run)(const struct fl_options *, int, char **);
    const char *arguments, *help;
} commands[] = {
    { "list", FL_CMD_LIST, fl_cmd_list, "",
      "scenarios, strategies and devices" },
    { "describe", FL_CMD_DESCRIBE, fl_cmd_describe, "NAME",
      "a scenario, with what is expected of it, or a strategy" },
    { "run", FL_CMD_RUN, fl_cmd_run, "NAME", "trials of one scenario" },
    { "bench", FL_CMD_BENCH, fl_cmd_bench, "",
      "the whole catalogue under every strategy, into a results folder" },
    { "compare", FL_CMD_COMPARE, fl_cmd_compare, "A B",
      "two results folders, a verdict a cell; 1: something is worse" },
    { "merge", FL_CMD_MERGE, fl_cmd_merge, "DIR...",
      "joins the results of all shards of one bench in one folder" },
    { "diagnose", FL_CMD_DIAGNOSE, fl_cmd_diagnose, "LOG",
      "what failed in a program's log (-: stdin); 1: something did" },
    { "doctor", FL_CMD_DOCTOR, fl_cmd_doctor, "",
      "what works on this machine, and why the rest does not" },
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static void help(FILE *out)
{
    fputs("usage: faultlag COMMAND [OPTIONS]\n\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-9s%-7s%s\n", commands[i].name,
                commands[i].arguments, commands[i].help);
    fputs("\n`faultlag COMMAND --help` tells a command's options.\n"
          "Exit codes: 0 as expected, 1 something deviated, 2 usage, "
          "3 environment unusable,\n77 everything skipped, 130 interrupted "
          "with results saved.\n", out);
}

static int command_help(const struct command *c)
{
    printf("usage: faultlag %s%s%s [OPTIONS]\n%s\n\n", c->name,
           *c->arguments ? " " : "", c->arguments, c->help);
    fl_options_help(c->id, stdout);
    return FL_EXIT_OK;
}

static bool takes(const struct command *c, size_t n)
{
    if (strstr(c->arguments, "..."))
        return n > 0;
    size_t words = *c->arguments != '\0';
    for (const char *s = c->arguments; *s; s++)
        words += *s == ' ';
    return n == words;
}

int main(int argc, char **argv)
{
    const char *names[N_COMMANDS], *word = argc > 1 ? argv[1] : NULL;
    if (!word || !strcmp(word, "--help") || !strcmp(word, "help")) {
        help(word ? stdout : stderr);
        return word ? FL_EXIT_OK : FL_EXIT_USAGE;
    }
    if (!strcmp(word, "--version")) {
        printf("faultlag %s (%s%s)\n", FAULTLAG_VERSION, FAULTLAG_COMMIT,
               FAULTLAG_DIRTY ? ", modified" : "");
        return FL_EXIT_OK;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const struct command *c = &commands[i];
        struct fl_options options;
        names[i] = c->name;
        if (strcmp(word, c->name))
            continue;
        if (!fl_options_parse(c->id, argc - 2, argv + 2, &options))
            return FL_EXIT_USAGE;
        if (options.help)
            return command_help(c);
        if (!takes(c, options.n_names)) {
            fprintf(stderr, !*c->arguments
                    ? "faultlag: %s takes options only\n"
                    : !strcmp(c->arguments, "NAME")
                    ? "faultlag: %s what? `faultlag list` shows names\n"
                    : "faultlag: %s takes %s\n", c->name, c->arguments);
            return FL_EXIT_USAGE;
        }
        return c->run(&options, argc - 2, argv + 2);
    }
    const char *near = fl_nearest(word, names, N_COMMANDS);
    fprintf(stderr, "faultlag: no command is called `%s`", word);
    if (near)
        fprintf(stderr, "; did you mean `%s`?", near);
    fputs("\n", stderr);
    return FL_EXIT_USAGE;
}
