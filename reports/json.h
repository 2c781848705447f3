/* SPDX-License-Identifier: MIT
 *
 * A JSON document under construction over cJSON: one flag remembers any failed allocation, so writers need no
 * check per field. Objects and arrays belong to the document.
 */
#ifndef ZSB_REPORTS_JSON_H
#define ZSB_REPORTS_JSON_H

#include "lib/util/util.h"

#include <cjson/cJSON.h>

struct zsb_json {
    cJSON *root;
    bool failed;
};

void zsb_json_init(struct zsb_json *json, const char *schema); /* root object with "schema" */
void zsb_json_clear(struct zsb_json *json);
#define ZSB_AUTO_JSON __attribute__((cleanup(zsb_json_clear))) struct zsb_json

/* `key` must be static. With an array as parent pass NULL. */
cJSON *zsb_json_object(struct zsb_json *json, cJSON *parent, const char *key);
cJSON *zsb_json_array(struct zsb_json *json, cJSON *parent, const char *key);
void zsb_json_string(struct zsb_json *json, cJSON *parent, const char *key, const char *text); /* NULL: "" */
void zsb_json_bool(struct zsb_json *json, cJSON *parent, const char *key, bool value);
void zsb_json_null(struct zsb_json *json, cJSON *parent, const char *key);
/* Exact over the whole range: never through a double. */
void zsb_json_int(struct zsb_json *json, cJSON *parent, const char *key, int64_t value);
void zsb_json_uint(struct zsb_json *json, cJSON *parent, const char *key, uint64_t value);
/* {code, stage, errno, subject, reason, message}; NULL err: null */
void zsb_json_error(struct zsb_json *json, cJSON *parent, const char *key, const struct zsb_error *error);

/* Prints the document with a final newline into *out. */
ZSB_MUST_CHECK int zsb_json_print(struct zsb_json *json, struct zsb_buf *out, struct zsb_error *err);
/* 0, or the failure that the buffer remembers. */
ZSB_MUST_CHECK int zsb_report_finish(const struct zsb_buf *out, struct zsb_error *err);
/* "EPERM"; "" for 0 and for numbers that this libc does not name. */
const char *zsb_errno_name(int number);

#endif
