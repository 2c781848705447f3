/* SPDX-License-Identifier: MIT */
#include "reports/json.h"

#include "reports/clean.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void zsb_json_init(struct zsb_json *json, const char *schema)
{
    *json = (struct zsb_json){.root = cJSON_CreateObject()};
    json->failed = json->root == NULL;
    zsb_json_string(json, json->root, "schema", schema);
}

void zsb_json_clear(struct zsb_json *json)
{
    cJSON_Delete(json->root);
    json->root = NULL;
}

/* Hands `item` to `parent`; on any failure frees it and remembers. */
static cJSON *attach(struct zsb_json *json, cJSON *parent, const char *key, cJSON *item)
{
    const cJSON_bool attached =
        key ? cJSON_AddItemToObjectCS(parent, key, item) : cJSON_AddItemToArray(parent, item);
    if (attached)
        return item;
    cJSON_Delete(item);
    json->failed = true;
    return NULL;
}

cJSON *zsb_json_object(struct zsb_json *json, cJSON *parent, const char *key)
{
    return attach(json, parent, key, cJSON_CreateObject());
}

cJSON *zsb_json_array(struct zsb_json *json, cJSON *parent, const char *key)
{
    return attach(json, parent, key, cJSON_CreateArray());
}

void zsb_json_string(struct zsb_json *json, cJSON *parent, const char *key, const char *text)
{
    ZSB_AUTO_BUF clean = ZSB_BUF_INIT;
    zsb_clean_utf8(&clean, text);
    if (clean.failed)
        json->failed = true;
    else
        attach(json, parent, key, cJSON_CreateString(clean.data ? clean.data : ""));
}

void zsb_json_bool(struct zsb_json *json, cJSON *parent, const char *key, bool value)
{
    attach(json, parent, key, cJSON_CreateBool(value));
}

void zsb_json_null(struct zsb_json *json, cJSON *parent, const char *key)
{
    attach(json, parent, key, cJSON_CreateNull());
}

void zsb_json_int(struct zsb_json *json, cJSON *parent, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, value);
    attach(json, parent, key, cJSON_CreateRaw(text));
}

void zsb_json_uint(struct zsb_json *json, cJSON *parent, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, value);
    attach(json, parent, key, cJSON_CreateRaw(text));
}

void zsb_json_error(struct zsb_json *json, cJSON *parent, const char *key, const struct zsb_error *error)
{
    if (!error) {
        zsb_json_null(json, parent, key);
        return;
    }
    cJSON *object = zsb_json_object(json, parent, key);
    zsb_json_string(json, object, "code", zsb_code_name(error->code));
    zsb_json_string(json, object, "stage", zsb_stage_name(error->stage));
    zsb_json_int(json, object, "errno", error->sys_errno);
    zsb_json_string(json, object, "subject", error->subject);
    zsb_json_string(json, object, "reason", error->reason);
    zsb_json_string(json, object, "message", error->msg);
}

int zsb_report_finish(const struct zsb_buf *out, struct zsb_error *err)
{
    if (!out->failed)
        return 0;
    return zsb_error_set(err, ZSB_E_LIMIT, ZSB_STAGE_NONE, 0, "the report does not fit into its buffer");
}

int zsb_json_print(struct zsb_json *json, struct zsb_buf *out, struct zsb_error *err)
{
    char *text = json->failed ? NULL : cJSON_Print(json->root);
    if (!text)
        return zsb_error_no_memory(err, ZSB_STAGE_NONE);
    zsb_buf_add(out, text);
    zsb_buf_addc(out, '\n');
    cJSON_free(text);
    return zsb_report_finish(out, err);
}

const char *zsb_errno_name(int number)
{
    const char *name = number > 0 ? strerrorname_np(number) : NULL;
    return name ? name : "";
}
