/* SPDX-License-Identifier: MIT */
#include "gate/cli.h"

#include "gate/file.h"
#include "reports/clean.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void say(const char *where, const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof(text), format, args);
    ZSB_AUTO_BUF line = ZSB_BUF_INIT;
    zsb_buf_addf(&line, "zuno-sandbox: %s: ", where);
    zsb_clean_line(&line, text);
    zsb_buf_addc(&line, '\n');
    if (line.data && zsb_write_all(STDERR_FILENO, line.data, line.size_bytes))
        return; /* nobody left to tell */
}

void zsb_cli_say(const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(where, format, args);
    va_end(args);
}

int zsb_cli_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("usage", format, args);
    va_end(args);
    return ZSB_EXIT_USAGE;
}

void zsb_cli_error(const struct zsb_error *error)
{
    const char *code = zsb_code_name(error->code);
    if (error->stage == ZSB_STAGE_RESOLVE)
        zsb_cli_say(zsb_stage_name(error->stage), "%s: %s", code, error->msg);
    else
        zsb_cli_say(error->stage == ZSB_STAGE_NONE ? code : zsb_stage_name(error->stage), "%s", error->msg);
}

static bool is_input(enum zsb_code code)
{
    return code == ZSB_E_INVALID_ARGUMENT || code == ZSB_E_INVALID_POLICY || code == ZSB_E_INVALID_PATH ||
           code == ZSB_E_UNSUPPORTED_POLICY || code == ZSB_E_LIMIT;
}

int zsb_cli_exit_of(const struct zsb_error *error)
{
    if (error->stage == ZSB_STAGE_RESOLVE)
        return ZSB_EXIT_UNAVAILABLE;
    return is_input(error->code) ? ZSB_EXIT_USAGE : ZSB_EXIT_FAULT;
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

/* The directory `up` levels above this program's file, which the kernel names without links. */
static char *directory_above(unsigned up)
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return NULL;
    self[length] = '\0';
    for (; up > 0; up--) {
        char *slash = strrchr(self, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return zsb_strdupf("%s", self);
}

/* Where tool `name` may be, best first: a build tree, an installed tree wherever it was put, and the place
 * that the build was configured for. */
static char *tool_candidate(unsigned place, const char *name)
{
    if (place == 2)
        return zsb_strdupf("%s/%s", ZSB_LIBEXECDIR, name);
    ZSB_AUTO_FREE char *dir = directory_above(place + 1);
    return dir ? zsb_strdupf("%s%s/%s", dir, place == 0 ? "" : "/libexec/zuno-sandbox", name) : NULL;
}

int zsb_cli_tool_path(const char *name, char **out_path, struct zsb_error *err)
{
    for (unsigned place = 0; place < 3; place++) {
        ZSB_AUTO_FREE char *path = tool_candidate(place, name);
        if (path && is_program(path)) {
            *out_path = zsb_steal_ptr(&path);
            return 0;
        }
    }
    return zsb_error_set(
        err, ZSB_E_HELPER, ZSB_STAGE_RESOLVE, 0,
        "%s is neither beside zuno-sandbox nor in ../libexec/zuno-sandbox from there nor in " ZSB_LIBEXECDIR,
        name);
}

/* https://no-color.org: set at all, unless empty, means no. */
static bool wants_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

int zsb_destination_open(const struct zsb_options *options, struct zsb_destination *out_destination,
                         struct zsb_error *err)
{
    *out_destination = (struct zsb_destination){0};
    if (options->output)
        return zsb_file_open(options->output, &out_destination->file, err);
    out_destination->style.colour = wants_colour();
    return 0;
}

int zsb_destination_write(struct zsb_destination *destination, const struct zsb_buf *report,
                          struct zsb_error *err)
{
    if (destination->file)
        return zsb_file_write(destination->file, report->data, report->size_bytes, err);
    const int rc = zsb_write_all(STDOUT_FILENO, report->data, report->size_bytes);
    return rc ? zsb_error_set(err, ZSB_E_IO, ZSB_STAGE_NONE, -rc, "cannot write to stdout") : 0;
}

void zsb_destination_close(struct zsb_destination *destination)
{
    zsb_file_close(destination->file);
    destination->file = NULL;
}

static void show_progress(void *user, size_t done, size_t total, const struct zsb_trial_result *latest)
{
    (void)user;
    dprintf(STDERR_FILENO, "\r\x1b[K%zu/%zu %s %s", done, total, latest ? latest->probe->id : "",
            latest ? zsb_verdict_name(latest->verdict) : "");
    if (done == total)
        dprintf(STDERR_FILENO, "\r\x1b[K");
}

int zsb_cli_campaign(const struct zsb_subject *subject, const enum zsb_mode *modes, size_t mode_count,
                     const struct zsb_options *options, struct zsb_campaign *out_campaign,
                     struct zsb_error *err)
{
    ZSB_AUTO_FREE char *helper = NULL;
    ZSB_AUTO_FREE char *escapes = NULL;
    int rc = zsb_cli_tool_path("zuno-sandbox-helper", &helper, err);
    if (!rc)
        rc = zsb_cli_tool_path("zuno-escapes", &escapes, err);
    if (rc)
        return rc;
    const struct zsb_campaign_options campaign = {
        .subject = *subject,
        .modes = modes,
        .mode_count = mode_count,
        .probe_globs = options->probes.words,
        .probe_glob_count = options->probes.count,
        .jobs = options->jobs,
        .helper_path = helper,
        .escapes_path = escapes,
        .progress = isatty(STDERR_FILENO) ? show_progress : NULL,
    };
    return zsb_campaign_run(&campaign, out_campaign, err);
}
