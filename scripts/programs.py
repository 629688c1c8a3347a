"""Programs of this repository, for scripts that compare their results."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "debug"
# A faster build may write large models.
METALWORKS = Path(os.environ.get("METALWORKS") or FOLDER / "metalworks")


def build(*targets):
    """Compiles metalworks and further targets, as the tests do: for the whole workspace."""
    command = ["cargo", "build", "--quiet", "--workspace", "--bin", "metalworks", *targets]
    subprocess.run(command, check=True, cwd=ROOT)


def synthesize(model, seed, path):
    """Writes a synthetic model."""
    command = [METALWORKS, "synthesize", model, "--seed", str(seed), "-o", path]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
