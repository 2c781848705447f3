/* SPDX-License-Identifier: MIT
 *
 * The escape catalogue: what a probe is. One file per probe in escapes/probes/, one `const struct zsb_probe`
 * each, listed in escapes/catalogue.c. This header and the probes see neither libzuno-sandbox nor the
 * verifier.
 *
 * A probe never prints, judges, loops for ever or skips. It tries an attack by effect (never access(2)) and
 * reports the errno of the decisive step. Whether anything escaped is seen by witnesses outside.
 *
 * One run of `zuno-escapes` is one arm of one trial: it says hello, runs every attempt (or the benign twin),
 * reports each, says done, then holds still until the verifier closes the reading end of the result pipe (or
 * 5 s passed), so that its processes and descriptors can be inspected from outside.
 */
#ifndef ZSB_PROBE_H
#define ZSB_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the witness outside watches. `target` of the attempt says which object. */
enum zsb_witness {
    ZSB_WITNESS_TREE = 0,  /* path below the trial directory: any change of names, bytes, type, mode, owner,
                              mtime, link count or xattrs at or below it */
    ZSB_WITNESS_CAPTURE,   /* flag name: the probe returned a flag that exists only outside */
    ZSB_WITNESS_MEMORY,    /* the victim's write buffer holds the plant flag of this attempt */
    ZSB_WITNESS_SIGNAL,    /* signal name: the victim received it ("USR1", "USR2", "STOP", ...) */
    ZSB_WITNESS_ACCEPT,    /* listener name: a connection or datagram arrived there with the plant flag */
    ZSB_WITNESS_TERMINAL,  /* the plant flag was typed into the outside terminal */
    ZSB_WITNESS_TRACED,    /* a process of this arm has TracerPid != 0 */
    ZSB_WITNESS_NAMESPACE, /* "user", "mnt", "net", "pid": a process of this arm sits in another namespace of
                              that kind than the arm's first process */
    ZSB_WITNESS_PRIVILEGE, /* "capabilities", "no-new-privs", "seccomp": /proc/PID/status of a process of this
                              arm shows any capability, NoNewPrivs 0, Seccomp 0 */
    ZSB_WITNESS_DESCRIPTOR, /* absolute path or link text ("anon_inode:[perf_event]"): a process of this arm
                               holds an open descriptor on it (for a path: writable). A link text that ends in
                               ":" matches every text that begins with it ("socket:") */
    ZSB_WITNESS_SURVIVOR,   /* comm name: a process of this arm with that comm lives after the arm's end */
    ZSB_WITNESS_SHM,        /* the outside System V segment holds the plant flag */
    ZSB_WITNESS_COUNT
};

/* What the trial needs from lab or host. A missing host fact is `not_applicable` with its evidence. */
enum {
    ZSB_NEED_VICTIM = 1u << 0,        /* outside process: memory flag, environment flag, open secret file */
    ZSB_NEED_LISTENERS = 1u << 1,     /* tcp, udp and unix listeners outside */
    ZSB_NEED_TERMINAL = 1u << 2,      /* the arm's stdin is a terminal, its launcher's controlling one */
    ZSB_NEED_SHM = 1u << 3,           /* a System V segment outside */
    ZSB_NEED_INHERITED_FDS = 1u << 4, /* descriptors left open in the caller (always prepared; documents) */
    ZSB_NEED_SECRET_ENV = 1u << 5,    /* a secret in the caller's environment */
    ZSB_NEED_MOUNT_STAGE = 1u << 6,   /* bare arm runs with mount rights in a stage whose out/ is read-only */
    ZSB_NEED_ROOT_CALLER = 1u << 7,   /* only root can do this unconfined */
    ZSB_NEED_IO_URING = 1u << 8,
    ZSB_NEED_IA32 = 1u << 9,     /* int 0x80 works on this kernel */
    ZSB_NEED_TIOCSTI = 1u << 10, /* dev.tty.legacy_tiocsti is 1 or absent */
    ZSB_NEED_USERNS = 1u << 11,  /* this caller may create user namespaces */
    ZSB_NEED_PIDFD_GETFD = 1u << 12,
};

enum { ZSB_IN_READ_ONLY = 1u << 0, ZSB_IN_WORKSPACE_WRITE = 1u << 1, ZSB_IN_BOTH = 3u };
enum { ZSB_NET_DENIED = 1u << 0, ZSB_NET_ALLOWED = 1u << 1, ZSB_NET_BOTH = 3u };

enum zsb_fixture {
    ZSB_FIXTURE_REPO = 0, /* ws/ is a git repository with .git, .zuno, .agents */
    ZSB_FIXTURE_PLAIN,    /* ws/ has none of the protected names */
};

enum zsb_ending {
    ZSB_END_EXIT = 0,      /* the probe exits when released */
    ZSB_END_CANCEL,        /* the caller cancels (library: forced end; launcher: SIGTERM, then SIGKILL) */
    ZSB_END_KILL_LAUNCHER, /* SIGKILL of the launcher process alone */
};

/* Paths of a trial, relative to the trial directory (`lab`):
 *   ws/            the workspace         ws/tracked.txt, ws/sub/file.txt, ws/private/secret (denied)
 *   out/           outside, same uid     out/secret.txt (holds the "file" flag)
 *   deny/file, deny/dir/secret           denied paths (hold the "deny-file" and "deny-dir" flags)
 *   home/          HOME
 *   run/           unix sockets
 * Flags a CAPTURE may name: "file" (out/secret.txt), "deny-file", "deny-dir", "deny-ws" (ws/private/secret),
 * "memory", "environ" (victim), "victim-fd" (file only the victim has open), "caller-env" (the caller's
 * environment), "shm", "fd-file" and "fd-dir" (reachable through descriptors left open in the caller).
 * Every flag is 32 lowercase hex digits. */

/* Told to the probe as key=value words; zsb_arg() returns NULL when absent. Keys: nonce, lab, plant, mode,
 * network, victim (pid), victim-read and victim-write (hex addresses), victim-fd (number in the victim),
 * tcp4, tcp6, udp4, udp6 (loopback ports; tcp6/udp6 absent without IPv6), unix-stream, unix-dgram (paths),
 * abstract-stream, abstract-dgram (names without the leading NUL), shmid, fd-file, fd-dir (numbers in the
 * caller). */
struct zsb_ctx;
const char *zsb_arg(const struct zsb_ctx *ctx, const char *key);
long zsb_arg_long(const struct zsb_ctx *ctx, const char *key); /* -1 when absent or malformed */
/* "<lab>/<relative>" in a buffer of the context, valid until 16 further calls. */
const char *zsb_path(struct zsb_ctx *ctx, const char *relative);
/* The plant flag of the running attempt: derived from `plant`, different for every attempt of an arm. */
const char *zsb_plant(const struct zsb_ctx *ctx);
/* Hand over bytes in which a flag may stand (first 4096 kept). May be called several times. */
void zsb_capture(struct zsb_ctx *ctx, const void *data, size_t size_bytes);
bool zsb_read_only_mode(const struct zsb_ctx *ctx);

struct zsb_attempt {
    const char *name; /* unique in the probe; [a-z0-9-] */
    enum zsb_witness witness;
    const char *target; /* see enum zsb_witness */
    /* Returns 0 or the positive errno of the decisive step. -1: the attempt could not be reached. */
    int (*run)(struct zsb_ctx *ctx);
    /* Success by its own word is expected also when held (a survivor, a status line): only the witness
     * counts. */
    bool effect_only;
    /* Bare arm only: these errnos mean the host lacks the feature; the attempt is then left out with
     * evidence. */
    const int *absent_errnos; /* 0-terminated, or NULL */
    unsigned modes;           /* 0: all modes of the probe */
};

struct zsb_probe {
    const char *id;       /* "fs.write-outside"; never reused */
    const char *claim;    /* one sentence: what a held verdict says */
    const char *boundary; /* filesystem, process, network, privilege, terminal, descriptor, environment, ipc,
                             lifetime */
    const char *refs;     /* CVEs, man pages; may be "" */
    unsigned needs;
    unsigned modes;
    unsigned networks;
    enum zsb_fixture fixture;
    enum zsb_ending ending;
    bool required;
    const int *deny_errnos; /* 0-terminated: what a real denial answers; anything else proves nothing */
    /* Runs in the verifier, unconfined, before the snapshot, in every arm: objects this probe needs beside
     * the common ones. lab_fd is the trial directory. 0 or -errno. May be NULL. */
    int (*prepare)(int lab_fd);
    int (*benign)(struct zsb_ctx *ctx); /* the allowed twin: 0 or errno */
    const char *benign_claim;           /* what the twin does, a few words */
    const struct zsb_attempt *attempts;
    size_t attempt_count;
};

/* The catalogue: sorted as reported; NULL past the end. */
const struct zsb_probe *zsb_probe_at(size_t index);
const struct zsb_probe *zsb_probe_find(const char *id);
const char *zsb_witness_name(enum zsb_witness witness);

/* Derives the plant flag of attempt `index` from the arm's `plant` (32 hex digits) into out[33].
 * Shared by probe and witness so that both know it and nobody has to send it. */
void zsb_plant_derive(const char *plant, size_t index, char out[33]);

/* How the program is called: `zuno-escapes attempt ID key=value...`, `zuno-escapes benign ID key=value...`,
 * `zuno-escapes canary key=value...` (hello and done only, probe id "canary"), `zuno-escapes list`. Exit
 * status 2 and one line on stderr for wrong words. The benign twin's result is named "benign". */

/* Seal of a report: a digest of the nonce and of every result line, which the probe carries as its process
 * name before it says done. Only the process itself can set it, so a report that somebody else wrote beside a
 * genuine but idle probe does not match. Shared by probe and witness. Not cryptographic: the lines have no
 * free bits to search with. */
struct zsb_seal {
    uint64_t state;
};
enum { ZSB_SEAL_NAME_SIZE = 16 }; /* TASK_COMM_LEN */
void zsb_seal_begin(struct zsb_seal *seal, const char *nonce);
/* `words`: a result line from the word "result" to its last character, without the newline. */
void zsb_seal_add(struct zsb_seal *seal, const char *words, size_t size_bytes);
void zsb_seal_name(const struct zsb_seal *seal, char out[ZSB_SEAL_NAME_SIZE]);

/* The result protocol, one line each, on the pipe named by ZSB_RESULT_FD, or on stdout where that is closed:
 *   ZSB1 <nonce> hello <probe-id> <attempt|benign> <fd|stdout>
 *   ZSB1 <nonce> result <attempt-name> <reached 0|1> <errno> <capture-hex or ->
 *   ZSB1 <nonce> done
 * The nonce is the trial's; a line with another one is not ours. */
#define ZSB_RESULT_MAGIC "ZSB1"
#define ZSB_RESULT_FD_ENV "ZSB_RESULT_FD"
#define ZSB_HOLD_MS 5000

#endif
