// SPDX-License-Identifier: Apache-2.0
// The status page: models, load, latency. Meson makes the text from page/status.html.
#pragma once

#include <stddef.h>

extern const char srv_page_html[];
extern const size_t srv_page_html_size;
