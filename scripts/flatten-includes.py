#!/usr/bin/env python3
"""Prints a file with the text of the files that it includes by a quoted name, each once, or by a line `__embed_NAME__`.

    scripts/flatten-includes.py kernels/softmax.metal kernels .
"""

import os
import re
import sys

INCLUDE = re.compile(r'^\s*(?:#\s*include\s*"([^"]+)"|__embed_(.+)__$)')


def flatten(path, folders, seen, out):
    if os.path.realpath(path) in seen:
        return
    seen.add(os.path.realpath(path))
    with open(path, encoding="utf-8") as file:
        for line in file:
            name = INCLUDE.match(line)
            if not name:
                # There is one file in the end.
                if line.strip() != "#pragma once":
                    out.write(line if line.endswith("\n") else line + "\n")
                continue
            name = name[1] or name[2]
            found = [os.path.join(folder, name) for folder in folders]
            found = [candidate for candidate in found if os.path.isfile(candidate)]
            if not found:
                sys.exit(f"{path}: no file {name} in {', '.join(folders)}")
            flatten(found[0], folders, seen, out)


flatten(sys.argv[1], sys.argv[2:], set(), sys.stdout)
