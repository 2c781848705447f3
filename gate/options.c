/* SPDX-License-Identifier: MIT */
#include "gate/options.h"

#include <string.h>

enum {
    POLICY = ZSB_COMMAND_RUN | ZSB_COMMAND_POLICY,
    REPORTS = ZSB_COMMAND_VERIFY | ZSB_COMMAND_GATE,
    FORMATTED = REPORTS | ZSB_COMMAND_PROBES | ZSB_COMMAND_POLICY,
    ALL = FORMATTED | ZSB_COMMAND_RUN,
};

/* Each takes one value and returns what is wrong with it, or NULL. */
static const char *take_mode(struct zsb_options *o, const char *value)
{
    enum zsb_mode mode;
    if (zsb_mode_parse(value, &mode))
        return "is not read-only, workspace-write or danger-full-access";
    for (size_t i = 0; i < o->mode_count; i++) {
        if (o->modes[i] == mode)
            return "is given twice";
    }
    o->modes[o->mode_count++] = mode;
    return NULL;
}

static const char *take_network(struct zsb_options *o, const char *value)
{
    o->network_given = true;
    return zsb_network_parse_option(value, &o->network) ? "is not deny or allow" : NULL;
}

static const char *take_backend(struct zsb_options *o, const char *value)
{
    o->backend = zsb_backend_find(value);
    return o->backend || strcmp(value, "auto") == 0 ? NULL : "is not auto, bubblewrap or native";
}

static const char *take_text(const char **slot, const char *value)
{
    *slot = value;
    return *value ? NULL : "is empty";
}

static const char *take_launcher(struct zsb_options *o, const char *value)
{
    return take_text(&o->launcher, value);
}

static const char *take_workspace(struct zsb_options *o, const char *value)
{
    return take_text(&o->workspace, value);
}

static const char *take_cwd(struct zsb_options *o, const char *value)
{
    return take_text(&o->cwd, value);
}

static const char *take_outcome(struct zsb_options *o, const char *value)
{
    return take_text(&o->outcome, value);
}

static const char *take_output(struct zsb_options *o, const char *value)
{
    return take_text(&o->output, value);
}

static const char *take_word(struct zsb_word_list *list, const char *value)
{
    list->words[list->count++] = value;
    return *value ? NULL : "is empty";
}

static const char *take_writable(struct zsb_options *o, const char *value)
{
    return take_word(&o->writable, value);
}

static const char *take_protect(struct zsb_options *o, const char *value)
{
    return take_word(&o->protect, value);
}

static const char *take_deny(struct zsb_options *o, const char *value)
{
    return take_word(&o->deny, value);
}

static const char *take_probe(struct zsb_options *o, const char *value)
{
    return take_word(&o->probes, value);
}

/* Seconds with an optional fraction, rounded up to milliseconds: never through a double or the locale. */
static const char *take_timeout(struct zsb_options *o, const char *value)
{
    static const char wrong[] = "is not a number of seconds above 0 and at most 31536000";
    char whole[16];
    const size_t digits = strspn(value, "0123456789");
    const char *fraction = value[digits] == '.' ? value + digits + 1 : "";
    const size_t fraction_digits = strspn(fraction, "0123456789");
    uint64_t seconds = 0;
    if (digits == 0 || digits >= sizeof(whole) || fraction[fraction_digits] ||
        (value[digits] == '.') != (*fraction != 0) || (value[digits] && value[digits] != '.'))
        return wrong;
    memcpy(whole, value, digits);
    whole[digits] = '\0';
    if (!zsb_parse_u64(whole, 31536000, &seconds))
        return wrong;
    int64_t milliseconds = (int64_t)seconds * 1000;
    int64_t unit = 100;
    for (size_t i = 0; i < fraction_digits && i < 3; i++, unit /= 10)
        milliseconds += unit * (fraction[i] - '0');
    if (fraction_digits > 3 && strspn(fraction + 3, "0") < fraction_digits - 3)
        milliseconds++;
    o->timeout_ms = milliseconds;
    return milliseconds > 0 ? NULL : wrong;
}

static const char *take_jobs(struct zsb_options *o, const char *value)
{
    uint64_t jobs = 0;
    if (!zsb_parse_u64(value, 256, &jobs) || jobs == 0)
        return "is not a number from 1 to 256";
    o->jobs = (unsigned)jobs;
    return NULL;
}

static const char *take_format(struct zsb_options *o, const char *value)
{
    o->format = strcmp(value, "json") == 0 ? ZSB_FORMAT_JSON : ZSB_FORMAT_TEXT;
    return o->format == ZSB_FORMAT_JSON || strcmp(value, "text") == 0 ? NULL : "is not text or json";
}

static const char *take_preview(struct zsb_options *o, const char *value)
{
    (void)value;
    o->preview = true;
    return NULL;
}

static const char *take_help(struct zsb_options *o, const char *value)
{
    (void)value;
    o->help = true;
    return NULL;
}

static const struct option {
    const char *name;
    const char *value;   /* placeholder; NULL: a switch */
    unsigned commands;   /* zsb_command_bit of those that take it */
    unsigned repeatable; /* of those where it may be given more than once */
    const char *(*take)(struct zsb_options *options, const char *value);
    const char *help;
} options_table[] = {
    {"mode", "MODE", POLICY, 0, take_mode, "read-only (default), workspace-write or danger-full-access"},
    {"mode", "MODE", ZSB_COMMAND_VERIFY, ZSB_COMMAND_VERIFY, take_mode,
     "read-only (default) or workspace-write"},
    {"network", "deny|allow", POLICY, 0, take_network, "default deny; allow for danger-full-access"},
    {"backend", "BACKEND", POLICY | REPORTS, 0, take_backend, "auto (default), bubblewrap or native"},
    {"launcher", "FILE", ZSB_COMMAND_VERIFY, 0, take_launcher,
     "put a foreign sandbox on trial (zuno-sandbox/launcher/v1)"},
    {"workspace", "DIR", POLICY, 0, take_workspace, "default the current directory"},
    {"writable", "DIR", POLICY, POLICY, take_writable, "one more writable root (workspace-write only)"},
    {"protect", "PATH", POLICY, POLICY, take_protect,
     "read-only inside writable roots, beside .git, .zuno, .agents"},
    {"deny", "PATH", POLICY, POLICY, take_deny, "neither readable nor writable"},
    {"cwd", "DIR", POLICY, 0, take_cwd, "where the command starts; default the workspace"},
    {"timeout", "SECONDS", ZSB_COMMAND_RUN, 0, take_timeout,
     "end the command and all it started; fractions allowed"},
    {"outcome", "FILE", ZSB_COMMAND_RUN, 0, take_outcome,
     "write what happened as JSON (zuno-sandbox/outcome/v1)"},
    {"probe", "GLOB", ZSB_COMMAND_VERIFY, ZSB_COMMAND_VERIFY, take_probe,
     "only the probes that match; default all"},
    {"jobs", "N", REPORTS, 0, take_jobs, "trials at the same time; default one per core"},
    {"format", "text|json", FORMATTED, 0, take_format, "default text"},
    {"output", "FILE", REPORTS, 0, take_output, "write the report there instead of to stdout"},
    {"preview", NULL, ZSB_COMMAND_GATE, 0, take_preview,
     "criteria that cannot be evaluated yet do not block the grant"},
    {"help", NULL, ALL, ALL, take_help, "show this help"},
};

static const struct option *find_option(unsigned command, const char *name, size_t length)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(options_table); i++) {
        const struct option *option = &options_table[i];
        if ((option->commands & command) && strlen(option->name) == length &&
            strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static int usage(struct zsb_error *err, const char *word, size_t length, const char *problem)
{
    return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_NONE, 0, "%.*s %s", (int)length, word,
                         problem);
}

static int bad_value(struct zsb_error *err, const struct option *option, const char *value,
                     const char *problem)
{
    return zsb_error_set(err, ZSB_E_INVALID_ARGUMENT, ZSB_STAGE_NONE, 0, "--%s: '%s' %s", option->name, value,
                         problem);
}

struct cursor {
    char *const *next;
    unsigned command;
    uint64_t seen; /* bit per row of the table */
};

static int take_option(struct cursor *cursor, const char *word, struct zsb_options *options,
                       struct zsb_error *err)
{
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option =
        strncmp(word, "--", 2) == 0 ? find_option(cursor->command, word + 2, length - 2) : NULL;
    if (!option)
        return usage(err, word, length, "is not an option of this command");
    const uint64_t bit = UINT64_C(1) << (option - options_table);
    if ((cursor->seen & bit) && !(option->repeatable & cursor->command))
        return usage(err, word, length, "is given twice");
    cursor->seen |= bit;
    if (!option->value && equals)
        return usage(err, word, length, "takes no value");
    const char *value = equals ? equals + 1 : NULL;
    if (option->value && !value) {
        if (!*cursor->next)
            return usage(err, word, length, "needs a value");
        value = *cursor->next++;
    }
    const char *problem = option->take(options, value);
    return problem ? bad_value(err, option, value, problem) : 0;
}

static int make_room(struct zsb_options *options, size_t word_count, struct zsb_error *err)
{
    struct zsb_word_list *const lists[] = {&options->writable, &options->protect, &options->deny,
                                           &options->probes, &options->words};
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(lists); i++) {
        lists[i]->words = calloc(word_count + 1, sizeof(*lists[i]->words));
        if (!lists[i]->words)
            return zsb_error_no_memory(err, ZSB_STAGE_NONE);
    }
    return 0;
}

static size_t count_words(char *const argv[])
{
    size_t count = 0;
    while (argv[count])
        count++;
    return count;
}

int zsb_options_parse(unsigned command, bool words_end_options, char *const argv[],
                      struct zsb_options *out_options, struct zsb_error *err)
{
    *out_options = (struct zsb_options){0};
    if (make_room(out_options, count_words(argv), err))
        return -ZSB_E_NO_MEMORY;
    struct cursor cursor = {.next = argv + 1, .command = command};
    bool options_over = false;
    while (*cursor.next) {
        const char *word = *cursor.next++;
        if (!options_over && strcmp(word, "--") == 0) {
            options_over = true;
        } else if (!options_over && word[0] == '-' && word[1]) {
            const int rc = take_option(&cursor, word, out_options, err);
            if (rc)
                return rc;
        } else {
            out_options->words.words[out_options->words.count++] = word;
            options_over = options_over || words_end_options;
        }
    }
    return 0;
}

void zsb_options_clear(struct zsb_options *options)
{
    free(options->writable.words);
    free(options->protect.words);
    free(options->deny.words);
    free(options->probes.words);
    free(options->words.words);
    *options = (struct zsb_options){0};
}

void zsb_options_help(unsigned command, struct zsb_buf *out)
{
    for (size_t i = 0; i < ZSB_ARRAY_SIZE(options_table); i++) {
        const struct option *option = &options_table[i];
        if (!(option->commands & command))
            continue;
        ZSB_AUTO_BUF left = ZSB_BUF_INIT;
        zsb_buf_addf(&left, "--%s%s%s", option->name, option->value ? " " : "",
                     option->value ? option->value : "");
        const bool repeats = option->value && (option->repeatable & command);
        zsb_buf_addf(out, "  %-22s  %s%s\n", left.data, option->help, repeats ? "; may be repeated" : "");
    }
}

enum zsb_mode zsb_options_mode(const struct zsb_options *options)
{
    return options->mode_count ? options->modes[0] : ZSB_MODE_READ_ONLY;
}

static enum zsb_network network_of(const struct zsb_options *options)
{
    if (options->network_given)
        return options->network;
    return zsb_options_mode(options) == ZSB_MODE_DANGER_FULL_ACCESS ? ZSB_NETWORK_ALLOWED
                                                                    : ZSB_NETWORK_DENIED;
}

struct zsb_policy_options zsb_options_policy(const struct zsb_options *options)
{
    struct zsb_policy_options policy = ZSB_POLICY_OPTIONS_INIT;
    policy.mode = zsb_options_mode(options);
    policy.network = network_of(options);
    policy.workspace = options->workspace ? options->workspace : ".";
    policy.writable_roots = options->writable.words;
    policy.writable_root_count = options->writable.count;
    policy.protected_paths = options->protect.words;
    policy.protected_path_count = options->protect.count;
    policy.deny_paths = options->deny.words;
    policy.deny_path_count = options->deny.count;
    policy.cwd = options->cwd;
    if (policy.mode == ZSB_MODE_DANGER_FULL_ACCESS)
        policy.env_inherit = ZSB_ENV_ALL; /* native execution preserves what it was given */
    return policy;
}

const struct zsb_backend *zsb_options_backend(const struct zsb_options *options)
{
    return options->backend ? options->backend : zsb_backend_for_mode(zsb_options_mode(options));
}
