/* SPDX-License-Identifier: MIT */
#include "lib/util/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct code_row {
    const char *name;
    const char *summary;
    bool fallback_eligible; /* the roadmap: unsupported platform, missing launcher or option, namespace denial
                             */
};

static const struct code_row code_rows[ZSB_E_COUNT] = {
    [ZSB_OK] = {"ok", "No error.", false},
    [ZSB_E_INVALID_ARGUMENT] = {"invalid_argument", "An argument is missing or malformed.", false},
    [ZSB_E_INVALID_POLICY] = {"invalid_policy", "The policy contradicts itself.", false},
    [ZSB_E_INVALID_PATH] = {"invalid_path", "A path of the policy cannot be used.", false},
    [ZSB_E_UNSUPPORTED_POLICY] = {"unsupported_policy", "The backend cannot enforce this policy.", false},
    [ZSB_E_UNSUPPORTED_PLATFORM] = {"unsupported_platform", "No confined backend exists for this platform.",
                                    true},
    [ZSB_E_UNSUPPORTED_ARCHITECTURE] = {"unsupported_architecture",
                                        "No syscall filter exists for this machine.", true},
    [ZSB_E_WSL1_UNSUPPORTED] = {"wsl1_unsupported", "WSL1 has no namespaces; use WSL2.", true},
    [ZSB_E_BUBBLEWRAP_NOT_FOUND] = {"bubblewrap_not_found", "No bubblewrap at the fixed paths.", true},
    [ZSB_E_MISSING_BUBBLEWRAP_CAPABILITY] = {"missing_bubblewrap_capability",
                                             "The bubblewrap found lacks a required option.", true},
    [ZSB_E_DEPLOYMENT_CAPABILITY_UNAVAILABLE] = {"deployment_capability_unavailable",
                                                 "The host refuses a required kernel facility.", true},
    [ZSB_E_UNTRUSTED_LAUNCHER] = {"untrusted_launcher", "The launcher fails the trust check.", false},
    [ZSB_E_PROBE_FAILED] = {"probe_failed", "The self-test of the prepared chain failed.", false},
    [ZSB_E_SECCOMP] = {"seccomp", "The syscall filter could not be compiled or installed.", false},
    [ZSB_E_HELPER] = {"helper", "The in-sandbox helper is missing, untrusted or broke its protocol.", false},
    [ZSB_E_LAUNCHER] = {"launcher", "The launcher ended before the sandbox was ready.", false},
    [ZSB_E_CONFINEMENT] = {"confinement", "The helper found the confinement incomplete and refused.", false},
    [ZSB_E_IO] = {"io", "A system call failed.", false},
    [ZSB_E_NO_MEMORY] = {"no_memory", "Out of memory.", false},
    [ZSB_E_LIMIT] = {"limit", "A documented maximum was exceeded.", false},
    [ZSB_E_NOT_EXECUTABLE] = {"not_executable", "The command exists but cannot be executed.", false},
    [ZSB_E_NOT_FOUND] = {"not_found", "The command was not found.", false},
};

static const char *const stage_names[ZSB_STAGE_COUNT] = {
    [ZSB_STAGE_NONE] = "none",   [ZSB_STAGE_POLICY] = "policy",   [ZSB_STAGE_RESOLVE] = "resolve",
    [ZSB_STAGE_SPAWN] = "spawn", [ZSB_STAGE_CONFINE] = "confine", [ZSB_STAGE_EXEC] = "exec",
};

static const struct code_row *row_of(enum zsb_code code)
{
    return (int)code >= 0 && code < ZSB_E_COUNT ? &code_rows[code] : NULL;
}

const char *zsb_code_name(enum zsb_code code)
{
    const struct code_row *row = row_of(code);
    return row != NULL ? row->name : "unknown";
}

const char *zsb_code_summary(enum zsb_code code)
{
    const struct code_row *row = row_of(code);
    return row != NULL ? row->summary : "Unknown error code.";
}

int zsb_code_fallback_eligible(enum zsb_code code)
{
    const struct code_row *row = row_of(code);
    return row != NULL && row->fallback_eligible;
}

const char *zsb_stage_name(enum zsb_stage stage)
{
    return (int)stage >= 0 && stage < ZSB_STAGE_COUNT ? stage_names[stage] : "unknown";
}

/* Messages are one line: control characters from paths become '?'. */
static void flatten(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

int zsb_error_set(struct zsb_error *err, enum zsb_code code, enum zsb_stage stage, int sys_errno,
                  const char *format, ...)
{
    if (err == NULL)
        return -(int)code;
    *err = (struct zsb_error)ZSB_ERROR_INIT;
    err->code = code;
    err->stage = stage;
    err->sys_errno = sys_errno;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->msg, sizeof(err->msg), format, args);
    va_end(args);
    if (sys_errno != 0) {
        size_t used = strlen(err->msg);
        char text[96];
        (void)snprintf(err->msg + used, sizeof(err->msg) - used, ": %s",
                       strerror_r(sys_errno, text, sizeof(text)));
    }
    flatten(err->msg);
    return -(int)code;
}

int zsb_error_detail(struct zsb_error *err, int negative_code, const char *subject, const char *reason)
{
    if (err != NULL && subject != NULL) {
        (void)snprintf(err->subject, sizeof(err->subject), "%s", subject);
        flatten(err->subject);
    }
    if (err != NULL && reason != NULL) {
        (void)snprintf(err->reason, sizeof(err->reason), "%s", reason);
        flatten(err->reason);
    }
    return negative_code;
}

int zsb_error_no_memory(struct zsb_error *err, enum zsb_stage stage)
{
    return zsb_error_set(err, ZSB_E_NO_MEMORY, stage, 0, "out of memory");
}
