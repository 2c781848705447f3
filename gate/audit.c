/* SPDX-License-Identifier: MIT */
#include "gate/audit.h"

#include <stdio.h>
#include <string.h>

ZSB_DEFINE_CLEANUP(zsb_policy, zsb_policy_free)
ZSB_DEFINE_CLEANUP(zsb_plan, zsb_plan_free)
ZSB_DEFINE_CLEANUP(zsb_prepared, zsb_prepared_free)

static bool has_step(const struct zsb_plan *plan, const char *origin, enum zsb_step_kind kind,
                     enum zsb_step_kind missing_kind)
{
    for (size_t i = 0; i < zsb_plan_count(plan); i++) {
        const struct zsb_step *step = zsb_plan_step(plan, i);
        if ((step->kind == kind || step->kind == missing_kind) && strcmp(step->origin, origin) == 0)
            return true;
    }
    return false;
}

bool zsb_audit_entries(const struct zsb_plan *plan, const char *list, size_t count, enum zsb_step_kind kind,
                       enum zsb_step_kind missing_kind, struct zsb_buf *problem)
{
    for (size_t i = 0; i < count; i++) {
        char origin[64];
        snprintf(origin, sizeof(origin), "%s[%zu]", list, i);
        if (!has_step(plan, origin, kind, missing_kind)) {
            zsb_buf_addf(problem, "the plan dropped %s", origin);
            return false;
        }
    }
    return true;
}

bool zsb_audit_enforced(const struct zsb_plan *plan, const struct zsb_backend *backend,
                        struct zsb_buf *problem)
{
    for (size_t i = 0; i < zsb_plan_count(plan); i++) {
        const struct zsb_step *step = zsb_plan_step(plan, i);
        if (zsb_backend_enforces(backend, step->kind))
            continue;
        zsb_buf_addf(problem, "%s does not enforce %s (from %s)", zsb_backend_name(backend),
                     zsb_step_kind_name(step->kind), step->origin);
        return false;
    }
    return true;
}

/* Files that every system has, so that nothing has to be made; nothing is started with this policy. A
 * protected name that does not exist must be accounted for just the same. */
static const char *const protected_paths[] = {"group", "zuno-sandbox-absent"};
static const char *const deny_paths[] = {"passwd", "/usr/bin"};

static struct zsb_policy_options audit_options(void)
{
    struct zsb_policy_options options = ZSB_POLICY_OPTIONS_INIT;
    options.workspace = "/etc";
    options.protected_paths = protected_paths;
    options.protected_path_count = ZSB_ARRAY_SIZE(protected_paths);
    options.deny_paths = deny_paths;
    options.deny_path_count = ZSB_ARRAY_SIZE(deny_paths);
    return options;
}

static bool audit_plan(const struct zsb_policy *policy, const struct zsb_backend *backend,
                       struct zsb_buf *evidence)
{
    __attribute__((cleanup(zsb_plan_cleanup))) struct zsb_plan *plan = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    if (zsb_plan_new(policy, &plan, &err)) {
        zsb_buf_add(evidence, err.msg);
        return false;
    }
    if (!zsb_audit_entries(plan, "protectedPaths", ZSB_ARRAY_SIZE(protected_paths), ZSB_STEP_PROTECT,
                           ZSB_STEP_PROTECT_MISSING, evidence) ||
        !zsb_audit_entries(plan, "denyPaths", ZSB_ARRAY_SIZE(deny_paths), ZSB_STEP_DENY,
                           ZSB_STEP_DENY_MISSING, evidence) ||
        !zsb_audit_enforced(plan, backend, evidence))
        return false;
    zsb_buf_addf(evidence,
                 "%zu steps, all enforced by %s; %zu protected and %zu denied paths each have theirs",
                 zsb_plan_count(plan), zsb_backend_name(backend), ZSB_ARRAY_SIZE(protected_paths),
                 ZSB_ARRAY_SIZE(deny_paths));
    return true;
}

bool zsb_audit_read_only(const struct zsb_backend *backend, const char *helper_path, struct zsb_buf *evidence)
{
    static const char *const argv[] = {"true", NULL};
    __attribute__((cleanup(zsb_policy_cleanup))) struct zsb_policy *policy = NULL;
    __attribute__((cleanup(zsb_prepared_cleanup))) struct zsb_prepared *prepared = NULL;
    struct zsb_error err = ZSB_ERROR_INIT;
    const struct zsb_policy_options options = audit_options();
    struct zsb_request request = ZSB_REQUEST_INIT;
    request.argv = argv;
    request.helper_path = helper_path;
    if (zsb_policy_new(&options, &policy, &err) || zsb_prepare(backend, policy, &request, &prepared, &err)) {
        zsb_buf_addf(evidence, "%s: %s", zsb_code_name(err.code), err.msg);
        return false;
    }
    return audit_plan(policy, backend, evidence);
}
