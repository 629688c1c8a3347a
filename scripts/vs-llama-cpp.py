#!/usr/bin/env python3
"""Compares the speed of metalworks and llama.cpp on the same files, in turns, and writes tables.

  scripts/vs-llama-cpp.py                              # the default model, as `metalworks pull smollm2` downloads it
  scripts/vs-llama-cpp.py model.gguf --threads 1,2 --rounds 3
  scripts/vs-llama-cpp.py --models smollm2-135m,llama-1b --formats q4_0,q8_0,q4_k_m,f16 --threads 1,4,16 \\
      --depth 0,4096 --load 0,2x --output comparison   # synthetic models; comparison.md and comparison.json

A round measures a prompt and decoding with one program, then with the other; results are medians of all rounds. On a busy
machine, only ratios are meaningful. Results so far are written after each row, also if it is interrupted.

metalworks is target/release/metalworks, or METALWORKS. llama.cpp is `--llama-bench PATH`, or it is compiled natively, once
for each CPU: from `--source FILE` (an sdist of llama-cpp-python, or another archive of llama.cpp), or from the sdist that
pip downloads. Without cmake and ninja in PATH, pip installs them in a virtual environment. Everything is kept in the cache
folder of downloads (METALWORKS_DOWNLOADS), outside the checkout. Needs Python 3.9 and nothing else.
"""

import argparse
import contextlib
import datetime
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import virtual_environment

HERE = Path(__file__).resolve().parent
PHASES = ("prompt", "decode")

# Only the benchmark, for the machine that it is compiled on.
CMAKE_OPTIONS = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_SERVER=OFF",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_OPENSSL=OFF",
    "-DLLAMA_CURL=OFF",
]

# Flags of /proc/cpuinfo that llama.cpp has options for, apart from AMX.
GGML_FEATURES = {
    "sse4_2": "SSE42",
    "avx": "AVX",
    "avx2": "AVX2",
    "bmi2": "BMI2",
    "fma": "FMA",
    "f16c": "F16C",
    "avx_vnni": "AVX_VNNI",
    "avx512f": "AVX512",
    "avx512vbmi": "AVX512_VBMI",
    "avx512_vnni": "AVX512_VNNI",
    "avx512_bf16": "AVX512_BF16",
}


class Failure(Exception):
    """A run that gave no result; the text is for the table."""


def numbers(text):
    """Parses `1,2,4`."""
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers, such as 1,2,4")
    if any(value < 0 for value in values):
        raise argparse.ArgumentTypeError(f"'{text}': numbers must not be negative")
    return values


def names(text):
    """Parses `q4_0,q8_0`."""
    return [part.strip() for part in text.split(",") if part.strip()]


def busy_threads(text, cores):
    """Parses the number of busy threads: `8`, or `2x` for twice the cores."""
    try:
        count = float(text[:-1]) * cores if text.endswith("x") else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of threads, such as 8 or 2x")
    if count < 0:
        raise argparse.ArgumentTypeError(f"'{text}': the number must not be negative")
    return int(count)


def cpu_of(cpuinfo):
    """Returns the name and the flags of the first CPU in the text of /proc/cpuinfo."""
    fields = {}
    for line in cpuinfo.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    name = fields.get("model name") or fields.get("Hardware") or platform.processor() or platform.machine()
    return name, set((fields.get("flags") or fields.get("Features") or "").split())


def native_without_amx(flags):
    """Options for a build with all features of the CPU but AMX."""
    options = [f"-DGGML_{option}={'ON' if flag in flags else 'OFF'}" for flag, option in GGML_FEATURES.items()]
    return ["-DGGML_NATIVE=OFF", *options]


def parse_ours(text, prompt, tokens):
    """Returns the samples of `metalworks bench --json` by phase."""
    tests = json.loads(text)["tests"]
    samples = {}
    for test in tests:
        phase = "prompt" if test["test"].startswith("pp") else "decode"
        samples[phase] = test["samples"]
    wanted = {phase for phase, count in zip(PHASES, (prompt, tokens)) if count}
    if set(samples) != wanted:
        raise Failure(f"metalworks measured {sorted(samples)}")
    return samples


def parse_theirs(text, prompt, tokens):
    """Returns the samples of `llama-bench -o json` by phase, and its description of the build."""
    samples, build = {}, {}
    for test in json.loads(text):
        phase = "prompt" if test["n_prompt"] else "decode"
        samples[phase] = test["samples_ts"]
        build = {key: test[key] for key in ("build_commit", "build_number", "backends") if key in test}
    wanted = {phase for phase, count in zip(PHASES, (prompt, tokens)) if count}
    if set(samples) != wanted:
        raise Failure(f"llama-bench measured {sorted(samples)}")
    return samples, build


def run(command, timeout):
    """Runs a program and returns its stdout."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True, timeout=timeout, text=True)
    except subprocess.TimeoutExpired:
        raise Failure(f"not done after {timeout} s")
    except OSError as error:
        raise Failure(str(error))
    if done.returncode < 0:
        raise Failure(f"ended by {signal.Signals(-done.returncode).name}")
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise Failure(f"exit status {done.returncode}: {last}")
    return done.stdout


@contextlib.contextmanager
def load(threads):
    """Keeps this many threads busy."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(threads)]
    try:
        if busy:
            time.sleep(1)
        yield
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()


class LlamaCpp:
    """llama-bench, given or compiled."""

    def __init__(self, options, flags):
        self.options, self.flags = options, flags
        self.build, self.notes, self.folder = {}, [], None
        if options.llama_bench:
            self.program = options.llama_bench
            self.origin = "given"
            self.folder = next((p for p in self.program.resolve().parents if (p / "CMakeCache.txt").exists()), None)
        else:
            self.compile(["-DGGML_NATIVE=ON"])

    def compile(self, features):
        """Compiles it, unless it was compiled for this CPU before."""
        archive = self.options.source or downloaded_source()
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        self.origin = f"{archive.name}, SHA-256 {digest[:16]}"
        cmake_options = [*CMAKE_OPTIONS, *features, *self.options.cmake_option]
        cpu, flags = cpu_of(read("/proc/cpuinfo"))
        key = " ".join([digest, *cmake_options, cpu, *sorted(flags), compiler_version()])
        root = virtual_environment.CACHE / "llama.cpp"
        source = root / f"source-{digest[:16]}"
        self.folder = root / f"build-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        self.program = self.folder / "bin/llama-bench"
        if self.program.exists():
            return
        if not source.exists():
            extract(archive, source)
        say(f"compiling llama.cpp in {self.folder}")
        cmake, ninja = build_tools()
        generator = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja else []
        partial = self.folder.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        jobs = str(self.options.jobs or os.cpu_count() or 1)
        for command in [
            [cmake, "-S", llama_folder(source), "-B", partial, *generator, *cmake_options],
            [cmake, "--build", partial, "--target", "llama-bench", "-j", jobs],
        ]:
            done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                sys.exit("cannot compile llama.cpp:\n" + "\n".join(done.stdout.splitlines()[-20:]))
        partial.rename(self.folder)

    def measure(self, path, threads, depth):
        options = self.options
        command = [self.program, "-m", path, "-t", threads, "-p", options.prompt, "-n", options.decode]
        command += ["-d", depth, "-r", options.repetitions, "-o", "json", "-ngl", "0"]
        try:
            text = run(command, options.timeout)
        except Failure as failure:
            # Some virtual machines list AMX and do not let a process use it.
            is_illegal = "SIGILL" in str(failure) or "SIGSEGV" in str(failure)
            if options.llama_bench or self.notes or not is_illegal or not any("amx" in flag for flag in self.flags):
                raise
            self.notes.append(f"compiled without AMX: with it, llama-bench was {failure}")
            self.compile(native_without_amx(self.flags))
            return self.measure(path, threads, depth)
        samples, self.build = parse_theirs(text, options.prompt, options.decode)
        return samples

    def description(self):
        return {
            "origin": self.origin,
            "program": str(self.program),
            **self.build,
            "compiler": compiler_of(self.folder) or "unknown",
            "flags": flags_of(self.folder) or "unknown",
            "notes": self.notes,
        }


def pinned():
    """scripts/tokenizer-reference.py, which pins the default model and the sdist of llama-cpp-python."""
    spec = importlib.util.spec_from_file_location("tokenizer_reference", HERE / "tokenizer-reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def downloaded_source():
    """The sdist of llama-cpp-python."""
    pins = pinned()
    folder = virtual_environment.CACHE / "llama.cpp"
    for archive in (folder / pins.SDIST, virtual_environment.CACHE / "corpus" / pins.SDIST):
        if archive.exists():
            return pins.checked(archive, pins.SDIST_SHA256)
    folder.mkdir(parents=True, exist_ok=True)
    package = "llama-cpp-python==" + pins.PACKAGES["llama-cpp-python"]
    say(f"downloading the sdist of {package}")
    options = ["--quiet", "--no-deps", "--no-binary", "llama-cpp-python", "--dest", str(folder)]
    if subprocess.run([sys.executable, "-m", "pip", "download", *options, package]).returncode:
        sys.exit("cannot download llama.cpp: use --source with an archive of it, or --llama-bench")
    return pins.checked(folder / pins.SDIST, pins.SDIST_SHA256)


def extract(archive, folder):
    """Extracts an archive; the folder appears complete."""
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    with tarfile.open(archive) as members:
        if hasattr(tarfile, "data_filter"):
            members.extractall(partial, filter="data")
        else:
            members.extractall(partial)
    partial.rename(folder)


def llama_folder(source):
    """The folder of llama.cpp in an extracted archive."""
    found = sorted(source.glob("**/tools/llama-bench/CMakeLists.txt"), key=lambda path: len(path.parts))
    if not found:
        sys.exit(f"{source} has no llama.cpp: tools/llama-bench is missing")
    return found[0].parent.parent.parent


def build_tools():
    """Paths of cmake and ninja; those that PATH lacks come from a virtual environment. Ninja may be missing."""
    cmake, ninja = shutil.which("cmake"), shutil.which("ninja")
    if cmake:
        return cmake, ninja
    environment = virtual_environment.CACHE / "python" / "cmake"
    if not (environment / "complete").exists():
        say("installing cmake and ninja")
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        pip = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if subprocess.run([*pip, "cmake", "ninja"]).returncode:
            sys.exit("cannot install cmake: install it, or use --llama-bench")
        (environment / "complete").touch()
    return environment / "bin/cmake", environment / "bin/ninja"


def compiler_version():
    for compiler in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if compiler and shutil.which(compiler):
            return run([compiler, "--version"], 60).splitlines()[0]
    return ""


def compiler_of(folder):
    """The C++ compiler of a build folder, with its version."""
    cache = read(folder / "CMakeCache.txt") if folder else ""
    for line in cache.splitlines():
        if line.startswith("CMAKE_CXX_COMPILER:"):
            with contextlib.suppress(Failure):
                return run([line.partition("=")[2], "--version"], 60).splitlines()[0]
    return None


def flags_of(folder):
    """The flags that the kernels of a build folder were compiled with."""
    with contextlib.suppress(ValueError):
        commands = json.loads(read(folder / "compile_commands.json")) if folder else []
        for command in commands:
            if command["file"].endswith("ggml-cpu/quants.c") or command["file"].endswith("ggml-cpu/ggml-cpu.c"):
                return kernel_flags(command["command"])
    return None


def kernel_flags(command):
    """The flags of a compiler's command line that affect the code."""
    return " ".join(word for word in command.split() if word.startswith(("-O", "-m", "-f", "-std", "-DNDEBUG")))


def read(path):
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def say(text):
    print(text, file=sys.stderr, flush=True)


def version_of(program):
    """Describes metalworks: version, build, LLVM."""
    try:
        report = json.loads(run([program, "doctor", "--kernel", "put_token", "--json"], 600))
        parts = report["program"]
    except (Failure, ValueError, KeyError):
        parts = {}
    text = run([program, "--version"], 60).strip() + (", a debug build" if parts.get("build") == "debug" else "")
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return {
        "version": text,
        "commit": commit.stdout.strip() or "unknown",
        "compiler": f"LLVM {parts['llvm']}" if parts.get("llvm") else "unknown",
        "flags": os.environ.get("METALWORKS_CPU") or "kernels for this CPU, by its features",
    }


def synthesized(program, folder, model):
    """The file of a synthetic model."""
    path = folder / (model.replace(":", "-") + ".gguf")
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        say(f"synthesizing {path}")
        run([program, "synthesize", model, "-o", path], 3600)
    return path


def median(samples):
    return statistics.median(samples) if samples else None


def row_of(model, threads, depth, busy, ours, theirs):
    """A row of the table, from samples by phase."""
    row = {"model": model, "threads": threads, "depth": depth, "load": busy}
    for phase in PHASES:
        one, other = median(ours.get(phase)), median(theirs.get(phase))
        row[phase] = {
            "metalworks": one,
            "llama_cpp": other,
            "ratio": one / other if one and other else None,
            "metalworks_samples": ours.get(phase, []),
            "llama_cpp_samples": theirs.get(phase, []),
        }
    return row


def number(value):
    """`1,234`, `56.7` or a dash."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def ratio(value):
    if value is None:
        return "–"
    return f"{value:.2f}" if value >= 1 else f"**{value:.2f}**"


def circumstances(row):
    """`16 threads, after 4,096 tokens, 32 busy threads`"""
    parts = [f"{row['threads']} thread{'s' if row['threads'] != 1 else ''}"]
    if row["depth"]:
        parts.append(f"after {row['depth']:,} tokens")
    if row["load"]:
        parts.append(f"beside {row['load']} busy threads")
    return ", ".join(parts)


def markdown(report):
    """The report as Markdown."""
    machine, ours, theirs, options = (report[key] for key in ("machine", "metalworks", "llama_cpp", "options"))
    build = f", build {theirs['build_number']} ({theirs['build_commit']})" if theirs.get("build_number") else ""
    lines = [
        f"# metalworks and llama.cpp on {machine['cpu']}",
        "",
        f"{report['date']}; {machine['cpu']}, {machine['cores']} cores ({' '.join(machine['features']) or machine['architecture']}), "
        f"{machine['system']}.",
        "",
        f"- metalworks: {ours['version']}, commit {ours['commit']}; {ours['compiler']}, {ours['flags']}",
        f"- llama.cpp: {theirs['origin']}{build}; {theirs['compiler']}, `{theirs['flags']}`",
        *[f"- llama.cpp: {note}" for note in theirs["notes"]],
        "",
        f"Tokens per second, medians of {options['rounds']} × {options['repetitions']} runs in turns; prompts of "
        f"{options['prompt']:,} tokens, decoding of {options['decode']:,}. A ratio below 1 is bold: metalworks is slower.",
        "",
        "| model | circumstances | prompt: metalworks | llama.cpp | ratio | decode: metalworks | llama.cpp | ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for row in report["rows"]:
        cells = [row["model"], circumstances(row)]
        for phase in PHASES:
            cells += [number(row[phase]["metalworks"]), number(row[phase]["llama_cpp"]), ratio(row[phase]["ratio"])]
        lines.append("| " + " | ".join(cells) + " |")
    slower = [
        (row[phase]["ratio"], phase, row)
        for row in report["rows"]
        for phase in PHASES
        if row[phase]["ratio"] is not None and row[phase]["ratio"] < 1
    ]
    lines += ["", "## Where metalworks is slower", ""]
    if slower:
        slower.sort(key=lambda item: item[0])
        lines += [f"- {value:.2f}: {phase} of {row['model']}, {circumstances(row)}" for value, phase, row in slower]
    else:
        lines.append("Nowhere in this table.")
    if report["problems"]:
        lines += ["", "## Not measured", "", *[f"- {problem}" for problem in report["problems"]]]
    return "\n".join(lines) + "\n"


def write(path, text):
    """Replaces a file; its name always refers to a whole one."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.replace(path)


def arguments(words, cores):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    powers = [2**i for i in range(11) if 2**i < cores] + [cores]
    parser.add_argument("files", nargs="*", type=Path, metavar="MODEL.gguf", help="compare these files")
    parser.add_argument("--models", type=names, default=[], help="compare synthetic models of these shapes")
    parser.add_argument("--formats", type=names, default=["q4_0"], help="formats of the synthetic models [q4_0]")
    parser.add_argument("--threads", type=numbers, default=powers, help="numbers of threads [powers of two, and all cores]")
    parser.add_argument("--prompt", type=int, default=512, help="tokens of a prompt; 0: none [512]")
    parser.add_argument("--decode", type=int, default=64, help="tokens to decode; 0: none [64]")
    parser.add_argument("--depth", type=numbers, default=[0], help="tokens before both [0]")
    parser.add_argument("--load", default="0", help="busy threads beside: 0,8 or 2x for twice the cores [0]")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of both programs [2]")
    parser.add_argument("--repetitions", type=int, default=3, help="measurements in a round [3]")
    parser.add_argument("--output", type=Path, help="write OUTPUT.md and OUTPUT.json")
    parser.add_argument("--folder", type=Path, default=virtual_environment.CACHE / "synthetic", help="folder of synthetic models")
    parser.add_argument("--remove", action="store_true", help="remove each synthetic model after its measurements")
    parser.add_argument("--llama-bench", type=Path, help="use this program instead of compiling it")
    parser.add_argument("--source", "--sdist", type=Path, help="compile llama.cpp from this archive")
    parser.add_argument("--cmake-option", action="append", default=[], help="add an option for cmake, such as -DGGML_BLAS=ON")
    parser.add_argument("--jobs", type=int, help="compile with this many processes")
    parser.add_argument("--timeout", type=int, default=1200, help="seconds for one run of a program [1200]")
    parser.add_argument("--time-limit", type=int, help="begin no row after this many seconds")
    options = parser.parse_args(words)
    try:
        options.load = [busy_threads(part, cores) for part in names(options.load)]
    except argparse.ArgumentTypeError as error:
        parser.error(f"argument --load: {error}")
    for path in [*options.files, options.llama_bench, options.source]:
        if path and not path.exists():
            parser.error(f"{path} does not exist")
    if not options.prompt and not options.decode:
        parser.error("nothing to measure: --prompt and --decode are 0")
    if 0 in options.threads:
        parser.error("argument --threads: at least one thread is needed")
    return options


def ours(program, options, path, threads, depth):
    counts = ["-p", options.prompt, "-n", options.decode, "-d", depth, "-t", threads, "-r", options.repetitions]
    context = ["-c", depth + max(options.prompt, options.decode) + 1]
    command = [program, "bench", "-m", path, "--device", "cpu", *counts, *context, "--json"]
    return parse_ours(run(command, options.timeout), options.prompt, options.decode)


def compare(program, llama, options, path, threads, depth):
    """Measures in turns; returns the samples of both by phase."""
    samples = {}, {}
    for _ in range(options.rounds):
        for measured, of_phase in zip(samples, (ours(program, options, path, threads, depth), llama.measure(path, threads, depth))):
            for phase, values in of_phase.items():
                measured.setdefault(phase, []).extend(values)
    return samples


def main():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    options = arguments(sys.argv[1:], cores)
    program = os.environ.get("METALWORKS", str(HERE.parent / "target/release/metalworks"))
    if not shutil.which(program):
        sys.exit(f"{program} does not exist: build it with 'make build', or name it in METALWORKS")
    begin = time.monotonic()
    cpu, flags = cpu_of(read("/proc/cpuinfo"))
    llama = LlamaCpp(options, flags)
    kinds = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_int8", "asimddp", "i8mm", "sve")
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": {
            "cpu": cpu,
            "cores": cores,
            "architecture": platform.machine(),
            "features": [kind for kind in kinds if kind in flags],
            "system": f"{platform.system()} {platform.release()}",
        },
        "metalworks": version_of(program),
        "llama_cpp": llama.description(),
        "options": {key: getattr(options, key) for key in ("prompt", "decode", "rounds", "repetitions")},
        "rows": [],
        "problems": [],
    }

    def save():
        report["llama_cpp"] = llama.description()
        if options.output:
            write(options.output.with_name(options.output.name + ".md"), markdown(report))
            write(options.output.with_name(options.output.name + ".json"), json.dumps(report, indent=1) + "\n")

    files = options.files or ([] if options.models else [pinned().model_file()])
    subjects = [(path.name, path) for path in files]
    subjects += [(f"{model}:{kind}", None) for model in options.models for kind in options.formats]
    for name, path in subjects:
        try:
            file = path or synthesized(program, options.folder, name)
        except Failure as failure:
            report["problems"].append(f"{name}: {failure}")
            continue
        for busy, depth, threads in ((b, d, t) for b in options.load for d in options.depth for t in options.threads):
            what = f"{name}, {circumstances({'threads': threads, 'depth': depth, 'load': busy})}"
            if options.time_limit and time.monotonic() - begin > options.time_limit:
                report["problems"].append(f"{what}: the time limit was reached")
                continue
            try:
                with load(busy):
                    row = row_of(name, threads, depth, busy, *compare(program, llama, options, file, threads, depth))
            except Failure as failure:
                report["problems"].append(f"{what}: {failure}")
                say(f"{what}: {failure}")
                continue
            report["rows"].append(row)
            one, other = row["prompt"], row["decode"]
            say(
                f"{what}: prompt {number(one['metalworks'])} / {number(one['llama_cpp'])} = {ratio(one['ratio'])}, "
                f"decode {number(other['metalworks'])} / {number(other['llama_cpp'])} = {ratio(other['ratio'])}"
            )
            save()
        if path is None and options.remove:
            file.unlink()
    save()
    print(markdown(report), end="")


if __name__ == "__main__":
    main()
