/* SPDX-License-Identifier: MIT */
#include "lib/helper/helper.h"

#include <limits.h>
#include <string.h>

static int refuse(struct zsb_error *err, const char *key, const char *rule)
{
    return zsb_error_set(err, ZSB_E_HELPER, ZSB_STAGE_CONFINE, 0, "helper configuration: %s: %s", key, rule);
}

static int grow_pointers(void *items_pointer, size_t count, size_t item_bytes)
{
    void *items = NULL;
    memcpy(&items, items_pointer, sizeof(items));
    /* Powers of two: reallocate only when count reaches one; one spare slot for a terminator. */
    if (items != NULL && (count & (count - 1)) != 0)
        return 0;
    items = reallocarray(items, count == 0 ? 2 : count * 2 + 1, item_bytes);
    if (items == NULL)
        return -1;
    memcpy(items_pointer, &items, sizeof(items));
    return 0;
}

static int push_text(char ***items, size_t *count, char *text, struct zsb_error *err)
{
    if (grow_pointers(items, *count, sizeof(**items)) != 0)
        return zsb_error_no_memory(err, ZSB_STAGE_CONFINE);
    (*items)[(*count)++] = text;
    (*items)[*count] = NULL;
    return 0;
}

static int parse_fd(const char *key, const char *text, int *out, struct zsb_error *err)
{
    uint64_t value = 0;
    if (!zsb_parse_u64(text, INT_MAX, &value))
        return refuse(err, key, "not a descriptor number");
    *out = (int)value;
    return 0;
}

/* "DEVICE:INODE:PATH", decimal numbers. */
static bool parse_identity(char *text, uint64_t *device, uint64_t *inode, const char **path)
{
    char *first = strchr(text, ':');
    char *second = first != NULL ? strchr(first + 1, ':') : NULL;
    if (second == NULL || second[1] != '/')
        return false;
    *first = *second = '\0';
    *path = second + 1;
    return zsb_parse_u64(text, UINT64_MAX, device) && zsb_parse_u64(first + 1, UINT64_MAX, inode);
}

static const char *const audit_keys[ZSB_AUDIT_KIND_COUNT] = {
    [ZSB_AUDIT_WRITABLE] = "writable", [ZSB_AUDIT_READ_ONLY] = "read-only", [ZSB_AUDIT_HELD] = "held",
    [ZSB_AUDIT_DENIED] = "denied",     [ZSB_AUDIT_SCRATCH] = "scratch",     [ZSB_AUDIT_KNOB] = "knob",
};

static int parse_audit(struct zsb_helper_config *config, enum zsb_audit_kind kind, char *value,
                       struct zsb_error *err)
{
    struct zsb_audit_entry entry = {.kind = kind};
    if (!parse_identity(value, &entry.device, &entry.inode, &entry.path))
        return refuse(err, audit_keys[kind], "must be DEVICE:INODE:/PATH");
    if (grow_pointers(&config->audits, config->audit_count, sizeof(*config->audits)) != 0)
        return zsb_error_no_memory(err, ZSB_STAGE_CONFINE);
    config->audits[config->audit_count++] = entry;
    return 0;
}

static int parse_outer(struct zsb_helper_config *config, char *value, struct zsb_error *err)
{
    char *colon = strchr(value, ':');
    uint64_t inode = 0;
    if (colon == NULL || config->outer_count == ZSB_ARRAY_SIZE(config->outer) ||
        !zsb_parse_u64(colon + 1, UINT64_MAX, &inode))
        return refuse(err, "outer", "must be NAMESPACE:INODE");
    *colon = '\0';
    config->outer[config->outer_count++] = (struct zsb_outer_namespace){value, inode};
    return 0;
}

static int parse_grant(struct zsb_helper_config *config, const char *value, struct zsb_error *err)
{
    int fd = -1;
    int rc = parse_fd("grant", value, &fd, err);
    if (rc != 0)
        return rc;
    if (fd < 3)
        return refuse(err, "grant", "must be 3 or above");
    if (grow_pointers(&config->grants, config->grant_count, sizeof(*config->grants)) != 0)
        return zsb_error_no_memory(err, ZSB_STAGE_CONFINE);
    config->grants[config->grant_count++] = fd;
    return 0;
}

static int parse_entry(struct zsb_helper_config *config, const char *key, char *value, struct zsb_error *err)
{
    for (size_t kind = 0; kind < ZSB_ARRAY_SIZE(audit_keys); kind++)
        if (strcmp(key, audit_keys[kind]) == 0)
            return parse_audit(config, (enum zsb_audit_kind)kind, value, err);
    if (strcmp(key, "arg") == 0)
        return push_text(&config->argv, &config->argc, value, err);
    if (strcmp(key, "env") == 0)
        return push_text(&config->environment, &config->environment_count, value, err);
    if (strcmp(key, "status") == 0)
        return parse_fd(key, value, &config->status_fd, err);
    if (strcmp(key, "keeper") == 0)
        return parse_fd(key, value, &config->keeper_fd, err);
    if (strcmp(key, "program") == 0)
        return parse_fd(key, value, &config->program_fd, err);
    if (strcmp(key, "grant") == 0)
        return parse_grant(config, value, err);
    if (strcmp(key, "outer") == 0)
        return parse_outer(config, value, err);
    if (strcmp(key, "cwd") == 0 && config->cwd == NULL &&
        parse_identity(value, &config->cwd_device, &config->cwd_inode, &config->cwd))
        return 0;
    return refuse(err, key, "unknown, repeated or malformed");
}

static int parse_all(struct zsb_helper_config *config, char *data, size_t size_bytes, struct zsb_error *err)
{
    for (size_t at = 0; at < size_bytes;) {
        char *entry = data + at;
        at += strlen(entry) + 1;
        char *equals = strchr(entry, '=');
        if (equals == NULL)
            return refuse(err, entry, "has no value");
        *equals = '\0';
        int rc = parse_entry(config, entry, equals + 1, err);
        if (rc != 0)
            return rc;
    }
    if (config->status_fd < 0 || config->cwd == NULL || config->argc == 0)
        return refuse(err, "status, cwd and arg", "are required");
    if (config->environment == NULL) {
        config->environment = calloc(1, sizeof(*config->environment));
        if (config->environment == NULL)
            return zsb_error_no_memory(err, ZSB_STAGE_CONFINE);
    }
    return 0;
}

int zsb_helper_config_parse(char *data, size_t size_bytes, struct zsb_helper_config *out,
                            struct zsb_error *err)
{
    struct zsb_helper_config config = {.status_fd = -1, .keeper_fd = -1, .program_fd = -1};
    if (size_bytes == 0 || data[size_bytes - 1] != '\0')
        return refuse(err, "input", "must end with NUL");
    int rc = parse_all(&config, data, size_bytes, err);
    if (rc != 0) {
        zsb_helper_config_clear(&config);
        return rc;
    }
    config.data = data;
    *out = config;
    return 0;
}

void zsb_helper_config_clear(struct zsb_helper_config *config)
{
    free(config->data);
    free(config->grants);
    free(config->audits);
    free(config->argv);
    free(config->environment);
    *config = (struct zsb_helper_config){.status_fd = -1, .keeper_fd = -1, .program_fd = -1};
}
