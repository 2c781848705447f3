/* SPDX-License-Identifier: MIT
 *
 * A result file that is either absent, old or complete: written beside its name, mode 0600, then renamed. The
 * directory is opened once, at the start, so that a command in between cannot redirect the writing. A
 * destination that exists and is not a regular file (/dev/stdout, a pipe) is opened at the start and written
 * through.
 *
 * open -> write -> close.
 */
#ifndef ZSB_GATE_FILE_H
#define ZSB_GATE_FILE_H

#include "lib/util/util.h"

struct zsb_file;

/* Errors: io (stage none); the message names the path. Makes and removes a file in the directory to know that
 * it will work. */
ZSB_MUST_CHECK int zsb_file_open(const char *path, struct zsb_file **out_file, struct zsb_error *err);
ZSB_MUST_CHECK int zsb_file_write(struct zsb_file *file, const void *data, size_t size_bytes,
                                  struct zsb_error *err);
void zsb_file_close(struct zsb_file *file); /* NULL is fine */

#endif
