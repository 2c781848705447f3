/* SPDX-License-Identifier: MIT */
#include "lib/helper/helper.h"

#include <string.h>
#include <unistd.h>

static const char usage[] = "usage: zuno-sandbox-helper deny|allow -- PROGRAM [ARG...]\n";

int zsb_helper_main(int argc, char **argv)
{
    uint64_t fd = 0;
    if (argc >= 4 && strcmp(argv[2], "--") == 0)
        return zsb_helper_become(argv[1], argv + 3);
    if (argc == 4 && strcmp(argv[2], "--config") == 0 && zsb_parse_u64(argv[3], INT32_MAX, &fd))
        return zsb_helper_supervise((int)fd, argv[1]);
    if (argc >= 3 && strcmp(argv[1], "hold") == 0)
        return zsb_helper_hold(argc - 2, argv + 2);
    if (argc == 3 && strcmp(argv[1], "diagnose") == 0)
        return zsb_helper_diagnose(argv[2]);
    if (argc == 2 && strcmp(argv[1], "true") == 0)
        return 0;
    (void)zsb_write_all(STDERR_FILENO, usage, sizeof(usage) - 1);
    return ZSB_HELPER_EXIT_FAILED;
}

#ifndef ZSB_HELPER_NO_MAIN
int main(int argc, char **argv)
{
    return zsb_helper_main(argc, argv);
}
#endif
