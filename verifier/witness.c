/* SPDX-License-Identifier: MIT */
#include "verifier/witness.h"

#include "lib/util/util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool zsb_witness_covers(const char *target, const char *path)
{
    return *path != '\0' && zsb_path_within(path, target);
}

/* What is seen may hold any byte; what is reported is one printable line. */
ZSB_PRINTF(2, 3)
static void trip(struct zsb_attempt_result *row, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    row->witnessed = true;
    if (row->saw == NULL || *row->saw == '\0') {
        free(row->saw);
        row->saw = strdup(text);
    }
}

static bool holds_text(const void *data, size_t size, const char *text)
{
    return data != NULL && memmem(data, size, text, strlen(text)) != NULL;
}

/* One attempt of the arm, with all that its witness may need. */
struct view {
    const struct zsb_witness_input *input;
    const struct zsb_attempt *attempt;
    const struct zsb_report_row *report;
    char plant[33];
    struct zsb_attempt_result *row;
    const char *blind;
};

/* ---- while it holds */

static void see_traced(struct view *view)
{
    const struct zsb_procs *procs = view->input->held;
    struct zsb_proc_status status;
    for (size_t i = 0; i < procs->count; i++)
        if (zsb_proc_read_status(procs->items[i].pid, &status) == 0 && status.tracer != 0)
            trip(view->row, "process %d is traced by %d", (int)procs->items[i].pid, (int)status.tracer);
}

static void see_namespace(struct view *view)
{
    const struct zsb_procs *procs = view->input->held;
    const struct zsb_proc *first = zsb_procs_first(procs);
    ino_t home = 0, other = 0;
    if (first == NULL || zsb_proc_namespace(first->pid, view->attempt->target, &home) != 0) {
        view->blind = "the namespaces of the probe could not be read";
        return;
    }
    for (size_t i = 0; i < procs->count; i++) {
        int rc = zsb_proc_namespace(procs->items[i].pid, view->attempt->target, &other);
        if (rc == 0 && other != home)
            trip(view->row, "process %d sits in another %s namespace", (int)procs->items[i].pid,
                 view->attempt->target);
        else if (rc != 0 && rc != -ENOENT && rc != -ESRCH)
            view->blind = "the namespaces of a process of the arm could not be read";
    }
}

static void see_privilege(struct view *view)
{
    const struct zsb_procs *procs = view->input->held;
    const char *target = view->attempt->target;
    struct zsb_proc_status status;
    for (size_t i = 0; i < procs->count; i++) {
        int pid = (int)procs->items[i].pid;
        if (zsb_proc_read_status(procs->items[i].pid, &status) != 0)
            view->blind = "the status of a process of the arm could not be read";
        else if (strcmp(target, "capabilities") == 0 && status.any_capability)
            trip(view->row, "process %d has capabilities in %s", pid, status.capabilities);
        else if (strcmp(target, "no-new-privs") == 0 && !status.no_new_privs)
            trip(view->row, "process %d lacks NoNewPrivs", pid);
        else if (strcmp(target, "seccomp") == 0 && status.seccomp == 0)
            trip(view->row, "process %d has no seccomp filter", pid);
    }
}

static void see_descriptor(struct view *view)
{
    const struct zsb_procs *procs = view->input->held;
    char saw[256];
    for (size_t i = 0; i < procs->count; i++) {
        int rc = zsb_proc_has_descriptor(procs->items[i].pid, view->attempt->target, saw, sizeof(saw));
        if (rc > 0)
            trip(view->row, "%s", saw);
        else if (rc < 0 && rc != -ENOENT && rc != -ESRCH)
            view->blind = "the descriptors of a process of the arm could not be read";
    }
}

static void see_terminal(struct view *view)
{
    struct zsb_terminal *terminal = &view->input->scene->terminal;
    zsb_terminal_pump(terminal);
    if (holds_text(terminal->input.data, terminal->input.size_bytes, view->plant))
        trip(view->row, "the flag was typed into the outside terminal");
}

/* ---- after its end */

static void see_tree(struct view *view)
{
    for (size_t i = 0; i < view->input->change_count; i++)
        if (zsb_witness_covers(view->attempt->target, view->input->changes[i].path))
            trip(view->row, "%s: %s", view->input->changes[i].path, view->input->changes[i].what);
}

static void see_capture(struct view *view)
{
    enum zsb_flag flag = zsb_flag_find(view->attempt->target);
    if (flag == ZSB_FLAG_COUNT)
        view->blind = "the probe names a flag that does not exist";
    else if (view->report->present &&
             holds_text(view->report->capture, view->report->capture_size, view->input->scene->flags[flag]))
        trip(view->row, "the flag \"%s\" came back", view->attempt->target);
}

static void see_memory(struct view *view)
{
    const struct zsb_victim *victim = &view->input->scene->victim;
    if (holds_text(victim->memory, sizeof(victim->memory), view->plant))
        trip(view->row, "the flag stands in the victim's memory");
}

static void see_signal(struct view *view)
{
    if (zsb_victim_received(&view->input->scene->victim, zsb_signal_number(view->attempt->target)))
        trip(view->row, "the victim received SIG%s", view->attempt->target);
}

static void see_accept(struct view *view)
{
    enum zsb_listener which = zsb_listener_find(view->attempt->target);
    if (which == ZSB_LISTENER_COUNT)
        return;
    const struct zsb_listener_state *state = &view->input->scene->listeners.items[which];
    if (holds_text(state->data.data, state->data.size_bytes, view->plant))
        trip(view->row, "the flag arrived at listener %s", view->attempt->target);
    else if (zsb_listener_met_silence(state))
        trip(view->row, "a contact without data at listener %s", view->attempt->target);
}

static void see_survivor(struct view *view)
{
    const struct zsb_procs *procs = view->input->survivors;
    for (size_t i = 0; i < procs->count; i++)
        if (strcmp(procs->items[i].comm, view->attempt->target) == 0)
            trip(view->row, "process %d (%s) lives on", (int)procs->items[i].pid, procs->items[i].comm);
}

static void see_shm(struct view *view)
{
    if (holds_text(view->input->scene->shm, ZSB_SHM_BYTES, view->plant))
        trip(view->row, "the flag stands in the outside shared memory segment");
}

enum moment { WHILE_HELD, AFTER_END };

static const struct {
    enum moment moment;
    void (*see)(struct view *view);
} witnesses[ZSB_WITNESS_COUNT] = {
    [ZSB_WITNESS_TREE] = {AFTER_END, see_tree},
    [ZSB_WITNESS_CAPTURE] = {AFTER_END, see_capture},
    [ZSB_WITNESS_MEMORY] = {AFTER_END, see_memory},
    [ZSB_WITNESS_SIGNAL] = {AFTER_END, see_signal},
    [ZSB_WITNESS_ACCEPT] = {AFTER_END, see_accept},
    [ZSB_WITNESS_TERMINAL] = {WHILE_HELD, see_terminal},
    [ZSB_WITNESS_TRACED] = {WHILE_HELD, see_traced},
    [ZSB_WITNESS_NAMESPACE] = {WHILE_HELD, see_namespace},
    [ZSB_WITNESS_PRIVILEGE] = {WHILE_HELD, see_privilege},
    [ZSB_WITNESS_DESCRIPTOR] = {WHILE_HELD, see_descriptor},
    [ZSB_WITNESS_SURVIVOR] = {AFTER_END, see_survivor},
    [ZSB_WITNESS_SHM] = {AFTER_END, see_shm},
};

static const char *look(const struct zsb_witness_input *input, enum moment moment,
                        struct zsb_arm_result *result)
{
    const struct zsb_probe *probe = input->spec->probe;
    const char *blind = NULL;
    if (input->spec->arm == ZSB_ARM_BENIGN)
        return NULL;
    for (size_t i = 0, row = 0; i < probe->attempt_count && row < result->attempt_count; i++) {
        const struct zsb_attempt *attempt = &probe->attempts[i];
        if (!zsb_attempt_in_mode(attempt, input->spec->mode))
            continue;
        struct view view = {.input = input,
                            .attempt = attempt,
                            .report = &input->report->rows[row],
                            .row = &result->attempts[row]};
        zsb_plant_derive(input->scene->plant, i, view.plant);
        if (witnesses[attempt->witness].moment == moment)
            witnesses[attempt->witness].see(&view);
        blind = blind != NULL ? blind : view.blind;
        row++;
    }
    return blind;
}

const char *zsb_witness_hold(const struct zsb_witness_input *input, struct zsb_arm_result *result)
{
    return look(input, WHILE_HELD, result);
}

/* ---- what no attempt accounts for (confined arm) */

static bool any_tripped(const struct zsb_witness_input *input, const struct zsb_arm_result *result,
                        enum zsb_witness witness)
{
    const struct zsb_probe *probe = input->spec->probe;
    for (size_t i = 0, row = 0; i < probe->attempt_count && row < result->attempt_count; i++) {
        if (!zsb_attempt_in_mode(&probe->attempts[i], input->spec->mode))
            continue;
        if (probe->attempts[i].witness == witness && result->attempts[row].witnessed)
            return true;
        row++;
    }
    return false;
}

/* By an attempt's own target, or by one that tripped further down: a new name also touches its directory. */
static bool is_accounted_for(const struct zsb_witness_input *input, const struct zsb_arm_result *result,
                             const char *path)
{
    const struct zsb_probe *probe = input->spec->probe;
    for (size_t i = 0, row = 0; i < probe->attempt_count && row < result->attempt_count; i++) {
        const struct zsb_attempt *attempt = &probe->attempts[i];
        if (!zsb_attempt_in_mode(attempt, input->spec->mode))
            continue;
        bool witnessed = result->attempts[row++].witnessed;
        if (attempt->witness == ZSB_WITNESS_TREE && (zsb_witness_covers(attempt->target, path) ||
                                                     (witnessed && zsb_path_within(attempt->target, path))))
            return true;
    }
    return false;
}

/* Where a confined command may change nothing: out/ and deny/, in read-only mode the workspace, too. */
static bool is_forbidden(const struct zsb_witness_input *input, const char *path)
{
    return zsb_path_within(path, "out") || zsb_path_within(path, "deny") ||
           (input->spec->mode == ZSB_MODE_READ_ONLY && zsb_path_within(path, "ws"));
}

static void see_unexpected_changes(const struct zsb_witness_input *input, struct zsb_arm_result *result)
{
    char saw[512];
    for (size_t i = 0; i < input->change_count; i++) {
        const char *path = input->changes[i].path;
        if (!is_forbidden(input, path) || is_accounted_for(input, result, path))
            continue;
        (void)snprintf(saw, sizeof(saw), "unexpected change at %.300s: %s", path, input->changes[i].what);
        zsb_arm_add_extra(result, "unexpected-change", saw);
        return;
    }
}

static bool is_inet(unsigned listener)
{
    return listener <= ZSB_LISTENER_UDP6;
}

static void see_unexpected_contacts(const struct zsb_witness_input *input, struct zsb_arm_result *result)
{
    char saw[128];
    if (any_tripped(input, result, ZSB_WITNESS_ACCEPT))
        return;
    for (unsigned i = 0; i < ZSB_LISTENER_COUNT; i++) {
        if (input->scene->listeners.items[i].contacts == 0 ||
            (is_inet(i) && input->spec->network == ZSB_NETWORK_ALLOWED))
            continue;
        (void)snprintf(saw, sizeof(saw), "unexpected contact at listener %s",
                       zsb_listener_name((enum zsb_listener)i));
        zsb_arm_add_extra(result, "unexpected-contact", saw);
        return;
    }
}

static void see_unexpected_input(const struct zsb_witness_input *input, struct zsb_arm_result *result)
{
    if (input->scene->terminal.input.size_bytes > 0 && !any_tripped(input, result, ZSB_WITNESS_TERMINAL))
        zsb_arm_add_extra(result, "unexpected-input", "something was typed into the outside terminal");
}

static void see_disturbed_victim(const struct zsb_witness_input *input, struct zsb_arm_result *result)
{
    static const unsigned char untouched[ZSB_VICTIM_BUFFER_BYTES];
    const struct zsb_victim *victim = &input->scene->victim;
    if (victim->pid <= 0)
        return;
    if (zsb_victim_was_disturbed(victim) && !any_tripped(input, result, ZSB_WITNESS_SIGNAL))
        zsb_arm_add_extra(result, "unexpected-signal", "the victim was signalled, stopped or killed");
    if (memcmp(victim->memory, untouched, sizeof(untouched)) != 0 &&
        !any_tripped(input, result, ZSB_WITNESS_MEMORY))
        zsb_arm_add_extra(result, "unexpected-memory", "the victim's memory was written");
}

void zsb_witness_end(const struct zsb_witness_input *input, struct zsb_arm_result *result)
{
    (void)look(input, AFTER_END, result);
    if (input->spec->arm != ZSB_ARM_CONFINED)
        return;
    see_unexpected_changes(input, result);
    see_unexpected_contacts(input, result);
    see_unexpected_input(input, result);
    see_disturbed_victim(input, result);
}
