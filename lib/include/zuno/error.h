/* SPDX-License-Identifier: MIT
 *
 * Errors of libzuno-sandbox: one closed enumeration, one value type.
 *
 * Every fallible function takes a `struct zsb_error *err` last and returns 0 or the negative code
 * (`-err->code`). `err` may be NULL. Nothing is stored globally; all functions are thread safe and
 * do not allocate. docs/errors.md lists every code and is tested against this enumeration.
 */
#ifndef ZUNO_ERROR_H
#define ZUNO_ERROR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ZSB_API __attribute__((visibility("default")))
#define ZSB_MUST_CHECK __attribute__((warn_unused_result))
#define ZSB_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define ZSB_API
#define ZSB_MUST_CHECK
#define ZSB_PRINTF(f, a)
#endif

/* Where a failure happened. A failure of the sandbox is never mistaken for one of the command. */
enum zsb_stage {
    ZSB_STAGE_NONE = 0, /* no failure */
    ZSB_STAGE_POLICY,   /* the request itself is invalid or cannot be expressed */
    ZSB_STAGE_RESOLVE,  /* no backend can be had on this host */
    ZSB_STAGE_SPAWN,    /* our own processes could not be started */
    ZSB_STAGE_CONFINE,  /* confinement could not be applied in full; the command never ran */
    ZSB_STAGE_EXEC,     /* the command itself could not be executed (confinement was complete) */
    ZSB_STAGE_COUNT
};

enum zsb_code {
    ZSB_OK = 0,
    /* the request */
    ZSB_E_INVALID_ARGUMENT,   /* a NULL, empty or malformed argument */
    ZSB_E_INVALID_POLICY,     /* contradictory policy values */
    ZSB_E_INVALID_PATH,       /* subject: path; reason: kind and rule */
    ZSB_E_UNSUPPORTED_POLICY, /* subject: backend; reason: the requirement it cannot carry */
    /* unavailable on this host, eligible for a trusted fallback */
    ZSB_E_UNSUPPORTED_PLATFORM,     /* subject: platform */
    ZSB_E_UNSUPPORTED_ARCHITECTURE, /* subject: architecture */
    ZSB_E_WSL1_UNSUPPORTED,
    ZSB_E_BUBBLEWRAP_NOT_FOUND,
    ZSB_E_MISSING_BUBBLEWRAP_CAPABILITY,     /* subject: option */
    ZSB_E_DEPLOYMENT_CAPABILITY_UNAVAILABLE, /* subject: capability; reason: detail */
    /* terminal, never a fallback */
    ZSB_E_UNTRUSTED_LAUNCHER, /* subject: path; reason: first failed rule */
    ZSB_E_PROBE_FAILED,       /* subject: capability; reason: detail */
    ZSB_E_SECCOMP,            /* the filter could not be compiled or installed */
    ZSB_E_HELPER,             /* the helper is missing, untrusted or broke its protocol */
    ZSB_E_LAUNCHER,           /* the launcher ended before the helper reported */
    ZSB_E_CONFINEMENT,        /* the helper found the confinement incomplete and refused */
    ZSB_E_IO,
    ZSB_E_NO_MEMORY,
    ZSB_E_LIMIT,          /* a documented maximum was exceeded */
    ZSB_E_NOT_EXECUTABLE, /* subject: program; it exists but cannot be executed (exit 126) */
    ZSB_E_NOT_FOUND,      /* subject: program; it was not found (exit 127) */
    ZSB_E_COUNT
};

#define ZSB_ERROR_MSG_MAX 512
#define ZSB_ERROR_FIELD_MAX 256

struct zsb_error {
    enum zsb_code code;
    enum zsb_stage stage;
    int sys_errno;                     /* 0 when no system call failed */
    char subject[ZSB_ERROR_FIELD_MAX]; /* typed detail, meaning per code above; may be empty */
    char reason[ZSB_ERROR_FIELD_MAX];
    char msg[ZSB_ERROR_MSG_MAX]; /* one line, no newline, names what and why */
};

#define ZSB_ERROR_INIT                                                                                       \
    {                                                                                                        \
        ZSB_OK, ZSB_STAGE_NONE, 0, "", "", ""                                                                \
    }

/* snake_case name as serialised ("invalid_path"); "unknown" outside the enumeration. Static storage. */
ZSB_API const char *zsb_code_name(enum zsb_code code);
/* "none", "policy", "resolve", "spawn", "confine", "exec". Static storage. */
ZSB_API const char *zsb_stage_name(enum zsb_stage stage);
/* One sentence for people. Static storage. */
ZSB_API const char *zsb_code_summary(enum zsb_code code);
/* 1 when a trusted run-unconfined policy may fall back on this cause, else 0 (docs/errors.md, column
 * "fallback"). */
ZSB_API int zsb_code_fallback_eligible(enum zsb_code code);

#ifdef __cplusplus
}
#endif
#endif
