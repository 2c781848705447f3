/* SPDX-License-Identifier: MIT
 *
 * What library and helper say to each other over the status socket (SOCK_SEQPACKET, one message each). Both
 * sides come from the same build; the library still parses strictly.
 *
 *   helper -> library   "pid"               with the helper's own pidfd as SCM_RIGHTS
 *                       "started"           the command was executed
 *                       "failed STAGE CODE ERRNO MESSAGE"   numbers of enum zsb_stage, enum zsb_code
 *                       "exit WAITSTATUS USER_US SYSTEM_US MAXRSS_KB"
 *   library -> helper   "term"              SIGTERM to the command's session
 *   helper -> keeper    "pid"               with the pidfd; end of file: no sandbox came to be
 */
#ifndef ZSB_WIRE_H
#define ZSB_WIRE_H

#define ZSB_WIRE_PID "pid"
#define ZSB_WIRE_STARTED "started"
#define ZSB_WIRE_FAILED "failed"
#define ZSB_WIRE_EXIT "exit"
#define ZSB_WIRE_TERM "term"
#define ZSB_WIRE_MAX 1024

/* Sends text and, when fd >= 0, a descriptor. 0 or -errno. */
int zsb_wire_send(int socket_fd, const char *text, int fd);
/* Receives one message into buffer (NUL-terminated, at most ZSB_WIRE_MAX) and a descriptor or -1.
 * Length, 0 at the end, or -errno. */
int zsb_wire_receive(int socket_fd, char buffer[ZSB_WIRE_MAX], int *out_fd);

#endif
