/* SPDX-License-Identifier: MIT
 *
 * Arm results as JSON between worker and campaign.
 */
#include "lib/util/util.h"
#include "verifier/worker.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

enum { ROWS_MAX = 256 };

/* Names and messages may come from outside; JSON wants UTF-8. */
static bool add_text(cJSON *object, const char *key, const char *text)
{
    ZSB_AUTO_FREE char *copy = strdup(text != NULL ? text : "");
    if (copy == NULL)
        return false;
    if (!zsb_is_utf8(copy))
        for (char *c = copy; *c != '\0'; c++)
            if ((unsigned char)*c >= 0x80)
                *c = '?';
    return cJSON_AddStringToObject(object, key, copy) != NULL;
}

static bool add_attempt(cJSON *rows, const struct zsb_attempt_result *row)
{
    cJSON *object = cJSON_CreateObject();
    if (object == NULL || !cJSON_AddItemToArray(rows, object))
        return false;
    return add_text(object, "name", row->name) &&
           cJSON_AddBoolToObject(object, "reached", row->reached) != NULL &&
           cJSON_AddBoolToObject(object, "absent", row->absent) != NULL &&
           cJSON_AddNumberToObject(object, "errno", row->sys_errno) != NULL &&
           cJSON_AddBoolToObject(object, "witnessed", row->witnessed) != NULL &&
           add_text(object, "saw", row->saw);
}

static bool add_arm(cJSON *list, const struct zsb_arm_result *arm)
{
    cJSON *object = cJSON_CreateObject();
    if (object == NULL || !cJSON_AddItemToArray(list, object))
        return false;
    if (cJSON_AddNumberToObject(object, "status", (double)arm->status) == NULL ||
        !add_text(object, "via", arm->via) || !add_text(object, "detail", arm->detail) ||
        cJSON_AddNumberToObject(object, "wall_us", (double)arm->wall_us) == NULL)
        return false;
    cJSON *rows = cJSON_AddArrayToObject(object, "attempts");
    bool fine = rows != NULL;
    for (size_t i = 0; i < arm->attempt_count && fine; i++)
        fine = add_attempt(rows, &arm->attempts[i]);
    return fine;
}

int zsb_transport_write(const struct zsb_arm_result *arms, struct zsb_buf *out)
{
    cJSON *root = cJSON_CreateArray();
    bool fine = root != NULL;
    for (size_t i = 0; i < ZSB_ARM_COUNT && fine; i++)
        fine = add_arm(root, &arms[i]);
    char *text = fine ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    if (text == NULL)
        return -ENOMEM;
    zsb_buf_add(out, text);
    cJSON_free(text);
    return out->failed ? -ENOMEM : 0;
}

static char *take_text(const cJSON *object, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(value) ? strdup(value->valuestring) : NULL;
}

static bool take_number(const cJSON *object, const char *key, double max, double *out)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsNumber(value) || value->valuedouble < 0 || value->valuedouble > max)
        return false;
    *out = value->valuedouble;
    return true;
}

static bool take_flag(const cJSON *object, const char *key, bool *out)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    *out = cJSON_IsTrue(value);
    return cJSON_IsBool(value);
}

static bool read_attempt(const cJSON *object, struct zsb_attempt_result *row)
{
    double number = 0;
    row->name = take_text(object, "name");
    row->saw = take_text(object, "saw");
    bool fine = cJSON_GetArraySize(object) == 6 && row->name != NULL && row->saw != NULL &&
                take_flag(object, "reached", &row->reached) && take_flag(object, "absent", &row->absent) &&
                take_flag(object, "witnessed", &row->witnessed) &&
                take_number(object, "errno", 4095, &number);
    row->sys_errno = (int)number;
    return fine;
}

static const char *read_arm(const cJSON *object, struct zsb_arm_result *arm)
{
    double status = 0, wall_us = 0;
    const cJSON *rows = cJSON_GetObjectItemCaseSensitive(object, "attempts");
    arm->via = take_text(object, "via");
    arm->detail = take_text(object, "detail");
    if (!cJSON_IsObject(object) || cJSON_GetArraySize(object) != 5 || arm->via == NULL ||
        arm->detail == NULL || !take_number(object, "status", ZSB_ARM_UNATTESTED, &status) ||
        !take_number(object, "wall_us", 1e12, &wall_us) || !cJSON_IsArray(rows) ||
        cJSON_GetArraySize(rows) > ROWS_MAX)
        return "an arm without its fields";
    arm->status = (enum zsb_arm_status)status;
    arm->wall_us = (int64_t)wall_us;
    arm->attempts = calloc((size_t)cJSON_GetArraySize(rows) + 1, sizeof(*arm->attempts));
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, rows)
    {
        if (arm->attempts == NULL || !read_attempt(item, &arm->attempts[arm->attempt_count++]))
            return "an attempt without its fields";
    }
    return NULL;
}

const char *zsb_transport_read(const char *text, size_t size_bytes, struct zsb_arm_result *arms)
{
    struct zsb_arm_result read[ZSB_ARM_COUNT];
    memset(read, 0, sizeof(read));
    const char *end = NULL;
    cJSON *root = size_bytes > 0 ? cJSON_ParseWithLengthOpts(text, size_bytes + 1, &end, 1) : NULL;
    const char *broken = root == NULL || !cJSON_IsArray(root) || cJSON_GetArraySize(root) != ZSB_ARM_COUNT
                             ? "no list of arms"
                             : NULL;
    for (int i = 0; i < ZSB_ARM_COUNT && broken == NULL; i++)
        broken = read_arm(cJSON_GetArrayItem(root, i), &read[i]);
    cJSON_Delete(root);
    for (size_t i = 0; i < ZSB_ARM_COUNT; i++) {
        if (broken == NULL)
            arms[i] = read[i];
        else
            zsb_arm_result_clear(&read[i]);
    }
    return broken;
}
