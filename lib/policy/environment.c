/* SPDX-License-Identifier: MIT */
#include "lib/policy/policy_internal.h"

#include <string.h>
#include <unistd.h>

/* What tools need to work; nothing here carries a credential or a socket. A trailing '*' is a prefix. */
static const char *const core_names[] = {
    "PATH",     "HOME", "USER", "LOGNAME",   "SHELL", "LANG",
    "LANGUAGE", "LC_*", "TERM", "COLORTERM", "TZ",    "NO_COLOR",
};

static const char fallback_path[] = "/usr/local/bin:/usr/bin:/bin";

static bool name_matches(const char *name, size_t name_bytes, const char *pattern)
{
    size_t n = strlen(pattern);
    if (n > 0 && pattern[n - 1] == '*')
        return name_bytes >= n - 1 && strncmp(name, pattern, n - 1) == 0;
    return name_bytes == n && strncmp(name, pattern, n) == 0;
}

static bool is_core(const char *entry, size_t name_bytes)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(core_names); i++)
        if (name_matches(entry, name_bytes, core_names[i]))
            return true;
    return false;
}

/* Replaces an entry of the same name or adds one. */
static void put(struct zsb_strv *env, const char *entry, size_t name_bytes)
{
    for (size_t i = 0; i < env->count; i++) {
        if (strncmp(env->items[i], entry, name_bytes + 1) != 0)
            continue;
        char *copy = strdup(entry);
        if (copy == NULL) {
            env->failed = true;
            return;
        }
        free(env->items[i]);
        env->items[i] = copy;
        return;
    }
    zsb_strv_add(env, entry);
}

static bool has(const struct zsb_strv *env, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->items[i], name, n) == 0 && env->items[i][n] == '=')
            return true;
    return false;
}

int zsb_environment_build(const struct zsb_policy_options *options, const char *private_tmp,
                          struct zsb_strv *out, struct zsb_error *err)
{
    const char *const *from =
        options->environment != NULL ? options->environment : (const char *const *)environ;
    for (; options->env_inherit != ZSB_ENV_NONE && from != NULL && *from != NULL; from++) {
        size_t name_bytes = strcspn(*from, "=");
        if ((*from)[name_bytes] == '=' && (options->env_inherit == ZSB_ENV_ALL || is_core(*from, name_bytes)))
            put(out, *from, name_bytes);
    }
    if (options->env_inherit == ZSB_ENV_CORE && !has(out, "PATH"))
        zsb_strv_addf(out, "PATH=%s", fallback_path);
    if (options->mode != ZSB_MODE_DANGER_FULL_ACCESS) {
        /* The caller's TMPDIR is read-only inside; the private one works. */
        ZSB_AUTO_FREE char *tmpdir = zsb_strdupf("TMPDIR=%s", private_tmp != NULL ? private_tmp : "/dev/shm");
        if (tmpdir == NULL)
            out->failed = true;
        else
            put(out, tmpdir, strlen("TMPDIR"));
    }
    for (const char *const *set = options->env_set; set != NULL && *set != NULL; set++) {
        size_t name_bytes = strcspn(*set, "=");
        if (name_bytes == 0 || (*set)[name_bytes] != '=')
            return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                                 "environment entry %zu: must be NAME=VALUE",
                                 (size_t)(set - options->env_set));
        put(out, *set, name_bytes);
    }
    return out->failed ? zsb_error_no_memory(err, ZSB_STAGE_POLICY) : 0;
}
