/* SPDX-License-Identifier: MIT
 *
 * The campaign as a JSON object: the campaign report is it, the gate report contains it.
 */
#ifndef ZSB_REPORTS_CAMPAIGN_JSON_H
#define ZSB_REPORTS_CAMPAIGN_JSON_H

#include "reports/json.h"
#include "reports/reports.h"

/* Fills `object`, which already has its "schema". */
void zsb_campaign_json_fill(struct zsb_json *json, cJSON *object, const struct zsb_campaign *campaign);

#define ZSB_CAMPAIGN_SCHEMA "zuno-sandbox/campaign/v1"

#endif
