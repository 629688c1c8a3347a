#!/usr/bin/env python3
"""Generates reference tokens and rendered chat templates with other packages.

  scripts/tokenizer-reference.py references   write crates/inference/tests/data/{tokenizer,chat}, which are committed
  scripts/tokenizer-reference.py corpus       write large texts and their tokens, and conversations rendered with the
                                              templates of many models, into the cache, and print the folder

The packages (PACKAGES below) are installed into a virtual environment in the cache, not into the system's Python;
llama-cpp-python is compiled there, which takes some minutes once (PIP_FIND_LINKS may name a folder with a wheel).
Vocabularies and templates come from the sdist of llama-cpp-python, which pip downloads; SmolLM2 must be downloaded
(`metalworks pull smollm2`). Both are checked against their SHA-256, and not committed. The cache is
${METALWORKS_DOWNLOADS:-${XDG_CACHE_HOME:-$HOME/.cache}/metalworks}.
"""

import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

from virtual_environment import CACHE, enter

PACKAGES = {"tokenizers": "0.23.3", "sentencepiece": "0.2.2", "llama-cpp-python": "0.3.36", "jinja2": "3.1.6"}
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
MODEL_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SDIST = "llama_cpp_python-0.3.36.tar.gz"
SDIST_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
VOCABULARIES = ["gpt-2", "llama-bpe", "qwen2", "qwen35", "llama-spm"]

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/inference/tests/data/tokenizer"
CHAT = ROOT / "crates/inference/tests/data/chat"

# Regular expressions from the published tokenizers.
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = ENDINGS + r"|[^\r\n\p{L}\p{N}]?LETTERS+|DIGITS| ?[^\sNOT\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
GPT4O = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+END|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*END|DIGITS| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
EXPRESSIONS = {
    "gpt-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama-bpe": LLAMA3.replace("LETTERS", r"\p{L}").replace("DIGITS", r"\p{N}{1,3}").replace("NOT", r"\p{L}"),
    "qwen2": LLAMA3.replace("LETTERS", r"\p{L}").replace("DIGITS", r"\p{N}").replace("NOT", r"\p{L}"),
    "qwen35": LLAMA3.replace("LETTERS", r"[\p{L}\p{M}]").replace("DIGITS", r"\p{N}").replace("NOT", r"\p{L}\p{M}"),
    "gpt-4o": GPT4O.replace("END", ENDINGS + "?").replace("DIGITS", r"\p{N}{1,3}"),
    "tekken": GPT4O.replace("END", "").replace("DIGITS", r"\p{N}"),
}


def in_environment():
    """Runs this script again in its virtual environment, which other scripts share."""
    enter("tokenizer", PACKAGES)


def model_file():
    folder = os.environ.get("METALWORKS_MODELS") or CACHE / "models"
    path = Path(folder) / MODEL
    if not path.exists():
        sys.exit(f"{path} does not exist: run 'metalworks pull smollm2'")
    return checked(path, MODEL_SHA256)


def checked(path, sha256):
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        sys.exit(f"{path} is not the pinned file: its SHA-256 differs")
    return path


def vocabulary_files():
    folder = CACHE / "vocabularies"
    names = {name: folder / f"ggml-vocab-{name}.gguf" for name in VOCABULARIES}
    templates = folder / "templates"
    if not templates.exists() or not all(path.exists() for path in names.values()):
        templates.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as downloads:
            archive = CACHE / "corpus" / SDIST
            if not archive.exists():
                package = "llama-cpp-python==" + PACKAGES["llama-cpp-python"]
                options = ["--quiet", "--no-deps", "--no-binary", "llama-cpp-python", "--dest", downloads]
                subprocess.run([sys.executable, "-m", "pip", "download", *options, package], check=True)
                archive = Path(downloads) / SDIST
            with tarfile.open(checked(archive, SDIST_SHA256)) as sdist:
                for member in sdist:
                    path = Path(member.name)
                    if path.parent.name == "templates" and path.suffix == ".jinja":
                        (templates / path.name).write_bytes(sdist.extractfile(member).read())
                    if path.name in {vocabulary.name for vocabulary in names.values()}:
                        (folder / path.name).write_bytes(sdist.extractfile(member).read())
    return names


def metadata(path):
    """Returns the metadata of a GGUF file."""
    formats = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    with open(path, "rb") as file:

        def number(letter):
            return struct.unpack("<" + letter, file.read(struct.calcsize("<" + letter)))[0]

        def string():
            return file.read(number("Q")).decode()

        def value(kind):
            if kind == 8:
                return string()
            if kind == 9:
                kind, count = number("I"), number("Q")
                return [value(kind) for _ in range(count)]
            return number(formats[kind])

        assert file.read(4) == b"GGUF"
        number("I"), number("Q")
        return {string(): value(number("I")) for _ in range(number("Q"))}


def splitter(pre):
    """Returns the published pre-tokenizer, without the mapping of bytes to visible characters."""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Digits, Sequence, Split

    if pre == "smollm":
        return Sequence([Digits(individual_digits=True), splitter("gpt-2")])
    return Split(Regex(EXPRESSIONS[pre]), "isolated")


def byte_level_bpe(pre, tokens, merges, types):
    from tokenizers import AddedToken, Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel, Sequence

    ids = {token: id for id, token in enumerate(tokens)}
    pairs = [tuple(merge.split(" ")) for merge in merges]
    tokenizer = Tokenizer(BPE(ids, pairs, ignore_merges=pre == "llama-bpe"))
    tokenizer.pre_tokenizer = Sequence([splitter(pre), ByteLevel(add_prefix_space=False, use_regex=False)])
    for token, kind in zip(tokens, types):
        if kind == 3:
            tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False)])
        if kind == 4:
            tokenizer.add_tokens([AddedToken(token, special=False, normalized=False)])
    return tokenizer


# Frequent causes of bugs: runs of whitespace, digits, contractions, marks, scripts without spaces.
TEXTS = [
    "", " ", "  ", "   ", "\n", "\n\n", "\t", "\r\n", " \n ", "\n \n", "a", " a", "  a", "   a", "a ", "a  ", "\ta", "\n a", " \na",
    "Hello, world!", "Hello World", " Hello World!", "HELLO", "hello\nworld", "hello\n\n\nworld", "trailing spaces   \n  ",
    "I'm sure you've seen that they'll say it's what we'd want, don't you're?", "I'M SURE YOU'VE SEEN THEY'LL SAY IT'S", "'s's 's",
    "''''''", "rock'n'roll 'tis 'twas o'clock l'amour", "1", "12", "123", "1234", "1234567890", " 1 12 123 1234 12345", "3.14159 1,000,000",
    "x1y22z333", "a1 b2  c3   d4", "2024-01-31T23:59:59Z", "٣٤٥ १२३ Ⅷ ½ ² ①②③", "v1.2.3-rc.4+5", "0xDEADBEEF", "1  2   3    4",
    "fn main() {\n    println!(\"{}\", 1 + 2);\n}\n", "def f(x):\n\treturn x ** 2  # square\n", "a=b;c==d!=e<=f>=g&&h||i", "/* a */ // b",
    "https://example.org/path?query=1&other=two#part", "user@example.org", "C:\\Windows\\System32", "{\"key\": [1, 2.5, null, true]}",
    "<div class=\"a\">text</div>", "....", "...!!!???", "--- *** ___", "a...b", "wow!!! really?!", "$100 €50 £20 ¥3000", "50% of 7×6=42",
    "Ä Ö Ü ä ö ü ß", "naïve café déjà vu", "cafe\u0301 e\u0301\u0300 \u0301a", "Ελληνικά γράμματα", "Русский текст, ещё раз.", "עברית טקסט", "نص عربي مع تَشْكِيل",
    "हिन्दी में लिखा हुआ", "ภาษาไทยไม่มีช่องว่าง", "中文没有空格，标点不同。", "日本語のテキストとカタカナ。", "한국어 텍스트입니다.", "Tiếng Việt có dấu", "ქართული ენა", "አማርኛ ቋንቋ",
    "🦀", "🦀🦀🦀 crabs", "👨‍👩‍👧‍👦 family", "👍🏽 thumbs", "🇩🇪🇫🇷", "a🙂b", "✓✗→←", "∀x∈ℝ: x²≥0", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "zero\u200bwidth\u200djoin\u2060er", "soft\u00adhyphen",
    "nbsp\u00a0here \u00a0 \u2003em\u3000ideographic", "line\u2028sep\u2029para\u0085nel", "vertical\x0btab\x0cfeed", "bell\x07 esc\x1b[0m del\x7f", "nul\x00byte",
    "\ufeffbom", "\ue000private", "\U0010ffff", "\ufffd", "\u0378unassigned", "ſ 'ſ İı K Å", "ﬁ ﬂ ligatures", "１２３ ＡＢＣ full width",
    "<|im_start|>user\nHello<|im_end|>\n", "<|endoftext|>", "<|im_start", "<|im_end|><|im_end|>", "a<|im_end|>b", " <|im_end|> ", "<s>", "</s>", "<unk>", "[INST] hi [/INST]",
    "▁", "a▁b", "▁▁", "Ġ", "aĠb Ċ", "<0x0A>", "\\n\\t", "A" * 50, "ab" * 40, "a " * 30, " " * 40, "\n" * 30, "!" * 33, "é" * 30, "中" * 30,
]


def random_texts(count, seed, pieces):
    chance = random.Random(seed)
    palette = [
        " ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "'s", "'S", "'ll", "'LL", "'", "1", "23", "456", "٣", "½", "a", "B", "word", "The", "É", "ß", "и",
        "中", "語", "한", "ก", "\u0301", "\u093f", "!", "...", "-", "_", "(", ")", "🙂", "\u200d", "\u200b", "€", "<", "|", ">", "\x01", "\x7f", "\ufeff",
    ]
    return ["".join(chance.choice(palette) for _ in range(chance.randint(1, pieces))) for _ in range(count)]


def write(name, versions, folder=DATA, **values):
    """Writes one line per value, or per element of a list, for readable diffs."""
    made_by = {package: PACKAGES[package] for package in versions}

    def lines(value, indent):
        inner = indent + " "
        if isinstance(value, dict):
            items = [f"{inner}{json.dumps(key)}: {lines(item, inner)}" for key, item in value.items()]
            return "{\n" + ",\n".join(items) + f"\n{indent}" + "}"
        if isinstance(value, list) and value and isinstance(value[0], list):
            return "[\n" + ",\n".join(f"{inner}{json.dumps(item, separators=(',', ':'))}" for item in value) + f"\n{indent}]"
        return json.dumps(value, separators=(",", ":"))

    path = folder / name
    path.write_text(lines({"made_by": {"script": "scripts/tokenizer-reference.py", **made_by}, **values}, "") + "\n")
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")


def references():
    DATA.mkdir(parents=True, exist_ok=True)
    texts = TEXTS + random_texts(120, 1, 24)
    training = (ROOT / "LICENSE-APACHE").read_text().splitlines() + TEXTS
    write("texts.json", [], texts=[[text] for text in texts])
    words = {}
    for pre in ["gpt-2", "smollm", "llama-bpe", "qwen2", "qwen35", "gpt-4o", "tekken"]:
        split = splitter(pre)
        words[pre] = [[len(word.encode()) for word, _ in split.pre_tokenize_str(text)] for text in texts]
    write("words.json", ["tokenizers"], words=words)
    small_bpe(texts, training)
    small_sentencepiece(texts, training)
    smollm2(texts)
    chat()


def small_bpe(texts, training):
    from tokenizers import Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel
    from tokenizers.trainers import BpeTrainer

    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=900, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(training, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    merges = [" ".join(pair) for pair in model["merges"]]
    types = [3 if token in special else 1 for token in tokens]
    ids = {}
    for pre in ["gpt-2", "smollm", "llama-bpe", "qwen2"]:
        tokenizer = byte_level_bpe(pre, tokens, merges, types)
        ids[pre] = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    write("bpe.json", ["tokenizers"], tokens=tokens, types=types, merges=merges, ids=ids)


def small_sentencepiece(texts, training):
    import sentencepiece

    with tempfile.TemporaryDirectory() as folder:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(training), model_prefix=f"{folder}/small", model_type="bpe", vocab_size=900,
            byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
            character_coverage=0.98, minloglevel=2,
        )
        model = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/small.model")
    every = range(model.get_piece_size())
    kinds = [(model.is_unknown, 2), (model.is_control, 3), (model.is_unused, 5), (model.is_byte, 6)]
    types = [next((kind for test, kind in kinds if test(id)), 1) for id in every]
    write(
        "sentencepiece.json", ["sentencepiece"], tokens=[model.id_to_piece(id) for id in every], types=types,
        scores=[model.get_score(id) for id in every], ids=[model.encode(text) for text in texts],
    )


def smollm2(texts):
    import llama_cpp

    path = model_file()
    values = metadata(path)
    tokens, types = values["tokenizer.ggml.tokens"], values["tokenizer.ggml.token_type"]
    tokenizer = byte_level_bpe("smollm", tokens, values["tokenizer.ggml.merges"], types)
    model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    special = [model.tokenize(text.encode(), add_bos=False, special=True) for text in texts]
    plain = [model.tokenize(text.encode(), add_bos=False, special=False) for text in texts]
    theirs = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    differ = [text for text, a, b in zip(texts, special, theirs) if a != b]
    if differ:
        sys.exit(f"llama.cpp and tokenizers differ on {len(differ)} of {len(texts)} texts: {differ}")
    packages = ["llama-cpp-python", "tokenizers"]
    write("smollm2.json", packages, model=MODEL, sha256=MODEL_SHA256, ids={"parse_special": special, "plain": plain})


WEATHER = {
    "type": "function",
    "function": {
        "name": "weather", "description": "The weather & more, in \u201cMünchen\u201d <now>",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 1.5}}, "required": []},
    },
}
CALL = {"type": "function", "function": {"name": "weather", "arguments": {"city": "Zürich", "days": 3, "deep": {"a": [1, None, True]}}}}
USER = {"role": "user", "content": "Hello, who are you?"}
ANSWER = {"role": "assistant", "content": "\n<think>\nHm.\n</think>\n\nNobody.  \n"}
CONVERSATIONS = [
    {"messages": [USER], "add_generation_prompt": True},
    {"messages": [USER], "add_generation_prompt": False},
    {"messages": [{"role": "system", "content": " Be brief. \n"}, USER], "add_generation_prompt": True},
    {"messages": [USER, ANSWER, {"role": "user", "content": "日本語 <b>'quotes' & \"more\"</b> 🦀"}], "add_generation_prompt": True},
    {"messages": [USER, ANSWER], "add_generation_prompt": False},
    {"messages": [USER, {"role": "assistant", "content": "Yes."}, USER, ANSWER], "add_generation_prompt": False},
    {"messages": [USER], "add_generation_prompt": True, "enable_thinking": False},
    {"messages": [USER], "add_generation_prompt": True, "enable_thinking": True, "date_string": "1 May 2020"},
    {"messages": [USER], "add_generation_prompt": True, "tools": [WEATHER, WEATHER]},
    {"messages": [{"role": "system", "content": "S"}, USER, {"role": "assistant", "content": "", "tool_calls": [CALL]},
                  {"role": "tool", "name": "weather", "content": "{\"rain\": 0.5}"}], "add_generation_prompt": True, "tools": [WEATHER]},
    {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": [CALL, CALL]}], "add_generation_prompt": True},
    {"messages": [USER, USER], "add_generation_prompt": True},
    {"messages": [{"role": "user", "content": ""}], "add_generation_prompt": True},
    {"messages": [USER, {"role": "assistant", "content": {"a": 1, "b": "two", "c": 2.5}}], "add_generation_prompt": False},
]


def render(template, conversation):
    """Renders a conversation, or returns the error, with Jinja as `transformers` configures it."""
    import datetime

    import jinja2
    import jinja2.ext
    import jinja2.nodes
    import jinja2.sandbox

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.If(jinja2.nodes.Const(True), body, [], []).set_lineno(line)

    class Raised(Exception):
        pass

    def raise_exception(message):
        raise Raised(message)

    def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    now = datetime.datetime(2025, 3, 4, 5, 6, 7, tzinfo=datetime.timezone.utc)
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = now.strftime
    variables = {"tools": None, "documents": None, "bos_token": "<s>", "eos_token": "</s>", **conversation}
    try:
        return {"text": environment.from_string(template).render(**variables)}
    except Raised as error:
        return {"raised": str(error)}
    except Exception as error:
        return {"error": str(error)}


def chat():
    templates = {path.name: path.read_text() for path in sorted(CHAT.glob("*.jinja"))}
    templates["SmolLM2"] = metadata(model_file())["tokenizer.chat_template"]
    rendered = {name: [[render(text, conversation)] for conversation in CONVERSATIONS] for name, text in templates.items()}
    conversations = [[conversation] for conversation in CONVERSATIONS]
    write("rendered.json", ["jinja2"], CHAT, conversations=conversations, rendered=rendered)


def corpus_texts():
    """Returns large texts: files of this repository, Python and Rust, and random characters."""
    import encodings

    def joined(paths, limit):
        text = ""
        for path in sorted(paths):
            text += path.read_text(errors="replace")
            if len(text) > limit:
                break
        return text[:limit]

    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
    chance = random.Random(7)
    scalar = lambda limit: chr(chance.choice([i for i in [chance.randrange(limit)] if not 0xD800 <= i < 0xE000] or [32]))
    plain = [range(0x20), range(0x20, 0x3400), range(0x4DB0, 0x4E10), range(0x9FE0, 0xAC10), range(0xD790, 0xD800), range(0xE000, 0xE010), range(0xF8F0, 0x20010)]
    characters = [chr(point) for points in plain for point in points]
    return {
        "documents": joined([ROOT / name for name in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"]], 400_000),
        "rust": joined((ROOT / "crates").glob("*/src/**/*.rs"), 600_000),
        "python": joined(Path(encodings.__file__).parent.parent.glob("*.py"), 600_000),
        "licenses": joined(Path(sysroot).glob("share/doc/**/*.html") if sysroot else [], 300_000),
        # llama.cpp treats </s> as a special token even in models where it is not.
        "scripts": "\n".join(text for text in TEXTS * 20 if text != "</s>"),
        "mixed": "\n".join(random_texts(4000, 3, 60)),
        "random": "".join(scalar(0x30000) for _ in range(60_000)),
        "latin": "".join(chr(chance.randrange(0x20, 0x250)) for _ in range(100_000)),
        "every-character": "".join(f"x{character}y{character} " for character in characters),
        "no-spaces": "".join(chance.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(1 << 20)),
    }


def corpus():
    import llama_cpp

    folder = CACHE / "tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    texts = {name: text for name, text in corpus_texts().items() if text}
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, newline="")
    entries = []

    def add(model, by, name, encode):
        text = texts[name]
        times = []  # CPU time: other processes may use the CPU too
        for _ in range(3):
            start = time.process_time()
            ids = encode(text)
            times.append(time.process_time() - start)
        file = f"{model.stem}-{by}-{name}.ids"
        (folder / file).write_bytes(struct.pack(f"<{len(ids)}I", *ids))
        entries.append({"model": str(model), "by": by, "text": name, "ids": file, "seconds": min(times)})

    for pre, path in {"smollm": model_file(), **vocabulary_files()}.items():
        values = metadata(path)
        tokens, types = values["tokenizer.ggml.tokens"], values["tokenizer.ggml.token_type"]
        llama = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
        theirs = values["tokenizer.ggml.model"] == "gpt2" and byte_level_bpe(pre, tokens, values["tokenizer.ggml.merges"], types)
        for name in texts:
            # llama.cpp's queue of strings is slow on long words.
            if name != "no-spaces":
                add(path, "llama.cpp", name, lambda text: llama.tokenize(text.encode(), add_bos=False, special=True))
            if theirs:
                add(path, "tokenizers", name, lambda text: theirs.encode(text, add_special_tokens=False).ids)
        print(path.name, file=sys.stderr)
    templates = {path.name: path.read_text() for path in sorted((CACHE / "vocabularies/templates").glob("*.jinja"))}
    rendered = {name: [render(text, conversation) for conversation in CONVERSATIONS] for name, text in templates.items()}
    (folder / "chat.json").write_text(json.dumps({"templates": templates, "rendered": rendered}))
    (folder / "manifest.json").write_text(json.dumps({"made_by": PACKAGES, "smollm2": str(model_file()), "entries": entries}, indent=1))
    print(folder)


if __name__ == "__main__":
    commands = {"references": references, "corpus": corpus}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    in_environment()
    commands[sys.argv[1]]()
