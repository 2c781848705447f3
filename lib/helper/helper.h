/* SPDX-License-Identifier: MIT
 *
 * zuno-sandbox-helper: the part of the library that runs on the other side. Static, started by descriptor.
 *
 *   deny|allow -- PROGRAM ARGS...  confine this process and become PROGRAM (the interop protocol)
 *   deny|allow --config FD         PID 1 of a sandbox: audit, confine, run the command, report
 *   native --config FD             supervisor of an unconfined command: run, report, end its tree
 *   hold --socket FD FD:NAME...    keeper of names that must not come into being while a sandbox runs
 *   diagnose deny|allow            names the first kernel facility that is refused on this host
 *
 * Not a public header.
 */
#ifndef ZSB_HELPER_H
#define ZSB_HELPER_H

#include "lib/util/util.h"
#include "lib/util/wire.h"

#include <zuno/policy.h>

#include <stdbool.h>
#include <stdint.h>

enum { ZSB_HELPER_EXIT_FAILED = 125, ZSB_HELPER_EXIT_NOT_EXECUTABLE = 126, ZSB_HELPER_EXIT_NOT_FOUND = 127 };

enum zsb_audit_kind {
    ZSB_AUDIT_WRITABLE = 0, /* identity must match; mounts at and below may be writable */
    ZSB_AUDIT_READ_ONLY,    /* identity must match; must sit on a read-only mount */
    ZSB_AUDIT_HELD,         /* an empty directory on a read-only mount */
    ZSB_AUDIT_DENIED,       /* identity must differ; no permissions; read-only mount */
    ZSB_AUDIT_SCRATCH,      /* a private writable mount */
    ZSB_AUDIT_KNOB,         /* must sit on a read-only mount */
    ZSB_AUDIT_KIND_COUNT
};

struct zsb_audit_entry {
    enum zsb_audit_kind kind;
    uint64_t device, inode; /* 0, 0 where identity plays no part */
    const char *path;       /* borrowed from the configuration */
};

struct zsb_helper_config {
    char *data; /* owns every string below */
    bool native;
    enum zsb_network network;
    int status_fd;
    int keeper_fd;  /* -1: none */
    int program_fd; /* -1: look argv[0] up in PATH */
    int *grants;
    size_t grant_count;
    const char *cwd;
    uint64_t cwd_device, cwd_inode;
    struct zsb_audit_entry *audits;
    size_t audit_count;
    struct zsb_outer_namespace {
        const char *name;
        uint64_t inode;
    } outer[8];
    size_t outer_count;
    char **argv; /* NULL-terminated */
    size_t argc;
    char **environment; /* NULL-terminated */
    size_t environment_count;
};

/* Strict parser of the NUL-separated key=value configuration; takes ownership of data on success.
 * 0, or -ZSB_E_HELPER with a message. */
int zsb_helper_config_parse(char *data, size_t size_bytes, struct zsb_helper_config *out,
                            struct zsb_error *err);
void zsb_helper_config_clear(struct zsb_helper_config *config);

/* What the launcher should have done, checked from inside. -ZSB_E_CONFINEMENT names the first gap. */
int zsb_helper_audit(const struct zsb_helper_config *config, struct zsb_error *err);
/* One line of mountinfo: mount id, mount point (unescaped in place), writable? False when malformed. */
bool zsb_mountinfo_parse_line(char *line, uint64_t *out_id, char **out_point, bool *out_writable);

/* All five capability sets zero (else refuse), NoNewPrivs, syscall filter. */
int zsb_helper_check_capabilities(struct zsb_error *err);
int zsb_helper_confine(enum zsb_network network, struct zsb_error *err);

/* File writes only beneath what the configuration grants, where the kernel can say so (Landlock). */
int zsb_helper_landlock(const struct zsb_helper_config *config, struct zsb_error *err);

/* Subcommands; return the exit status. */
int zsb_helper_supervise(int config_fd, const char *verb);
int zsb_helper_become(const char *verb, char **argv);
int zsb_helper_hold(int argc, char **argv);
int zsb_helper_diagnose(const char *verb);
int zsb_helper_main(int argc, char **argv);

#endif
