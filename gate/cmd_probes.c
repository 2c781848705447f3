/* SPDX-License-Identifier: MIT */
#include "gate/catalogue.h"
#include "gate/cli.h"

#include <string.h>

static int print(const struct zsb_options *options, const struct zsb_probes_report *report, bool one)
{
    ZSB_AUTO_BUF text = ZSB_BUF_INIT;
    struct zsb_error err = ZSB_ERROR_INIT;
    struct zsb_destination destination;
    int rc = zsb_destination_open(options, &destination, &err);
    if (!rc && options->format == ZSB_FORMAT_JSON)
        rc = zsb_report_probes_json(report, &text, &err);
    else if (!rc && one)
        rc = zsb_report_probe_text(report->probes[0], &destination.style, &text, &err);
    else if (!rc)
        rc = zsb_report_probes_text(report, &destination.style, &text, &err);
    if (!rc)
        rc = zsb_destination_write(&destination, &text, &err);
    if (rc)
        zsb_cli_error(&err);
    return rc ? ZSB_EXIT_FAULT : ZSB_EXIT_OK;
}

static int list(const struct zsb_options *options)
{
    if (options->words.count > 1)
        return zsb_cli_usage("probes list takes no argument '%s'", options->words.words[1]);
    struct zsb_probes_report report = {0};
    ZSB_AUTO_FREE const struct zsb_probe **probes = zsb_catalogue_array(&report.count);
    if (!probes) {
        zsb_cli_say("no_memory", "out of memory");
        return ZSB_EXIT_FAULT;
    }
    report.probes = probes;
    return print(options, &report, false);
}

static int show(const struct zsb_options *options)
{
    if (options->words.count != 2)
        return zsb_cli_usage("probes show needs exactly one probe ID");
    const struct zsb_probe *probe = zsb_probe_find(options->words.words[1]);
    if (!probe)
        return zsb_cli_usage("no probe has the ID '%s'; see zuno-sandbox probes list",
                             options->words.words[1]);
    const struct zsb_probes_report report = {&probe, 1};
    return print(options, &report, true);
}

int zsb_cmd_probes(const struct zsb_options *options)
{
    const char *word = options->words.count ? options->words.words[0] : "list";
    if (strcmp(word, "list") == 0)
        return list(options);
    if (strcmp(word, "show") == 0)
        return show(options);
    return zsb_cli_usage("probes has no '%s': it is list or show ID", word);
}
