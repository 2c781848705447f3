/* SPDX-License-Identifier: MIT
 *
 * The whole catalogue as one array.
 */
#ifndef ZSB_GATE_CATALOGUE_H
#define ZSB_GATE_CATALOGUE_H

#include "escapes/probe.h"

/* NULL-terminated; the caller frees the array, not the probes. NULL: no memory. */
const struct zsb_probe **zsb_catalogue_array(size_t *out_count);

#endif
