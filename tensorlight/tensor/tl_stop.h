// SPDX-License-Identifier: Apache-2.0
// A reproducible stop request, for tests.

#pragma once

#include "tensorlight/tl_exec.h"

/** Requests the stop at check `n` (1 is the next one) of tl_stop_is_requested, whichever thread
 *  makes it; 0: never. Replaces the deadline. Not while another thread uses `stop`. */
void tl_stop_request_at(tl_stop *stop, size_t n);

/** The number of checks since tl_stop_request_at. */
size_t tl_stop_checks(const tl_stop *stop);
