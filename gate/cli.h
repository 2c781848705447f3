/* SPDX-License-Identifier: MIT
 *
 * What the subcommands share: exit codes, the error line, the report's destination, and where the other
 * programs are.
 */
#ifndef ZSB_GATE_CLI_H
#define ZSB_GATE_CLI_H

#include "gate/options.h"
#include "reports/reports.h"
#include "verifier/campaign.h"

enum zsb_exit {
    ZSB_EXIT_OK = 0,
    ZSB_EXIT_ESCAPED = 1, /* verify: something escaped; gate: refused */
    ZSB_EXIT_USAGE = 2,
    ZSB_EXIT_UNAVAILABLE = 3,
    ZSB_EXIT_FAULT = 4, /* a verifier that cannot tell */
    /* run */
    ZSB_EXIT_SANDBOX = 125,
    ZSB_EXIT_NOT_EXECUTABLE = 126,
    ZSB_EXIT_NOT_FOUND = 127,
    ZSB_EXIT_SIGNAL = 128, /* plus the signal */
};

/* Each takes parsed options and returns the exit code. */
int zsb_cmd_run(const struct zsb_options *options);
int zsb_cmd_verify(const struct zsb_options *options);
int zsb_cmd_gate(const struct zsb_options *options);
int zsb_cmd_probes(const struct zsb_options *options);
int zsb_cmd_policy(const struct zsb_options *options);

/* One line on stderr: "zuno-sandbox: <where>: <text>", with foreign bytes made safe. */
ZSB_PRINTF(2, 3) void zsb_cli_say(const char *where, const char *format, ...);
/* The same for an error; where is its stage. Backend errors (stage resolve) also name their code. */
void zsb_cli_error(const struct zsb_error *error);
/* Says that the command line is wrong; returns ZSB_EXIT_USAGE. */
ZSB_PRINTF(1, 2) int zsb_cli_usage(const char *format, ...);
/* Exit code of verify, gate and policy for an error of a lower room: 2 input, 3 backend, 4 anything else. */
int zsb_cli_exit_of(const struct zsb_error *error);

/* The helper programs, beside this program or in the installed libexec directory: never from PATH or the
 * environment. Caller frees. Errors: helper (stage resolve). */
ZSB_MUST_CHECK int zsb_cli_tool_path(const char *name, char **out_path, struct zsb_error *err);

/* --format, --output, colour. Open before the work, so that a wrong path is known before it. */
struct zsb_file;
struct zsb_destination {
    struct zsb_file *file; /* NULL: stdout */
    struct zsb_report_style style;
};
ZSB_MUST_CHECK int zsb_destination_open(const struct zsb_options *options,
                                        struct zsb_destination *out_destination, struct zsb_error *err);
ZSB_MUST_CHECK int zsb_destination_write(struct zsb_destination *destination, const struct zsb_buf *report,
                                         struct zsb_error *err);
void zsb_destination_close(struct zsb_destination *destination);

/* The campaign that verify and gate run; shows progress on stderr when that is a terminal. Errors as
 * zsb_campaign_run() and zsb_cli_tool_path(). */
ZSB_MUST_CHECK int zsb_cli_campaign(const struct zsb_subject *subject, const enum zsb_mode *modes,
                                    size_t mode_count, const struct zsb_options *options,
                                    struct zsb_campaign *out_campaign, struct zsb_error *err);

#endif
