/* SPDX-License-Identifier: MIT
 *
 * Build-time program: prints the two compiled filters as C arrays, so that the helper neither links
 * libseccomp nor spends time compiling.
 */
#include "lib/seccomp/filter.h"
#include "lib/util/util.h"

#include <stdio.h>

static int print_program(enum zsb_network network, const char *name)
{
    struct zsb_error err = ZSB_ERROR_INIT;
    ZSB_AUTO_FREE struct sock_filter *program = NULL;
    unsigned short length = 0;
    if (zsb_filter_compile(network, &program, &length, &err) != 0) {
        (void)fprintf(stderr, "zsb-seccomp-generate: %s\n", err.msg);
        return 1;
    }
    printf("static const struct sock_filter %s[] = {\n", name);
    for (unsigned i = 0; i < length; i++)
        printf("    {0x%02x, %u, %u, 0x%08x},\n", program[i].code, program[i].jt, program[i].jf,
               program[i].k);
    printf("};\n\n");
    return 0;
}

int main(void)
{
    printf("/* Generated from lib/seccomp/table.c; do not edit. */\n#include \"lib/seccomp/filter.h\"\n\n");
    if (print_program(ZSB_NETWORK_DENIED, "program_denied") != 0 ||
        print_program(ZSB_NETWORK_ALLOWED, "program_allowed") != 0)
        return 1;
    printf("struct zsb_filter_program zsb_filter_builtin(enum zsb_network network)\n{\n"
           "    if (network == ZSB_NETWORK_ALLOWED)\n"
           "        return (struct zsb_filter_program){program_allowed, sizeof(program_allowed) / "
           "sizeof(program_allowed[0])};\n"
           "    return (struct zsb_filter_program){program_denied, sizeof(program_denied) / "
           "sizeof(program_denied[0])};\n}\n");
    return fflush(stdout) == 0 ? 0 : 1;
}
