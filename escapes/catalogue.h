/* SPDX-License-Identifier: MIT
 *
 * The list of probes, in the order in which they are reported. One line per file in escapes/probes/; a probe
 * that is not listed here does not exist. Names become `zsb_probe_<name>`.
 */
#ifndef ZSB_CATALOGUE_H
#define ZSB_CATALOGUE_H

#include "escapes/probe.h"

#define ZSB_CATALOGUE(X)                                                                                     \
    X(fs_write_workspace)                                                                                    \
    X(fs_write_outside)                                                                                      \
    X(fs_symlink_existing)                                                                                   \
    X(fs_symlink_planted)                                                                                    \
    X(fs_symlink_directory)                                                                                  \
    X(fs_symlink_dangling)                                                                                   \
    X(fs_hardlink_out)                                                                                       \
    X(fs_rename_over_outside)                                                                                \
    X(fs_metadata_outside)                                                                                   \
    X(fs_protected_existing)                                                                                 \
    X(fs_protected_missing)                                                                                  \
    X(fs_protected_missing_file)                                                                             \
    X(fs_protected_missing_symlink)                                                                          \
    X(fs_protected_missing_link)                                                                             \
    X(fs_protected_missing_rename)                                                                           \
    X(fs_protected_missing_node)                                                                             \
    X(fs_deny_read)                                                                                          \
    X(fs_proc_root)                                                                                          \
    X(fs_fifo_outside)                                                                                       \
    X(proc_ptrace_outside)                                                                                   \
    X(proc_ptrace_child)                                                                                     \
    X(proc_vm_readv)                                                                                         \
    X(proc_vm_writev)                                                                                        \
    X(proc_mem_file)                                                                                         \
    X(proc_environ_outside)                                                                                  \
    X(proc_signal_outside)                                                                                   \
    X(proc_pidfd_getfd)                                                                                      \
    X(net_tcp)                                                                                               \
    X(net_udp)                                                                                               \
    X(net_unix_pathname)                                                                                     \
    X(net_unix_abstract)                                                                                     \
    X(net_unix_datagram)                                                                                     \
    X(net_io_uring)                                                                                          \
    X(net_foreign_abi)                                                                                       \
    X(net_vsock_and_families)                                                                                \
    X(priv_capabilities)                                                                                     \
    X(priv_user_namespace)                                                                                   \
    X(priv_remount)                                                                                          \
    X(priv_proc_sys)                                                                                         \
    X(priv_perf_event)                                                                                       \
    X(priv_userfaultfd)                                                                                      \
    X(priv_open_by_handle)                                                                                   \
    X(tty_inject)                                                                                            \
    X(fd_inherited_file)                                                                                     \
    X(fd_inherited_directory)                                                                                \
    X(env_secret)                                                                                            \
    X(ipc_sysv_shm)                                                                                          \
    X(life_outlive)                                                                                          \
    X(life_launcher_killed)

#define ZSB_CATALOGUE_DECLARE(name) extern const struct zsb_probe zsb_probe_##name;
ZSB_CATALOGUE(ZSB_CATALOGUE_DECLARE)
#undef ZSB_CATALOGUE_DECLARE

#endif
