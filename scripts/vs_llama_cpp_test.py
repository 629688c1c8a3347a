"""Tests of scripts/vs-llama-cpp.py: what it reads and what it writes."""

import argparse
import importlib.util
import json
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("vs_llama_cpp", HERE / "vs-llama-cpp.py")
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)

OURS = {"tests": [{"test": "pp512 @ 8", "samples": [100.0, 300.0]}, {"test": "tg64 @ 8", "samples": [20.0]}]}
THEIRS = [
    {"n_prompt": 512, "n_gen": 0, "samples_ts": [50.0, 150.0], "build_commit": "abc", "build_number": 7},
    {"n_prompt": 0, "n_gen": 64, "samples_ts": [40.0], "build_commit": "abc", "build_number": 7},
]
CPUINFO = """processor\t: 0
model name\t: A CPU: of tests
flags\t\t: fpu avx2 avx512f avx512_vnni amx_tile

processor\t: 1
model name\t: another
flags\t\t: fpu
"""


def report(rows, problems=()):
    return {
        "date": "2026-01-02 03:04 UTC",
        "machine": {"cpu": "A CPU", "cores": 2, "architecture": "x86_64", "features": ["avx2"], "system": "Linux 6"},
        "metalworks": {"version": "metalworks 0.1.0", "commit": "abc", "compiler": "LLVM 22", "flags": "for this CPU"},
        "llama_cpp": {"origin": "given", "compiler": "gcc 12", "flags": "-O3 -march=native", "notes": ["a note"]},
        "options": {"prompt": 512, "decode": 64, "rounds": 2, "repetitions": 3},
        "rows": rows,
        "problems": list(problems),
    }


class Reading(unittest.TestCase):
    def test_lists(self):
        self.assertEqual(script.numbers("1,2, 16"), [1, 2, 16])
        self.assertEqual(script.names("q4_0, q8_0,"), ["q4_0", "q8_0"])
        for wrong in ("", "1,x", "-1"):
            with self.assertRaises(argparse.ArgumentTypeError):
                script.numbers(wrong)

    def test_busy_threads(self):
        self.assertEqual([script.busy_threads(text, 16) for text in ("0", "8", "2x", "0.5x")], [0, 8, 32, 8])
        for wrong in ("x", "two", "-1"):
            with self.assertRaises(argparse.ArgumentTypeError):
                script.busy_threads(wrong, 16)

    def test_arguments(self):
        options = script.arguments(["--models", "llama-1b", "--formats", "q4_0,f16", "--load", "0,2x"], 6)
        self.assertEqual((options.formats, options.load, options.threads), (["q4_0", "f16"], [0, 12], [1, 2, 4, 6]))

    def test_cpu(self):
        name, flags = script.cpu_of(CPUINFO)
        self.assertEqual(name, "A CPU: of tests")
        self.assertIn("amx_tile", flags)
        without = script.native_without_amx(flags)
        self.assertIn("-DGGML_NATIVE=OFF", without)
        self.assertIn("-DGGML_AVX512_VNNI=ON", without)
        self.assertIn("-DGGML_AVX512_BF16=OFF", without)
        self.assertFalse(any("AMX" in option for option in without))

    def test_samples(self):
        self.assertEqual(script.parse_ours(json.dumps(OURS), 512, 64), {"prompt": [100.0, 300.0], "decode": [20.0]})
        samples, build = script.parse_theirs(json.dumps(THEIRS), 512, 64)
        self.assertEqual(samples, {"prompt": [50.0, 150.0], "decode": [40.0]})
        self.assertEqual(build, {"build_commit": "abc", "build_number": 7})
        with self.assertRaises(script.Failure):
            script.parse_theirs(json.dumps(THEIRS[:1]), 512, 64)
        with self.assertRaises(script.Failure):
            script.parse_ours(json.dumps(OURS), 512, 0)

    def test_kernel_flags(self):
        command = "/usr/bin/gcc -DGGML_X -DNDEBUG -I/x -O3 -DNDEBUG -std=gnu11 -march=native -o x.o -c quants.c"
        self.assertEqual(script.kernel_flags(command), "-DNDEBUG -O3 -DNDEBUG -std=gnu11 -march=native")

    def test_failures_of_programs(self):
        for command, message in [
            (["false"], "exit status 1: no message"),
            (["sh", "-c", "echo one; echo two >&2; exit 3"], "exit status 3: two"),
            (["sh", "-c", "kill -ILL $$"], "ended by SIGILL"),
            (["/no/such/program"], "No such file"),
        ]:
            with self.assertRaisesRegex(script.Failure, message):
                script.run(command, 60)
        self.assertEqual(script.run(["echo", "x"], 60), "x\n")

    def test_finds_llama_cpp_in_an_archive(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder) / "sdist-1/vendor/llama.cpp/tools/llama-bench"
            tool.mkdir(parents=True)
            (tool / "CMakeLists.txt").touch()
            self.assertEqual(script.llama_folder(Path(folder)), Path(folder) / "sdist-1/vendor/llama.cpp")


class Writing(unittest.TestCase):
    def test_row(self):
        row = script.row_of("m", 4, 0, 0, {"prompt": [100.0, 300.0], "decode": [20.0]}, {"prompt": [100.0], "decode": [40.0]})
        self.assertEqual((row["prompt"]["metalworks"], row["prompt"]["ratio"], row["decode"]["ratio"]), (200.0, 2.0, 0.5))
        alone = script.row_of("m", 4, 0, 0, {"decode": [20.0]}, {})
        self.assertEqual((alone["prompt"]["metalworks"], alone["decode"]["ratio"]), (None, None))

    def test_markdown(self):
        fast = script.row_of("fast", 1, 0, 0, {"prompt": [1234.4], "decode": [20.0]}, {"prompt": [617.2], "decode": [10.0]})
        slow = script.row_of("slow", 16, 4096, 32, {"prompt": [300.0], "decode": [9.0]}, {"prompt": [100.0], "decode": [12.0]})
        text = script.markdown(report([fast, slow], ["8b: no room"]))
        self.assertIn("| fast | 1 thread | 1,234 | 617.2 | 2.00 | 20.0 | 10.0 | 2.00 |", text)
        self.assertIn("| slow | 16 threads, after 4,096 tokens, beside 32 busy threads | 300.0 |", text)
        self.assertIn("- 0.75: decode of slow, 16 threads, after 4,096 tokens, beside 32 busy threads\n", text)
        self.assertIn("- 8b: no room\n", text)
        self.assertIn("gcc 12, `-O3 -march=native`", text)
        self.assertIn("- llama.cpp: a note\n", text)
        self.assertIn("Nowhere in this table.", script.markdown(report([fast])))
        self.assertNotIn("Not measured", script.markdown(report([fast])))

    def test_files_are_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "comparison.md"
            script.write(path, "one")
            script.write(path, "two")
            self.assertEqual(path.read_text(), "two")
            self.assertEqual(len(list(Path(folder).iterdir())), 1)


if __name__ == "__main__":
    unittest.main()
