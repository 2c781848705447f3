/* SPDX-License-Identifier: MIT
 *
 * Names and rows of arm results.
 */
#include "lib/util/util.h"
#include "verifier/arm.h"
#include "verifier/result.h"
#include "verifier/scene.h"

#include <errno.h>
#include <string.h>

const char *zsb_arm_name(enum zsb_arm arm)
{
    static const char *const names[ZSB_ARM_COUNT] = {
        [ZSB_ARM_BARE] = "bare", [ZSB_ARM_BENIGN] = "benign", [ZSB_ARM_CONFINED] = "confined"};
    return (unsigned)arm < ZSB_ARM_COUNT ? names[arm] : "unknown";
}

const char *zsb_arm_status_name(enum zsb_arm_status status)
{
    static const char *const names[] = {[ZSB_ARM_NOT_RUN] = "not_run",
                                        [ZSB_ARM_COMPLETE] = "complete",
                                        [ZSB_ARM_LAUNCH_FAILED] = "launch_failed",
                                        [ZSB_ARM_NO_REPORT] = "no_report",
                                        [ZSB_ARM_CRASHED] = "crashed",
                                        [ZSB_ARM_TIMED_OUT] = "timed_out",
                                        [ZSB_ARM_UNATTESTED] = "unattested"};
    return (unsigned)status < ZSB_ARRAY_SIZE(names) ? names[status] : "unknown";
}

static struct zsb_attempt_result *add_row(struct zsb_arm_result *result, const char *name)
{
    size_t size = (result->attempt_count + 1) * sizeof(*result->attempts);
    struct zsb_attempt_result *rows = realloc(result->attempts, size);
    if (rows == NULL)
        return NULL;
    result->attempts = rows;
    struct zsb_attempt_result *row = &rows[result->attempt_count];
    memset(row, 0, sizeof(*row));
    row->name = strdup(name);
    row->saw = NULL;
    if (row->name == NULL)
        return NULL;
    result->attempt_count++;
    return row;
}

int zsb_arm_make_rows(const struct zsb_arm_spec *spec, struct zsb_arm_result *result)
{
    if (spec->probe->attempt_count == 0)
        return 0;
    if (spec->arm == ZSB_ARM_BENIGN)
        return add_row(result, "benign") != NULL ? 0 : -ENOMEM;
    for (size_t i = 0; i < spec->probe->attempt_count; i++)
        if (zsb_attempt_in_mode(&spec->probe->attempts[i], spec->mode) &&
            add_row(result, spec->probe->attempts[i].name) == NULL)
            return -ENOMEM;
    return 0;
}

void zsb_arm_add_extra(struct zsb_arm_result *result, const char *name, const char *saw)
{
    struct zsb_attempt_result *row = add_row(result, name);
    if (row == NULL)
        return;
    row->reached = true;
    row->witnessed = true;
    row->saw = strdup(saw);
    for (char *c = row->saw; c != NULL && *c != '\0'; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

void zsb_arm_result_clear(struct zsb_arm_result *result)
{
    for (size_t i = 0; i < result->attempt_count; i++) {
        free(result->attempts[i].name);
        free(result->attempts[i].saw);
    }
    free(result->attempts);
    free(result->via);
    free(result->detail);
    memset(result, 0, sizeof(*result));
}
