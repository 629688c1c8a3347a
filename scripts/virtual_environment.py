"""Cache folder of downloads, and virtual environments of the scripts."""

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

CACHE = Path(
    os.environ.get("METALWORKS_DOWNLOADS")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "metalworks"
)


def enter(name, packages):
    """Runs this script again in a virtual environment with these packages. Creates it if it does not exist."""
    pins = [f"{package}=={version}" for package, version in packages.items()]
    environment = CACHE / "python" / (f"{name}-" + hashlib.sha256(" ".join(pins).encode()).hexdigest()[:12])
    python = environment / "bin/python"
    if Path(sys.prefix) == environment:
        return
    if not (environment / "complete").exists():
        print(f"creating {environment}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pins], check=True)
        (environment / "complete").touch()
    os.execv(python, [str(python), *sys.argv])


def llama_cpp():
    """Enters the environment of scripts/tokenizer-reference.py. Returns that script as a module, and llama_cpp."""
    path = Path(__file__).resolve().parent / "tokenizer-reference.py"
    spec = importlib.util.spec_from_file_location("tokenizer_reference", path)
    shared = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shared)
    try:
        import llama_cpp
    except ImportError:
        shared.in_environment()
        import llama_cpp
    return shared, llama_cpp
