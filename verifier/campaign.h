/* SPDX-License-Identifier: MIT
 *
 * The result model of a campaign, and the call that runs one. reports/ reads these structs and nothing else.
 *
 * A campaign runs every selected trial (probe x mode x network) in worker processes of its own, in a lab that
 * is removed afterwards. Not thread safe: call it from one thread of a process without other threads.
 */
#ifndef ZSB_CAMPAIGN_H
#define ZSB_CAMPAIGN_H

#include "escapes/probe.h"

#include <zuno/sandbox.h>

#include <stdbool.h>
#include <stdint.h>

enum zsb_verdict {
    ZSB_VERDICT_HELD = 0,
    ZSB_VERDICT_ESCAPED,
    ZSB_VERDICT_INCONCLUSIVE,
    ZSB_VERDICT_NOT_APPLICABLE,
    ZSB_VERDICT_ERROR,
    ZSB_VERDICT_COUNT
};
const char *zsb_verdict_name(enum zsb_verdict verdict); /* "held", "escaped", ... */

enum zsb_arm { ZSB_ARM_BARE = 0, ZSB_ARM_BENIGN, ZSB_ARM_CONFINED, ZSB_ARM_COUNT };
const char *zsb_arm_name(enum zsb_arm arm);

enum zsb_arm_status {
    ZSB_ARM_NOT_RUN = 0,
    ZSB_ARM_COMPLETE,      /* hello, every result, done; the probe process was seen from outside */
    ZSB_ARM_LAUNCH_FAILED, /* launcher or library failed before hello */
    ZSB_ARM_NO_REPORT,     /* ended without an authentic report */
    ZSB_ARM_CRASHED,       /* hello but no done */
    ZSB_ARM_TIMED_OUT,
    ZSB_ARM_UNATTESTED, /* an authentic-looking report, but no such process was seen outside */
};
const char *zsb_arm_status_name(enum zsb_arm_status status);

struct zsb_attempt_result {
    char *name;
    bool reached;
    bool absent;    /* left out: the host lacks the feature (evidence in saw) */
    int sys_errno;  /* of the decisive step, 0: it reported success */
    bool witnessed; /* the witness outside saw the effect */
    char *saw;      /* what the witness saw, or "" */
};

struct zsb_arm_result {
    enum zsb_arm_status status;
    char *via;    /* "fd", "stdout" or "" */
    char *detail; /* one line, or "" */
    int64_t wall_us;
    struct zsb_attempt_result *attempts;
    size_t attempt_count;
};

struct zsb_trial_result {
    const struct zsb_probe *probe;
    enum zsb_mode mode;
    enum zsb_network network;
    enum zsb_verdict verdict;
    bool required;
    char *detail; /* why this verdict, one line; evidence for not_applicable */
    struct zsb_arm_result arms[ZSB_ARM_COUNT];
};

struct zsb_host_facts {
    char *kernel;       /* uname release */
    char *architecture; /* uname machine */
    char *os;           /* PRETTY_NAME or "" */
    unsigned uid;
    bool ia32, io_uring, tiocsti, userns, pidfd_getfd, ipv6;
    char *ia32_evidence, *io_uring_evidence, *tiocsti_evidence, *userns_evidence, *pidfd_getfd_evidence;
};

enum zsb_subject_kind { ZSB_SUBJECT_BACKEND = 0, ZSB_SUBJECT_LAUNCHER };

/* A foreign launcher, parsed from its file (verifier/launcher.c). */
struct zsb_launcher;

struct zsb_subject {
    enum zsb_subject_kind kind;
    const struct zsb_backend *backend;
    struct zsb_launcher *launcher;
};

struct zsb_campaign_options {
    struct zsb_subject subject;
    const enum zsb_mode *modes; /* confined modes only */
    size_t mode_count;
    const char *const *probe_globs; /* none: all */
    size_t probe_glob_count;
    unsigned jobs; /* 0: online cores */
    const char *helper_path;
    const char *escapes_path; /* the zuno-escapes binary */
    const char *lab_parent;   /* NULL: /var/tmp */
    void (*progress)(void *user, size_t done, size_t total, const struct zsb_trial_result *latest);
    void *progress_user;
};

struct zsb_campaign {
    struct zsb_host_facts host;
    char *subject_name; /* backend or launcher name */
    enum zsb_subject_kind subject_kind;
    struct zsb_backend_capabilities capabilities; /* backend subjects */
    struct zsb_launcher_identity launcher_identity;
    bool has_launcher_identity;
    struct zsb_trial_result *trials;
    size_t trial_count;
    size_t counts[ZSB_VERDICT_COUNT];
    size_t required_not_held; /* required trials whose verdict is neither held nor not_applicable */
    int64_t wall_us;
};

/* Runs. 0 also when trials escaped or erred: the campaign says so. Errors: the backend's probe errors (stage
 * resolve), io, helper, invalid_argument (no probe matches a glob, subject reason names the glob). */
ZSB_MUST_CHECK int zsb_campaign_run(const struct zsb_campaign_options *options,
                                    struct zsb_campaign *out_campaign, struct zsb_error *err);
void zsb_campaign_clear(struct zsb_campaign *campaign);

/* Launcher file (schema zuno-sandbox/launcher/v1). Unknown or duplicate keys, wrong types, unknown
 * placeholders: invalid_argument whose message names file, key and rule. */
ZSB_MUST_CHECK int zsb_launcher_load(const char *path, struct zsb_launcher **out_launcher,
                                     struct zsb_error *err);
ZSB_MUST_CHECK int zsb_launcher_parse(const char *text, size_t size_bytes, const char *file_name,
                                      const char *dir, struct zsb_launcher **out_launcher,
                                      struct zsb_error *err);
void zsb_launcher_free(struct zsb_launcher *launcher);
const char *zsb_launcher_name(const struct zsb_launcher *launcher);
bool zsb_launcher_has_mode(const struct zsb_launcher *launcher, enum zsb_mode mode);
enum zsb_network zsb_launcher_network(const struct zsb_launcher *launcher);

#endif
