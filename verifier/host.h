/* SPDX-License-Identifier: MIT
 *
 * Host facts: what this kernel lets this user do, each found out by doing it in a throw-away child.
 */
#ifndef ZSB_HOST_H
#define ZSB_HOST_H

#include "verifier/campaign.h"

/* Fills all fields; 0 or -ENOMEM. The caller clears it. */
int zsb_host_examine(struct zsb_host_facts *out_facts);
void zsb_host_clear(struct zsb_host_facts *facts);
/* Evidence why a probe with these needs is impossible here, or NULL when it is possible. Owned by `facts` or
 * static. */
const char *zsb_host_missing(const struct zsb_host_facts *facts, unsigned needs);

#endif
