/* SPDX-License-Identifier: MIT */
#include "lib/plan/plan_internal.h"

#include <string.h>

static const char *const kind_names[ZSB_STEP_KIND_COUNT] = {
    [ZSB_STEP_NEW_NAMESPACE] = "NEW_NAMESPACE",
    [ZSB_STEP_ROOT_READ_ONLY] = "ROOT_READ_ONLY",
    [ZSB_STEP_MINIMAL_DEV] = "MINIMAL_DEV",
    [ZSB_STEP_FRESH_PROC] = "FRESH_PROC",
    [ZSB_STEP_PROC_KNOBS_READ_ONLY] = "PROC_KNOBS_READ_ONLY",
    [ZSB_STEP_PRIVATE_TMP] = "PRIVATE_TMP",
    [ZSB_STEP_PRIVATE_SHM] = "PRIVATE_SHM",
    [ZSB_STEP_VISIBLE] = "VISIBLE",
    [ZSB_STEP_WRITABLE_ROOT] = "WRITABLE_ROOT",
    [ZSB_STEP_PIN_ANCESTOR] = "PIN_ANCESTOR",
    [ZSB_STEP_PROTECT] = "PROTECT",
    [ZSB_STEP_PROTECT_MISSING] = "PROTECT_MISSING",
    [ZSB_STEP_DENY] = "DENY",
    [ZSB_STEP_DENY_MISSING] = "DENY_MISSING",
    [ZSB_STEP_SESSION] = "SESSION",
    [ZSB_STEP_CLOSE_DESCRIPTORS] = "CLOSE_DESCRIPTORS",
    [ZSB_STEP_DROP_CAPABILITIES] = "DROP_CAPABILITIES",
    [ZSB_STEP_NO_NEW_PRIVS] = "NO_NEW_PRIVS",
    [ZSB_STEP_SYSCALL_FILTER] = "SYSCALL_FILTER",
    [ZSB_STEP_ENVIRONMENT] = "ENVIRONMENT",
    [ZSB_STEP_CWD] = "CWD",
};

/* user comes first: the others need its capabilities. */
static const char *const always_namespaces[] = {"user", "pid", "ipc", "uts", "cgroup", "mount"};

struct zsb_plan {
    struct zsb_plan_step *steps;
    size_t count;
    size_t capacity;
    bool failed;
};

const char *zsb_step_kind_name(enum zsb_step_kind kind)
{
    return (size_t)kind < ZSB_STEP_KIND_COUNT ? kind_names[kind] : "UNKNOWN";
}

static void add(struct zsb_plan *plan, struct zsb_plan_step step)
{
    if (plan->count == plan->capacity) {
        size_t capacity = plan->capacity < 32 ? 32 : plan->capacity * 2;
        struct zsb_plan_step *steps = reallocarray(plan->steps, capacity, sizeof(*steps));
        if (steps == NULL) {
            plan->failed = true;
            return;
        }
        plan->steps = steps;
        plan->capacity = capacity;
    }
    if (!plan->failed)
        plan->steps[plan->count++] = step;
}

static void add_plain(struct zsb_plan *plan, enum zsb_step_kind kind, const char *path, const char *detail,
                      const char *origin)
{
    add(plan, (struct zsb_plan_step){.step = {kind, path, detail, origin}});
}

struct prefix {
    const char *path;
    size_t size;
};

static int compare_prefix(const void *key, const void *item)
{
    const struct prefix *prefix = key;
    const char *path = ((const struct zsb_path *)item)->path;
    int order = strncmp(prefix->path, path, prefix->size);
    return order != 0 ? order : path[prefix->size] == '\0' ? 0 : -1;
}

/* Nothing at or below a denied path can be reached; the entry itself does not carry itself. Denied paths are
 * sorted, and may be many: look for the ancestors among them, not for them among the ancestors. */
static bool lies_in_denied(const struct zsb_policy *policy, const char *path, enum zsb_step_kind kind)
{
    const struct zsb_path_list *denies = &policy->denies;
    for (size_t size = 1; denies->count > 0; size++) {
        bool whole = path[size] == '\0';
        if (!whole && path[size] != '/')
            continue;
        struct prefix prefix = {path, size};
        if ((!whole || kind != ZSB_STEP_DENY) &&
            bsearch(&prefix, denies->items, denies->count, sizeof(*denies->items), compare_prefix) != NULL)
            return true;
        if (whole)
            break;
    }
    return false;
}

/* A path that nothing in the sandbox can reach or write needs no mount of its own, but still its step. */
static const char *carried_by(const struct zsb_policy *policy, const char *path, enum zsb_step_kind kind)
{
    if (lies_in_denied(policy, path, kind))
        return ZSB_CARRIED_BY_DENY;
    if (zsb_policy_root_of(policy, path, false) != NULL)
        return "";
    bool in_workspace = zsb_path_within(path, policy->workspace.path);
    if (policy->private_tmp != NULL && zsb_path_within(path, policy->private_tmp) && !in_workspace)
        return ZSB_CARRIED_BY_PRIVATE_TMP;
    bool needs_hiding = kind == ZSB_STEP_DENY || kind == ZSB_STEP_DENY_MISSING;
    return needs_hiding ? "" : ZSB_CARRIED_BY_READ_ONLY_ROOT;
}

static void add_entries(struct zsb_plan *plan, const struct zsb_policy *policy, enum zsb_step_kind kind,
                        const struct zsb_path_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct zsb_path *entry = &list->items[i];
        const char *detail = kind == ZSB_STEP_WRITABLE_ROOT ? "" : carried_by(policy, entry->path, kind);
        add(plan, (struct zsb_plan_step){.step = {kind, entry->path, detail, entry->origin}, .entry = entry});
    }
}

static void add_missing(struct zsb_plan *plan, const struct zsb_policy *policy, enum zsb_step_kind kind,
                        const struct zsb_missing_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct zsb_missing *entry = &list->items[i];
        add(plan, (struct zsb_plan_step){
                      .step = {kind, entry->path, carried_by(policy, entry->path, kind), entry->origin},
                      .missing = entry});
    }
}

static void add_filesystem(struct zsb_plan *plan, const struct zsb_policy *policy)
{
    add_plain(plan, ZSB_STEP_ROOT_READ_ONLY, "/", "", "mode");
    add_plain(plan, ZSB_STEP_MINIMAL_DEV, "/dev", "", "mode");
    add_plain(plan, ZSB_STEP_PRIVATE_SHM, "/dev/shm", "", "mode");
    add_plain(plan, ZSB_STEP_FRESH_PROC, "/proc", "", "mode");
    add_plain(plan, ZSB_STEP_PROC_KNOBS_READ_ONLY, "/proc", "", "mode");
    if (policy->private_tmp != NULL)
        add_plain(plan, ZSB_STEP_PRIVATE_TMP, policy->private_tmp, "", "mode");
    if (policy->roots.count == 0 && policy->private_tmp != NULL &&
        zsb_path_within(policy->workspace.path, policy->private_tmp))
        add(plan, (struct zsb_plan_step){.step = {ZSB_STEP_VISIBLE, policy->workspace.path, "", "workspace"},
                                         .entry = &policy->workspace});
    add_entries(plan, policy, ZSB_STEP_WRITABLE_ROOT, &policy->roots);
    add_entries(plan, policy, ZSB_STEP_PIN_ANCESTOR, &policy->pins);
    add_entries(plan, policy, ZSB_STEP_PROTECT, &policy->protects);
    add_missing(plan, policy, ZSB_STEP_PROTECT_MISSING, &policy->missing_protects);
    add_entries(plan, policy, ZSB_STEP_DENY, &policy->denies);
    add_missing(plan, policy, ZSB_STEP_DENY_MISSING, &policy->missing_denies);
}

int zsb_plan_new(const struct zsb_policy *policy, struct zsb_plan **out_plan, struct zsb_error *err)
{
    if (policy == NULL || out_plan == NULL)
        return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                             "policy and out_plan are required");
    struct zsb_plan *plan = calloc(1, sizeof(*plan));
    if (plan == NULL)
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    if (policy->mode != ZSB_MODE_DANGER_FULL_ACCESS) {
        for (size_t i = 0; i < ZSB_ARRAY_SIZE(always_namespaces); i++)
            add_plain(plan, ZSB_STEP_NEW_NAMESPACE, "", always_namespaces[i], "mode");
        if (policy->network == ZSB_NETWORK_DENIED)
            add_plain(plan, ZSB_STEP_NEW_NAMESPACE, "", "net", "network");
        add_filesystem(plan, policy);
        add_plain(plan, ZSB_STEP_SESSION, "", "", "mode");
        add_plain(plan, ZSB_STEP_CLOSE_DESCRIPTORS, "", "", "mode");
        add_plain(plan, ZSB_STEP_DROP_CAPABILITIES, "", "", "mode");
        add_plain(plan, ZSB_STEP_NO_NEW_PRIVS, "", "", "mode");
        add_plain(plan, ZSB_STEP_SYSCALL_FILTER, "", zsb_network_option(policy->network), "network");
    }
    add_plain(plan, ZSB_STEP_ENVIRONMENT, "", "", "environment");
    add_plain(plan, ZSB_STEP_CWD, policy->cwd.path, "", "cwd");
    if (plan->failed) {
        zsb_plan_free(plan);
        return zsb_error_no_memory(err, ZSB_STAGE_POLICY);
    }
    *out_plan = plan;
    return 0;
}

void zsb_plan_free(struct zsb_plan *plan)
{
    if (plan == NULL)
        return;
    free(plan->steps);
    free(plan);
}

size_t zsb_plan_count(const struct zsb_plan *plan)
{
    return plan->count;
}

const struct zsb_step *zsb_plan_step(const struct zsb_plan *plan, size_t index)
{
    return index < plan->count ? &plan->steps[index].step : NULL;
}

const struct zsb_plan_step *zsb_plan_step_full(const struct zsb_plan *plan, size_t index)
{
    return index < plan->count ? &plan->steps[index] : NULL;
}
