#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the status page a C array. usage: srv_page.py OUTPUT PAGE.html"""
import pathlib
import sys

data = pathlib.Path(sys.argv[2]).read_bytes()
rows = [", ".join(map(str, data[i:i + 20])) for i in range(0, len(data), 20)]
pathlib.Path(sys.argv[1]).write_text(
    "// SPDX-License-Identifier: Apache-2.0\n// Made from serve/page/status.html by srv_page.py. Do not edit.\n#include \"srv_page.h\"\n\n"
    "const char srv_page_html[] = {" + ",\n    ".join(rows) + "};\nconst size_t srv_page_html_size = sizeof(srv_page_html);\n",
    encoding="utf-8")
