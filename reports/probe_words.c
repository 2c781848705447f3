/* SPDX-License-Identifier: MIT */
#include "reports/probe_words.h"

#include "lib/util/util.h"

const struct zsb_flag_word zsb_need_words[] = {
    {ZSB_NEED_VICTIM, "victim"},
    {ZSB_NEED_LISTENERS, "listeners"},
    {ZSB_NEED_TERMINAL, "terminal"},
    {ZSB_NEED_SHM, "shm"},
    {ZSB_NEED_INHERITED_FDS, "inherited-fds"},
    {ZSB_NEED_SECRET_ENV, "secret-env"},
    {ZSB_NEED_MOUNT_STAGE, "mount-stage"},
    {ZSB_NEED_ROOT_CALLER, "root-caller"},
    {ZSB_NEED_IO_URING, "io-uring"},
    {ZSB_NEED_IA32, "ia32"},
    {ZSB_NEED_TIOCSTI, "tiocsti"},
    {ZSB_NEED_USERNS, "userns"},
    {ZSB_NEED_PIDFD_GETFD, "pidfd-getfd"},
};
const size_t zsb_need_word_count = ZSB_ARRAY_SIZE(zsb_need_words);

const struct zsb_flag_word zsb_mode_words[2] = {
    {ZSB_IN_READ_ONLY, "read-only"},
    {ZSB_IN_WORKSPACE_WRITE, "workspace-write"},
};
const struct zsb_flag_word zsb_network_words[2] = {
    {ZSB_NET_DENIED, "denied"},
    {ZSB_NET_ALLOWED, "allowed"},
};

const char *zsb_fixture_word(enum zsb_fixture fixture)
{
    return fixture == ZSB_FIXTURE_PLAIN ? "plain" : "repo";
}

const char *zsb_ending_word(enum zsb_ending ending)
{
    switch (ending) {
    case ZSB_END_EXIT:
        return "exit";
    case ZSB_END_CANCEL:
        return "cancel";
    case ZSB_END_KILL_LAUNCHER:
        return "kill-launcher";
    }
    return "unknown";
}
