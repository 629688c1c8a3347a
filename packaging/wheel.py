#!/usr/bin/env python3
"""Writes a wheel that installs the program into the folder of scripts, so that it is in PATH.

Usage: wheel.py FOLDER VERSION PLATFORM OUTPUT-FOLDER LEVEL, with FOLDER/bin and FOLDER/share as scripts/package.sh makes them.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile
from pathlib import Path

METADATA = """\
Metadata-Version: 2.1
Name: metalworks
Version: {version}
Summary: Check, compile and run Metal shaders, and run models, on any machine
License: MIT OR Apache-2.0
Project-URL: Source, https://github.com/metalworks/metalworks
Keywords: metal,shader,gpu,llm
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: Software Development :: Compilers
Requires-Python: >=3.7
Description-Content-Type: text/markdown

The program `metalworks`: it checks shaders in the Metal Shading Language, compiles them to libraries for Apple's GPUs and to
machine code, and runs them and language models on CPUs and NVIDIA GPUs. The wheel has no Python code.

```sh
metalworks doctor --quick
metalworks check shader.metal
```
"""


def main():
    folder, version, platform, output = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    level = int(sys.argv[5])
    tag = f"py3-none-{platform}"
    data, info = f"metalworks-{version}.data", f"metalworks-{version}.dist-info"
    files = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            inside = path.relative_to(folder).as_posix()
            place = f"{data}/scripts/{path.name}" if inside.startswith("bin/") else f"{data}/data/{inside}"
            files.append((place, path.read_bytes(), os.access(path, os.X_OK)))
    wheel = f"Wheel-Version: 1.0\nGenerator: metalworks\nRoot-Is-Purelib: false\nTag: {tag}\n"
    files.append((f"{info}/METADATA", METADATA.format(version=version).encode(), False))
    files.append((f"{info}/WHEEL", wheel.encode(), False))
    rows = []
    for name, content, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(content)}")
    rows.append(f"{info}/RECORD,,")
    files.append((f"{info}/RECORD", ("\n".join(rows) + "\n").encode(), False))

    # Times of a zip begin in 1980.
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), 315532800))[:6]
    with zipfile.ZipFile(output / f"metalworks-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, content, executable in files:
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, content)


main()
