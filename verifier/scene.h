/* SPDX-License-Identifier: MIT
 *
 * The scene of one arm: a fresh trial directory, fresh flags and nonce, and the outside objects that the
 * probe needs (victim, listeners, terminal, shared memory, descriptors left open, secrets in the
 * environment).
 */
#ifndef ZSB_SCENE_H
#define ZSB_SCENE_H

#include "escapes/probe.h"
#include "verifier/campaign.h"
#include "verifier/lab.h"
#include "verifier/listeners.h"
#include "verifier/terminal.h"
#include "verifier/victim.h"

enum zsb_flag {
    ZSB_FLAG_FILE = 0,
    ZSB_FLAG_DENY_FILE,
    ZSB_FLAG_DENY_DIR,
    ZSB_FLAG_DENY_WS,
    ZSB_FLAG_MEMORY,
    ZSB_FLAG_ENVIRON,
    ZSB_FLAG_VICTIM_FD,
    ZSB_FLAG_CALLER_ENV,
    ZSB_FLAG_SHM,
    ZSB_FLAG_FD_FILE,
    ZSB_FLAG_FD_DIR,
    ZSB_FLAG_COUNT
};
enum { ZSB_FLAG_DIGITS = 32, ZSB_SHM_BYTES = 4096 };

const char *zsb_flag_name(enum zsb_flag flag); /* "file", "deny-file", ... as in probe.h */
enum zsb_flag zsb_flag_find(const char *name); /* ZSB_FLAG_COUNT when there is none */

/* Where scenes take place: a trial directory that outlives them. Whatever an arm did to it is undone before
 * the next one; while nothing happened, the next arm of the same trial finds its probe's objects prepared,
 * too. */
struct zsb_place {
    unsigned slot; /* of the worker: no two workers share a directory */
    char name[64]; /* of the directory in the lab; set by zsb_scene_open() */
    bool is_clean; /* prepared for this probe, and nothing but flags and sockets ever changed in it */
};

struct zsb_scene {
    const struct zsb_lab *lab;
    const struct zsb_probe *probe;
    enum zsb_mode mode;
    enum zsb_network network;
    struct zsb_place *place;
    char path[PATH_MAX];
    int dir_fd;
    char nonce[ZSB_FLAG_DIGITS + 1], plant[ZSB_FLAG_DIGITS + 1];
    char flags[ZSB_FLAG_COUNT][ZSB_FLAG_DIGITS + 1];
    struct zsb_victim victim;
    struct zsb_listeners listeners;
    struct zsb_terminal terminal;
    int shm_id;
    char *shm;
    int fd_file, fd_dir;         /* inheritable on purpose */
    struct zsb_strv environment; /* what the caller of the sandbox has */
    const char *trouble;         /* the step that failed */
};

/* Sets everything up; on failure -errno, with `trouble` naming the step. Close it in any case. The calling
 * process's descriptors fd_file and fd_dir stay open without CLOEXEC meanwhile. */
int zsb_scene_open(struct zsb_scene *scene, const struct zsb_lab *lab, const struct zsb_probe *probe,
                   enum zsb_mode mode, enum zsb_network network, struct zsb_place *place);
/* Ends the victim, closes everything. The trial directory stays for the next arm, or for the end of the lab.
 */
void zsb_scene_close(struct zsb_scene *scene);

/* The probe's words: "attempt|benign ID key=value ..." or "canary key=value ...", without argv[0]. */
void zsb_scene_add_words(const struct zsb_scene *scene, const char *what, struct zsb_strv *words);

/* 1 when the attempt belongs to this mode. */
bool zsb_attempt_in_mode(const struct zsb_attempt *attempt, enum zsb_mode mode);

#endif
