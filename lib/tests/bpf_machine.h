/* SPDX-License-Identifier: MIT
 *
 * A classic BPF machine for seccomp programs: what the kernel does with one system call, without the kernel.
 */
#ifndef ZSB_TESTS_BPF_MACHINE_H
#define ZSB_TESTS_BPF_MACHINE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What linux/kernel/seccomp.c and net/core/filter.c demand before they accept a program. Returns NULL or the
 * broken rule. */
const char *zsb_bpf_check(const struct sock_filter *program, size_t length);
/* Runs a program that passed zsb_bpf_check(); the SECCOMP_RET_* value. */
uint32_t zsb_bpf_run(const struct sock_filter *program, size_t length, const struct seccomp_data *data);

#endif
