/* SPDX-License-Identifier: MIT
 *
 * Reader of launcher files, schema zuno-sandbox/launcher/v1. Strict: what it does not know it refuses,
 * because a typo in a sandbox's description would put another sandbox on trial.
 */
#include "verifier/launcher.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char SCHEMA[] = "zuno-sandbox/launcher/v1";

struct reader {
    const char *file;
    struct zsb_launcher *launcher;
    struct zsb_error *err;
};

ZSB_PRINTF(3, 4)
static int refuse(const struct reader *reader, const char *key, const char *format, ...)
{
    char rule[ZSB_ERROR_FIELD_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(rule, sizeof(rule), format, args);
    va_end(args);
    int rc = *key != '\0' ? zsb_error_set(reader->err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                                          "launcher file %s: key \"%s\" %s", reader->file, key, rule)
                          : zsb_error_set(reader->err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, 0,
                                          "launcher file %s %s", reader->file, rule);
    return zsb_error_detail(reader->err, rc, *key != '\0' ? key : reader->file, rule);
}

static int no_memory(const struct reader *reader)
{
    return zsb_error_no_memory(reader->err, ZSB_STAGE_POLICY);
}

static bool has_control_characters(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

static int read_schema(struct reader *reader, const cJSON *value)
{
    if (!cJSON_IsString(value) || strcmp(value->valuestring, SCHEMA) != 0)
        return refuse(reader, "schema", "must be \"%s\"", SCHEMA);
    return 0;
}

static int read_name(struct reader *reader, const cJSON *value)
{
    if (!cJSON_IsString(value) || value->valuestring[0] == '\0')
        return refuse(reader, "name", "must be a string that is not empty");
    if (strlen(value->valuestring) > ZSB_LAUNCHER_NAME_MAX || has_control_characters(value->valuestring))
        return refuse(reader, "name", "must be at most %d bytes without control characters",
                      ZSB_LAUNCHER_NAME_MAX);
    reader->launcher->name = strdup(value->valuestring);
    return reader->launcher->name != NULL ? 0 : no_memory(reader);
}

static int read_argv(struct reader *reader, const cJSON *value)
{
    int count = cJSON_IsArray(value) ? cJSON_GetArraySize(value) : 0;
    if (count < 1 || count > ZSB_LAUNCHER_WORDS_MAX)
        return refuse(reader, "argv", "must be an array of 1 to %d strings", ZSB_LAUNCHER_WORDS_MAX);
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, value)
    {
        if (!cJSON_IsString(item))
            return refuse(reader, "argv", "must hold strings only");
        const char *rule = zsb_launcher_word_rule(item->valuestring, true);
        if (rule != NULL)
            return refuse(reader, "argv", "%s: \"%.64s\"", rule, item->valuestring);
        zsb_strv_add(&reader->launcher->argv, item->valuestring);
    }
    if (reader->launcher->argv.failed)
        return no_memory(reader);
    const char *program = reader->launcher->argv.items[0];
    if (program[0] == '\0' || (strchr(program, '/') != NULL && program[0] != '/' && program[0] != '{'))
        return refuse(reader, "argv", "must start with a name, an absolute path or a placeholder");
    return 0;
}

static int read_modes(struct reader *reader, const cJSON *value)
{
    if (!cJSON_IsArray(value) || cJSON_GetArraySize(value) < 1)
        return refuse(reader, "modes", "must be an array that is not empty");
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, value)
    {
        enum zsb_mode mode = ZSB_MODE_DANGER_FULL_ACCESS;
        if (!cJSON_IsString(item) || zsb_mode_parse(item->valuestring, &mode) != 0 ||
            mode == ZSB_MODE_DANGER_FULL_ACCESS)
            return refuse(reader, "modes", "may hold \"read-only\" and \"workspace-write\" only");
        if (zsb_launcher_has_mode(reader->launcher, mode))
            return refuse(reader, "modes", "names \"%s\" twice", zsb_mode_name(mode));
        reader->launcher->modes |= 1u << (unsigned)mode;
    }
    return 0;
}

static int read_network(struct reader *reader, const cJSON *value)
{
    if (!cJSON_IsString(value) ||
        zsb_network_parse_option(value->valuestring, &reader->launcher->network) != 0)
        return refuse(reader, "network", "must be \"deny\" or \"allow\"");
    return 0;
}

static int read_environment(struct reader *reader, const cJSON *value)
{
    if (!cJSON_IsObject(value))
        return refuse(reader, "environment", "must be an object of strings");
    reader->launcher->has_environment = true;
    for (const cJSON *item = value->child; item != NULL; item = item->next) {
        if (item->string[0] == '\0' || strchr(item->string, '=') != NULL)
            return refuse(reader, "environment", "has a variable without a proper name");
        if (!cJSON_IsString(item))
            return refuse(reader, "environment", "must hold strings only: \"%.64s\"", item->string);
        for (const cJSON *other = item->next; other != NULL; other = other->next)
            if (strcmp(other->string, item->string) == 0)
                return refuse(reader, "environment", "names \"%.64s\" twice", item->string);
        const char *rule = zsb_launcher_word_rule(item->string, false);
        if (rule == NULL)
            rule = zsb_launcher_word_rule(item->valuestring, false);
        if (rule != NULL)
            return refuse(reader, "environment", "%s: \"%.64s\"", rule, item->string);
        zsb_strv_addf(&reader->launcher->environment, "%s=%s", item->string, item->valuestring);
    }
    return reader->launcher->environment.failed ? no_memory(reader) : 0;
}

static const struct key {
    const char *name;
    bool required;
    int (*read)(struct reader *reader, const cJSON *value);
} keys[] = {
    {"schema", true, read_schema}, {"name", true, read_name},       {"argv", true, read_argv},
    {"modes", true, read_modes},   {"network", true, read_network}, {"environment", false, read_environment},
};

static int check_known(const struct reader *reader, const cJSON *root)
{
    for (const cJSON *item = root->child; item != NULL; item = item->next) {
        bool known = false;
        for (size_t i = 0; i < ZSB_ARRAY_SIZE(keys); i++)
            known = known || strcmp(keys[i].name, item->string) == 0;
        if (!known)
            return refuse(reader, item->string, "is unknown");
        for (const cJSON *other = item->next; other != NULL; other = other->next)
            if (strcmp(other->string, item->string) == 0)
                return refuse(reader, item->string, "stands there twice");
    }
    return 0;
}

static int read_root(struct reader *reader, const cJSON *root)
{
    if (!cJSON_IsObject(root))
        return refuse(reader, "", "must hold one JSON object");
    int rc = check_known(reader, root);
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(keys) && rc == 0; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(root, keys[i].name);
        if (value == NULL && keys[i].required)
            rc = refuse(reader, keys[i].name, "is missing");
        else if (value != NULL)
            rc = keys[i].read(reader, value);
    }
    return rc;
}

/* Line of the place where parsing stopped. */
static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;
    for (; at != NULL && text < at; text++)
        line += *text == '\n' ? 1 : 0;
    return line;
}

static int read_text(struct reader *reader, const char *text, size_t size)
{
    if (size > ZSB_LAUNCHER_FILE_MAX)
        return refuse(reader, "", "is larger than %d bytes", ZSB_LAUNCHER_FILE_MAX);
    ZSB_AUTO_FREE char *copy = strndup(text, size);
    if (copy == NULL)
        return no_memory(reader);
    /* A NUL, written out or escaped, would cut a word short behind the reader's back. */
    if (strlen(copy) != size || strstr(copy, "\\u0000") != NULL)
        return refuse(reader, "", "holds a NUL character");
    if (!zsb_is_utf8(copy))
        return refuse(reader, "", "is not UTF-8");
    const char *end = NULL;
    cJSON *root = cJSON_ParseWithLengthOpts(copy, size + 1, &end, 1);
    int rc = root == NULL ? refuse(reader, "", "is not JSON (line %zu)", line_of(copy, end))
                          : read_root(reader, root);
    cJSON_Delete(root);
    return rc;
}

int zsb_launcher_parse(const char *text, size_t size_bytes, const char *file_name, const char *dir,
                       struct zsb_launcher **out_launcher, struct zsb_error *err)
{
    struct zsb_launcher *launcher = calloc(1, sizeof(*launcher));
    struct reader reader = {file_name, launcher, err};
    if (launcher == NULL)
        return no_memory(&reader);
    launcher->dir = strdup(dir);
    int rc = launcher->dir == NULL ? no_memory(&reader) : read_text(&reader, text, size_bytes);
    if (rc != 0) {
        zsb_launcher_free(launcher);
        return rc;
    }
    *out_launcher = launcher;
    return 0;
}

int zsb_launcher_load(const char *path, struct zsb_launcher **out_launcher, struct zsb_error *err)
{
    char *data = NULL;
    size_t size = 0;
    char canonical[PATH_MAX];
    struct stat st;
    ZSB_AUTO_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a fifo must not hang us */
    int rc = fd < 0 || fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (rc == 0)
        rc = zsb_read_fd(fd, ZSB_LAUNCHER_FILE_MAX, &data, &size);
    ZSB_AUTO_FREE char *owned = data;
    if (rc == 0 && realpath(path, canonical) == NULL)
        rc = -errno;
    if (rc != 0) {
        rc = zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_POLICY, -rc, "cannot read launcher file %s",
                           path);
        return zsb_error_detail(err, rc, path, "cannot be read");
    }
    return zsb_launcher_parse(owned, size, path, dirname(canonical), out_launcher, err);
}
