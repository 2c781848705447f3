/* SPDX-License-Identifier: MIT */
#include "escapes/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *zsb_arg(const struct zsb_ctx *ctx, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < ctx->word_count; i++)
        if (strncmp(ctx->words[i], key, length) == 0 && ctx->words[i][length] == '=')
            return ctx->words[i] + length + 1;
    return NULL;
}

long zsb_arg_long(const struct zsb_ctx *ctx, const char *key)
{
    const char *text = zsb_arg(ctx, key);
    if (text == NULL || *text < '0' || *text > '9')
        return -1;
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' ? value : -1;
}

const char *zsb_path(struct zsb_ctx *ctx, const char *relative)
{
    const char *lab = zsb_arg(ctx, "lab");
    char *slot = ctx->paths[ctx->next_path++ % ZSB_PATH_SLOTS];
    int n = snprintf(slot, PATH_MAX, "%s/%s", lab != NULL ? lab : "", relative);
    if (n < 0 || n >= PATH_MAX)
        slot[0] = '\0'; /* every use of "" answers ENOENT, which no probe counts as a denial of a write */
    return slot;
}

const char *zsb_plant(const struct zsb_ctx *ctx)
{
    return ctx->plant;
}

void zsb_capture(struct zsb_ctx *ctx, const void *data, size_t size_bytes)
{
    size_t room = sizeof(ctx->capture) - ctx->capture_bytes;
    size_t n = size_bytes < room ? size_bytes : room;
    if (n > 0)
        memcpy(ctx->capture + ctx->capture_bytes, data, n);
    ctx->capture_bytes += n;
}

bool zsb_read_only_mode(const struct zsb_ctx *ctx)
{
    const char *mode = zsb_arg(ctx, "mode");
    return mode == NULL || strcmp(mode, "workspace-write") != 0;
}

void zsb_ctx_begin(struct zsb_ctx *ctx, size_t index)
{
    ctx->capture_bytes = 0;
    const char *plant = zsb_arg(ctx, "plant");
    zsb_plant_derive(plant != NULL ? plant : "", index, ctx->plant);
}

bool zsb_is_flag(const char *text)
{
    return text != NULL && strlen(text) == ZSB_FLAG_DIGITS &&
           strspn(text, "0123456789abcdef") == ZSB_FLAG_DIGITS;
}
