# SPDX-License-Identifier: Apache-2.0
"""As magika uses onnxruntime: a Path, a named output, bytes as int32 in batches.
usage: use_magika.py MODEL"""
import sys
from pathlib import Path

import numpy as np
import onnxruntime as rt
from models import LABELS, expected_content

PADDING = 256


def session_of(path: Path) -> rt.InferenceSession:
    rt.disable_telemetry_events()
    return rt.InferenceSession(path, providers=["CPUExecutionProvider"])


def features(content, size=32):
    """The first and the last bytes."""
    first, last = list(content[:size]), list(content[-size:])
    return first + [PADDING] * (size - len(first)) + [PADDING] * (size - len(last)) + last


session = session_of(Path(sys.argv[1]))
contents = [b"import os\nprint(os.getcwd())\n", b"x", bytes(range(200)), b"The quick brown fox jumps over the lazy dog." * 3]
rows = np.array([features(content) for content in contents], dtype=np.int32)
seen = np.concatenate([session.run(["target_label"], {"bytes": rows[i:i + 3]})[0] for i in range(0, len(rows), 3)])
wanted = expected_content(rows)
assert seen.shape == (4, len(LABELS)) and np.allclose(seen, wanted, atol=1e-5)
assert [LABELS[i] for i in np.argmax(seen, axis=1)] == [LABELS[i] for i in np.argmax(wanted, axis=1)]
