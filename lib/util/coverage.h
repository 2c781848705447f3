/* SPDX-License-Identifier: MIT
 *
 * Coverage builds only: code that leaves through exec or _exit must write its counters itself.
 */
#ifndef ZSB_COVERAGE_H
#define ZSB_COVERAGE_H

#ifdef ZSB_COVERAGE_DIR
void __gcov_dump(void);
#define ZSB_COVERAGE_DUMP() __gcov_dump()
#else
#define ZSB_COVERAGE_DUMP() ((void)0)
#endif

#endif
