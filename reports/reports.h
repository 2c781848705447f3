/* SPDX-License-Identifier: MIT
 *
 * Report writers: one function per format, each over a finished result. They read structs, compute nothing
 * and touch no file: the text goes into a `struct zsb_buf` that the caller clears.
 *
 * Every writer returns 0, or -ZSB_E_NO_MEMORY / -ZSB_E_LIMIT (stage none) with the buffer's content
 * undefined. JSON follows the schemas in reports/schema/. Bytes that are not UTF-8 become U+FFFD in both
 * formats; text reports also replace control and bidirectional-override characters, so a name cannot repaint
 * a terminal. Thread safe.
 */
#ifndef ZSB_REPORTS_H
#define ZSB_REPORTS_H

#include "gate/gate.h"
#include "lib/util/util.h"
#include "verifier/campaign.h"

struct zsb_report_style {
    bool colour; /* the caller knows whether this goes to a terminal that wants it */
};

/* zuno-sandbox/campaign/v1 */
ZSB_MUST_CHECK int zsb_report_campaign_json(const struct zsb_campaign *campaign, struct zsb_buf *out,
                                            struct zsb_error *err);
ZSB_MUST_CHECK int zsb_report_campaign_text(const struct zsb_campaign *campaign,
                                            const struct zsb_report_style *style, struct zsb_buf *out,
                                            struct zsb_error *err);

/* zuno-sandbox/gate/v1; contains the campaign, or null and the typed error when the backend was unavailable.
 */
ZSB_MUST_CHECK int zsb_report_gate_json(const struct zsb_gate_result *gate, struct zsb_buf *out,
                                        struct zsb_error *err);
ZSB_MUST_CHECK int zsb_report_gate_text(const struct zsb_gate_result *gate,
                                        const struct zsb_report_style *style, struct zsb_buf *out,
                                        struct zsb_error *err);

struct zsb_probes_report {
    const struct zsb_probe *const *probes; /* borrowed */
    size_t count;
};
/* zuno-sandbox/probes/v1: the list, and with one element `probes show`. */
ZSB_MUST_CHECK int zsb_report_probes_json(const struct zsb_probes_report *report, struct zsb_buf *out,
                                          struct zsb_error *err);
/* One line per probe. */
ZSB_MUST_CHECK int zsb_report_probes_text(const struct zsb_probes_report *report,
                                          const struct zsb_report_style *style, struct zsb_buf *out,
                                          struct zsb_error *err);
/* Everything about one probe. */
ZSB_MUST_CHECK int zsb_report_probe_text(const struct zsb_probe *probe, const struct zsb_report_style *style,
                                         struct zsb_buf *out, struct zsb_error *err);

struct zsb_policy_report_step {
    struct zsb_step step; /* borrowed texts */
    bool enforced;        /* the backend carries steps of this kind, and this one */
    bool refused;         /* of this kind, but not this one; then not enforced */
};
struct zsb_policy_report {
    enum zsb_mode mode;
    enum zsb_network network;
    const char *workspace;
    const char *cwd;
    const char *backend;        /* "bubblewrap" */
    const char *backend_serial; /* "linux_bubblewrap" */
    const struct zsb_policy_report_step *steps;
    size_t step_count;
    const char *const *launcher_argv; /* NULL-terminated; NULL when it could not be prepared */
    const struct zsb_error *error;    /* why, when launcher_argv is NULL */
};
/* zuno-sandbox/policy/v1 */
ZSB_MUST_CHECK int zsb_report_policy_json(const struct zsb_policy_report *report, struct zsb_buf *out,
                                          struct zsb_error *err);
ZSB_MUST_CHECK int zsb_report_policy_text(const struct zsb_policy_report *report,
                                          const struct zsb_report_style *style, struct zsb_buf *out,
                                          struct zsb_error *err);

struct zsb_outcome_report {
    const struct zsb_outcome *outcome;
    const char *backend; /* serialised name: "linux_bubblewrap", "danger_full_access" */
    enum zsb_mode mode;
    enum zsb_network network;
};
/* zuno-sandbox/outcome/v1 */
ZSB_MUST_CHECK int zsb_report_outcome_json(const struct zsb_outcome_report *report, struct zsb_buf *out,
                                           struct zsb_error *err);

#endif
