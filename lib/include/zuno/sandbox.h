/* SPDX-License-Identifier: MIT
 *
 * Umbrella header of libzuno-sandbox: policy -> plan -> backend -> prepared command -> process.
 */
#ifndef ZUNO_SANDBOX_H
#define ZUNO_SANDBOX_H

#include <zuno/backend.h>
#include <zuno/command.h>
#include <zuno/error.h>
#include <zuno/plan.h>
#include <zuno/policy.h>
#include <zuno/process.h>

#endif
