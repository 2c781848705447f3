/* SPDX-License-Identifier: MIT
 *
 * zuno-sandbox: a table of subcommands.
 */
#include "gate/cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name;
    const char *summary;
    const char *synopsis; /* after "zuno-sandbox NAME" */
    const char *notes;    /* exit codes and what else must be known */
    unsigned bit;
    bool words_end_options;
    int (*function)(const struct zsb_options *options);
} commands[] = {
    {
        .name = "run",
        .summary = "run one command confined",
        .synopsis = "[OPTION]... [--] PROGRAM [ARG]...",
        .notes =
            "Exit: the command's own status; 128+n when a signal n ended it, --timeout ended it, or n was "
            "sent to\n"
            "zuno-sandbox run (HUP also when the process that started it ends: the command never outlives "
            "it);\n"
            "127 command not found, 126 not executable, 125 the sandbox failed and says at which stage;\n"
            "2 unknown option or bad value. --outcome tells these apart without doubt; after 2 it is not "
            "written.\n",
        .bit = ZSB_COMMAND_RUN,
        .words_end_options = true,
        .function = zsb_cmd_run,
    },
    {
        .name = "verify",
        .summary = "attack the sandbox with every probe and report the verdicts",
        .synopsis = "[OPTION]...",
        .notes = "Exit: 0 everything required held, 1 something escaped, 2 bad usage or input,\n"
                 "3 the backend is unavailable, 4 the verifier cannot tell (inconclusive or error).\n",
        .bit = ZSB_COMMAND_VERIFY,
        .function = zsb_cmd_verify,
    },
    {
        .name = "gate",
        .summary = "decide whether read-only agents get Shell",
        .synopsis = "[OPTION]...",
        .notes = "Runs every probe in read-only and workspace-write mode, then judges the criteria.\n"
                 "Exit: 0 granted, 1 refused, 2 bad usage or input, 3 the backend is unavailable (the report "
                 "says\n"
                 "refuse), 4 refused because the verifier cannot tell (inconclusive or error).\n",
        .bit = ZSB_COMMAND_GATE,
        .function = zsb_cmd_gate,
    },
    {
        .name = "probes",
        .summary = "list the probes, or show one",
        .synopsis = "[list | show ID] [OPTION]...",
        .notes = "Exit: 0, 2 bad usage, 4 the list could not be printed.\n",
        .bit = ZSB_COMMAND_PROBES,
        .function = zsb_cmd_probes,
    },
    {
        .name = "policy",
        .summary = "show the plan of a policy and what the backend makes of it",
        .synopsis = "show [OPTION]...",
        .notes = "Starts nothing. Exit: 0, 2 bad usage, an invalid policy or one that the backend refuses,\n"
                 "3 the launcher or the helper is missing or not trusted, 4 anything else. Whether the host "
                 "lets\n"
                 "the launcher work is not tried: that is what verify and gate do.\n",
        .bit = ZSB_COMMAND_POLICY,
        .function = zsb_cmd_policy,
    },
};

static void on_pipe(int number)
{
    (void)number;
}

/* A reader that went away is an error of one write, not our end. A handler, because SIG_IGN would pass into
 * every command that we start. */
static void survive_closed_pipes(void)
{
    struct sigaction before;
    const struct sigaction action = {.sa_handler = on_pipe, .sa_flags = SA_RESTART};
    if (sigaction(SIGPIPE, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGPIPE, &action, NULL);
}

static int print(struct zsb_buf *text)
{
    return !text->data || text->failed || zsb_write_all(STDOUT_FILENO, text->data, text->size_bytes)
               ? ZSB_EXIT_FAULT
               : ZSB_EXIT_OK;
}

static int print_help(void)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    zsb_buf_add(&text, "usage: zuno-sandbox COMMAND [OPTION]...\n\n");
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(commands); i++)
        zsb_buf_addf(&text, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    zsb_buf_add(&text, "\nzuno-sandbox COMMAND --help tells more; --version prints the version.\n");
    return print(&text);
}

static int print_command_help(const struct command *command)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    zsb_buf_addf(&text, "usage: zuno-sandbox %s %s\n%s\n\n", command->name, command->synopsis,
                 command->summary);
    zsb_options_help(command->bit, &text);
    zsb_buf_addf(&text, "\n%s", command->notes);
    return print(&text);
}

static int print_version(void)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    zsb_buf_add(&text, "zuno-sandbox " ZSB_VERSION "\n");
    return print(&text);
}

static int run_command(const struct command *command, char *const argv[])
{
    __attribute__((cleanup(zsb_options_clear))) struct zsb_options options;
    struct zsb_error err = ZSB_ERROR_INIT;
    if (zsb_options_parse(command->bit, command->words_end_options, argv, &options, &err))
        return zsb_cli_usage("%s (zuno-sandbox %s --help)", err.msg, command->name);
    return options.help ? print_command_help(command) : command->function(&options);
}

int main(int argc, char *argv[])
{
    survive_closed_pipes();
    if (argc < 2)
        return zsb_cli_usage("no command given (zuno-sandbox --help)");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0)
        return print_version();
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(commands); i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return run_command(&commands[i], argv + 1);
    }
    return zsb_cli_usage("'%s' is not a command (zuno-sandbox --help)", argv[1]);
}
