/* SPDX-License-Identifier: MIT
 *
 * Deterministic results for golden files and schema checks: every verdict, every arm status, foreign bytes.
 */
#ifndef ZSB_REPORTS_TESTS_FIXTURE_H
#define ZSB_REPORTS_TESTS_FIXTURE_H

#include "reports/reports.h"

struct fixture_report {
    const char *name; /* golden file */
    int (*write)(struct zsb_buf *out, struct zsb_error *err);
    bool json;
};
/* NULL past the end. */
const struct fixture_report *fixture_report_at(size_t index);

/* An outcome report with this error, for walking the enumeration. */
int fixture_write_outcome_of(enum zsb_code code, struct zsb_buf *out, struct zsb_error *err);

#endif
