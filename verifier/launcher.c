/* SPDX-License-Identifier: MIT */
#include "verifier/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- placeholders */

enum placeholder {
    PLACE_COMMAND = 0,
    PLACE_COMMAND_STRING,
    PLACE_WORKSPACE,
    PLACE_CWD,
    PLACE_HOME,
    PLACE_LAB,
    PLACE_MODE,
    PLACE_NETWORK,
    PLACE_DIR,
    PLACE_COUNT
};

static const char *const placeholder_names[PLACE_COUNT] = {
    [PLACE_COMMAND] = "command",
    [PLACE_COMMAND_STRING] = "command-string",
    [PLACE_WORKSPACE] = "workspace",
    [PLACE_CWD] = "cwd",
    [PLACE_HOME] = "home",
    [PLACE_LAB] = "lab",
    [PLACE_MODE] = "mode",
    [PLACE_NETWORK] = "network",
    [PLACE_DIR] = "dir",
};

/* Length of "{word}" at `text`, or 0 when it is no placeholder but a brace of the word's own. */
static size_t placeholder_length(const char *text)
{
    size_t n = text[0] == '{' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz-") : 0;
    return n > 0 && text[n + 1] == '}' ? n + 2 : 0;
}

static enum placeholder placeholder_find(const char *text, size_t length)
{
    for (unsigned i = 0; i < PLACE_COUNT; i++)
        if (strlen(placeholder_names[i]) == length - 2 &&
            strncmp(placeholder_names[i], text + 1, length - 2) == 0)
            return (enum placeholder)i;
    return PLACE_COUNT;
}

static void add_quoted(struct zsb_buf *out, const char *word)
{
    zsb_buf_addc(out, '\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            zsb_buf_add(out, "'\\''");
        else
            zsb_buf_addc(out, *word);
    }
    zsb_buf_addc(out, '\'');
}

static void add_placeholder(const struct zsb_launcher *launcher, const struct zsb_launch_values *values,
                            enum placeholder place, struct zsb_buf *out)
{
    switch (place) {
    case PLACE_COMMAND: /* only ever a whole word; expand_word() takes it */
    case PLACE_COMMAND_STRING:
        for (size_t i = 0; i < values->command->count; i++) {
            if (i > 0)
                zsb_buf_addc(out, ' ');
            add_quoted(out, values->command->items[i]);
        }
        break;
    case PLACE_WORKSPACE:
        zsb_buf_add(out, values->workspace);
        break;
    case PLACE_CWD:
        zsb_buf_add(out, values->cwd);
        break;
    case PLACE_HOME:
        zsb_buf_add(out, values->home);
        break;
    case PLACE_LAB:
        zsb_buf_add(out, values->lab);
        break;
    case PLACE_MODE:
        zsb_buf_add(out, zsb_mode_name(values->mode));
        break;
    case PLACE_NETWORK:
        zsb_buf_add(out, zsb_network_option(values->network));
        break;
    case PLACE_DIR:
        zsb_buf_add(out, launcher->dir);
        break;
    case PLACE_COUNT:
        break;
    }
}

static void expand_word(const struct zsb_launcher *launcher, const struct zsb_launch_values *values,
                        const char *word, struct zsb_strv *out)
{
    if (strcmp(word, "{command}") == 0) {
        for (size_t i = 0; i < values->command->count; i++)
            zsb_strv_add(out, values->command->items[i]);
        return;
    }
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    zsb_buf_add(&text, "");
    while (*word != '\0') {
        size_t length = placeholder_length(word);
        if (length > 0)
            add_placeholder(launcher, values, placeholder_find(word, length), &text);
        else
            zsb_buf_addc(&text, *word);
        word += length > 0 ? length : 1;
    }
    out->failed = out->failed || text.failed;
    zsb_strv_add(out, text.data != NULL ? text.data : "");
}

int zsb_launcher_expand(const struct zsb_launcher *launcher, const struct zsb_launch_values *values,
                        struct zsb_strv *argv, struct zsb_strv *environment)
{
    for (size_t i = 0; i < launcher->argv.count; i++)
        expand_word(launcher, values, launcher->argv.items[i], argv);
    for (size_t i = 0; i < launcher->environment.count; i++)
        expand_word(launcher, values, launcher->environment.items[i], environment);
    return argv->failed || environment->failed || argv->count == 0 ? -ENOMEM : 0;
}

/* ---- accessors */

const char *zsb_launcher_name(const struct zsb_launcher *launcher)
{
    return launcher->name;
}

bool zsb_launcher_has_mode(const struct zsb_launcher *launcher, enum zsb_mode mode)
{
    return (launcher->modes & (1u << (unsigned)mode)) != 0;
}

enum zsb_network zsb_launcher_network(const struct zsb_launcher *launcher)
{
    return launcher->network;
}

void zsb_launcher_free(struct zsb_launcher *launcher)
{
    if (launcher == NULL)
        return;
    free(launcher->name);
    free(launcher->dir);
    zsb_strv_clear(&launcher->argv);
    zsb_strv_clear(&launcher->environment);
    free(launcher);
}

/* ---- rules about words, used by the reader (launcher_file.c) */

const char *zsb_launcher_word_rule(const char *word, bool is_argument)
{
    bool whole = strcmp(word, "{command}") == 0;
    if (whole && is_argument)
        return NULL;
    for (size_t length = 0; *word != '\0'; word += length > 0 ? length : 1) {
        length = placeholder_length(word);
        enum placeholder place = length > 0 ? placeholder_find(word, length) : PLACE_DIR;
        if (place == PLACE_COUNT)
            return "holds an unknown placeholder";
        if (place == PLACE_COMMAND)
            return is_argument ? "holds {command} inside a word; it must stand alone"
                               : "holds {command}, which is no text";
        if (place == PLACE_COMMAND_STRING && !is_argument)
            return "holds {command-string}, which only an argument may";
    }
    return NULL;
}
