/* SPDX-License-Identifier: MIT */
#include "escapes/catalogue.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) &zsb_probe_##name,
static const struct zsb_probe *const probes[] = {ZSB_CATALOGUE(ROW)};
#undef ROW

enum { PROBE_COUNT = sizeof(probes) / sizeof(probes[0]) };

const struct zsb_probe *zsb_probe_at(size_t index)
{
    return index < PROBE_COUNT ? probes[index] : NULL;
}

const struct zsb_probe *zsb_probe_find(const char *id)
{
    for (size_t i = 0; i < PROBE_COUNT; i++)
        if (strcmp(probes[i]->id, id) == 0)
            return probes[i];
    return NULL;
}

const char *zsb_witness_name(enum zsb_witness witness)
{
    static const char *const names[ZSB_WITNESS_COUNT] = {
        [ZSB_WITNESS_TREE] = "tree",           [ZSB_WITNESS_CAPTURE] = "capture",
        [ZSB_WITNESS_MEMORY] = "memory",       [ZSB_WITNESS_SIGNAL] = "signal",
        [ZSB_WITNESS_ACCEPT] = "accept",       [ZSB_WITNESS_TERMINAL] = "terminal",
        [ZSB_WITNESS_TRACED] = "traced",       [ZSB_WITNESS_NAMESPACE] = "namespace",
        [ZSB_WITNESS_PRIVILEGE] = "privilege", [ZSB_WITNESS_DESCRIPTOR] = "descriptor",
        [ZSB_WITNESS_SURVIVOR] = "survivor",   [ZSB_WITNESS_SHM] = "shm",
    };
    return (unsigned)witness < ZSB_WITNESS_COUNT ? names[witness] : "unknown";
}

/* SplitMix64's output function (Steele, Lea, Flood 2014). It spreads, it hides nothing: whoever knows `plant`
 * may know the flags. What keeps a flag unguessable is that `plant` is random and new for every arm. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Two lanes walk over the digits of `plant`, then over the index; the lanes start and step differently. */
void zsb_plant_derive(const char *plant, size_t index, char out[33])
{
    static const uint64_t step[2] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd1342543de82ef95)};
    uint64_t lane[2] = {1, 2};
    for (size_t side = 0; side < 2; side++) {
        for (const char *digit = plant; *digit != '\0'; digit++)
            lane[side] = mix(lane[side] + step[side] + (unsigned char)*digit);
        lane[side] = mix(lane[side] + step[side] + (uint64_t)index);
    }
    (void)snprintf(out, 33, "%016llx%016llx", (unsigned long long)lane[0], (unsigned long long)lane[1]);
}

void zsb_seal_add(struct zsb_seal *seal, const char *words, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        seal->state = mix(seal->state + UINT64_C(0x9e3779b97f4a7c15) + (unsigned char)words[i]);
    seal->state = mix(seal->state + UINT64_C(0xd1342543de82ef95) + size_bytes);
}

void zsb_seal_begin(struct zsb_seal *seal, const char *nonce)
{
    seal->state = 3;
    zsb_seal_add(seal, nonce, strlen(nonce));
}

void zsb_seal_name(const struct zsb_seal *seal, char out[ZSB_SEAL_NAME_SIZE])
{
    (void)snprintf(out, ZSB_SEAL_NAME_SIZE, "%015llx", (unsigned long long)(seal->state >> 4));
}
