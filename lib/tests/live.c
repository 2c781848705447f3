/* SPDX-License-Identifier: MIT */
#include "lib/tests/live.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", NULL};

bool zsb_live_host_can(void)
{
    struct zsb_probe_options options = ZSB_PROBE_OPTIONS_INIT;
    struct zsb_backend_capabilities capabilities;
    struct zsb_error err = ZSB_ERROR_INIT;
    options.helper_path = ZSB_TEST_HELPER;
    if (zsb_backend_probe(zsb_backend_find("bubblewrap"), &options, &capabilities, NULL, &err) == 0)
        return true;
    (void)fprintf(stderr, "%s: %s\n", zsb_code_name(err.code), err.msg);
    return false;
}

void zsb_live_init(struct zsb_live *live, const char *backend, enum zsb_mode mode)
{
    bool native = strcmp(backend, "native") == 0;
    *live = (struct zsb_live){.backend = backend,
                              .policy_options = ZSB_POLICY_OPTIONS_INIT,
                              .request = ZSB_REQUEST_INIT,
                              .run = ZSB_RUN_OPTIONS_INIT,
                              .outcome = {.error = ZSB_ERROR_INIT},
                              .err = ZSB_ERROR_INIT};
    live->policy_options.mode = native ? ZSB_MODE_DANGER_FULL_ACCESS : mode;
    live->policy_options.network = native ? ZSB_NETWORK_ALLOWED : ZSB_NETWORK_DENIED;
    live->policy_options.workspace = zsb_test_dir();
    live->policy_options.environment = environment;
    live->request.helper_path = ZSB_TEST_HELPER;
    live->run.stdio[0] = ZSB_STDIO_NULL;
    live->run.stdio[1] = live->run.stdio[2] = ZSB_STDIO_CAPTURE;
    live->run.timeout_ms = 30000;
}

void zsb_live_clear(struct zsb_live *live)
{
    zsb_process_free(live->process);
    zsb_prepared_free(live->prepared);
    zsb_policy_free(live->policy);
    zsb_outcome_clear(&live->outcome);
    live->process = NULL;
    live->prepared = NULL;
    live->policy = NULL;
}

int zsb_live_prepare(struct zsb_live *live, const char *const argv[])
{
    int rc = zsb_policy_new(&live->policy_options, &live->policy, &live->err);
    if (rc != 0)
        return rc;
    live->request.argv = argv;
    return zsb_prepare(zsb_backend_find(live->backend), live->policy, &live->request, &live->prepared,
                       &live->err);
}

void zsb_live_start(struct zsb_live *live, const char *const argv[])
{
    if (live->prepared == NULL)
        ck_assert_msg(zsb_live_prepare(live, argv) == 0, "%s", live->err.msg);
    ck_assert_msg(zsb_process_start(live->prepared, &live->run, &live->process, &live->err) == 0, "%s",
                  live->err.msg);
}

void zsb_live_wait(struct zsb_live *live)
{
    ck_assert_msg(zsb_process_wait(live->process, &live->outcome, &live->err) == 0, "%s", live->err.msg);
    zsb_process_free(live->process);
    live->process = NULL;
    ck_assert_int_eq(live->outcome.certain, 1);
}

void zsb_live_run(struct zsb_live *live, const char *const argv[])
{
    zsb_live_start(live, argv);
    zsb_live_wait(live);
}

const char *zsb_live_shell(struct zsb_live *live, const char *script)
{
    zsb_live_run(live, (const char *const[]){"sh", "-c", script, NULL});
    ck_assert_msg(live->outcome.stage == ZSB_STAGE_NONE, "%s: %s", zsb_stage_name(live->outcome.stage),
                  live->outcome.error.msg);
    return live->outcome.captured[1] != NULL ? live->outcome.captured[1] : "";
}

const char *zsb_live_output(enum zsb_mode mode, const char *script)
{
    struct zsb_live live;
    zsb_live_init(&live, "bubblewrap", mode);
    const char *output = zsb_test_text("%s", zsb_live_shell(&live, script));
    const char *errors = zsb_test_text("%s", live.outcome.captured[2]);
    bool succeeded = live.outcome.exited && live.outcome.exit_status == 0;
    zsb_live_clear(&live);
    ck_assert_msg(succeeded, "%s: %s", script, errors);
    return output;
}

const char *zsb_live_marker(void)
{
    char hex[33];
    ck_assert_int_eq(zsb_random_hex(hex, 16), 0);
    return zsb_test_text("mark-%s", hex);
}

static bool is_marked(const char *pid, const char *marker)
{
    char path[64];
    char *text = NULL;
    size_t size = 0;
    (void)snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    if (zsb_read_file_at(AT_FDCWD, path, 1 << 20, &text, &size) != 0)
        return false;
    bool marked = memmem(text, size, marker, strlen(marker)) != NULL;
    free(text);
    return marked;
}

size_t zsb_live_count_marked(const char *marker)
{
    size_t count = 0;
    DIR *proc = opendir("/proc");
    ck_assert_ptr_nonnull(proc);
    for (const struct dirent *entry; (entry = readdir(proc)) != NULL;)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && is_marked(entry->d_name, marker))
            count++;
    (void)closedir(proc);
    return count;
}

void zsb_live_await(const char *path)
{
    for (int i = 0; i < 2000 && !zsb_test_exists(path); i++)
        (void)poll(NULL, 0, 5);
    ck_assert_msg(zsb_test_exists(path), "%s did not come into being", path);
}
