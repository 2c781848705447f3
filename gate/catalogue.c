/* SPDX-License-Identifier: MIT */
#include "gate/catalogue.h"

#include <stdlib.h>

const struct zsb_probe **zsb_catalogue_array(size_t *out_count)
{
    size_t count = 0;
    while (zsb_probe_at(count))
        count++;
    const struct zsb_probe **probes = calloc(count + 1, sizeof(*probes));
    if (!probes)
        return NULL;
    for (size_t i = 0; i < count; i++)
        probes[i] = zsb_probe_at(i);
    *out_count = count;
    return probes;
}
