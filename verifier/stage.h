/* SPDX-License-Identifier: MIT
 *
 * The mount stage of bare arms: what a sandbox's mounts would look like to somebody who still has the rights
 * to undo them.
 */
#ifndef ZSB_STAGE_H
#define ZSB_STAGE_H

/* The calling process gets private mounts, in which <trial>/out is a read-only mount of its own, and keeps
 * the right to mount. As an ordinary user this takes a user namespace in which the user appears as root. 0 or
 * -errno. */
int zsb_stage_enter(const char *trial_path);

#endif
