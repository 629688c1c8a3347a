# Needs Rust, and python3 for the corpus of shaders. Start with make demo and make test.

# A new installation of Rust may not be in PATH yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
MAKEFLAGS += --no-print-directory
CARGO ?= cargo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
METALWORKS = $(TARGET_DIR)/release/metalworks
EXAMPLES = $(sort $(wildcard examples/*.metal))
# On a Mac, Metal compiles kernels, and LLVM 22 is not needed. Elsewhere every default build needs it.
ifeq ($(shell uname),Darwin)
LLVM =
LLVM14 =
CLANG =
# Without a shell, macOS make looks for programs in the PATH that it was started with.
SHELL = /bin/bash
else
LLVM = llvm
LLVM14 = llvm14
CLANG = clang
endif
# Shell condition: true if kernels can be compiled.
CAN_COMPILE = { test -z "$(LLVM)" || test -n "$$LLVM_SYS_221_PREFIX" || test -x /usr/lib/llvm-22/bin/llvm-config; }
FOR_MAC = --locked --workspace --target aarch64-apple-darwin --target-dir $(TARGET_DIR)/mac
LLVM_PACKAGES = llvm-22-dev libpolly-22-dev zlib1g-dev libzstd-dev libffi-dev libxml2-dev

.PHONY: help demo demo-exec demo-run test fuzz corpus models formats llama-logits validated-kernels validated-thirdparty tunings air thirdparty mlx mlx-agreement torch tokenizer llvm llvm14 clang fmt build fmt-check clippy mac-check mac-test package package-test crates oldest-rust metal-on-linux metal-on-linux-full metal-cpp candle-on-linux llama-on-linux unit-test without-compiler doc cargo

help: ## Print this
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "%-27s %s\n", $$1, $$2 }'

# Without LLVM, and if it cannot be installed, the demo leaves out running kernels.
demo: cargo ## Check the examples, print their interface, run them, run a model
	@$(if $(LLVM),$(MAKE) llvm || true,true)
	$(CARGO) build --release -p metalworks-cli $$($(CAN_COMPILE) || echo --no-default-features)
	@printf '\n=== metalworks check: what is wrong with these shaders? ===\n\n'
	$(METALWORKS) check --time $(EXAMPLES)
	@for file in $(EXAMPLES); do \
	  printf '\n=== metalworks reflect %s: what is to be bound? ===\n\n' $$file; \
	  $(METALWORKS) reflect $$file || exit; \
	done
	@if $(CAN_COMPILE); then $(MAKE) demo-exec demo-run; else printf '\nRunning kernels needs LLVM 22, which is not here.\n'; fi

demo-exec:
	@printf '\n=== metalworks exec: what do they compute, and how fast? ===\n\n'
	$(METALWORKS) exec examples/add_arrays.metal add_arrays --threads 1024 --arg a=iota:f32:1024 \
	  --arg b=full:f32:1024:0.5 --arg result=zeros:f32:1024 --print result
	@echo
	$(METALWORKS) exec examples/gemv.metal gemv --const K=u32:4096 --const USE_BIAS=bool:true --grid 1024 --threadgroup 32 \
	  --arg weights=rand:f32:1024x4096:1 --arg x=rand:f32:4096:2 --arg bias=ones:f32:1024 --arg y=zeros:f32:1024 \
	  --print y --repeat 100 --time

# Fails with an error without a network and without the model.
demo-run:
	@printf '\n=== metalworks pull: get a model of 98 MB, unless it is there ===\n\n'
	$(METALWORKS) pull smollm2
	@printf '\n=== metalworks run: run it (the first run compiles the kernels) ===\n\n'
	$(METALWORKS) run --temp 0 -n 200 --stats -p 'What is the capital of France, and what is it known for?'

# Builds the programs as tests of the workspace do. `cargo build` selects other features, and would compile them once more.
TESTED_BINARIES = $(CARGO) test --workspace --no-run --test tour

# In order, the quickest to fail first; tests with downloads come last.
# Most recipes select the whole workspace and name a test: packages by themselves have other features, and cargo would compile
# the crates below them once more.
test: ## Run all checks and tests
	$(MAKE) fmt-check
	$(MAKE) clippy
	$(MAKE) $(if $(LLVM),mac-check,mac-test)
	$(if $(LLVM),$(MAKE) unit-test)
	$(if $(LLVM),$(MAKE) without-compiler)
	$(MAKE) doc
	$(MAKE) corpus
	$(MAKE) models
	$(if $(LLVM),$(MAKE) metal-on-linux)
	$(if $(LLVM),$(MAKE) air)
	$(if $(LLVM),$(MAKE) thirdparty)
	$(if $(LLVM),$(MAKE) mlx)
	$(if $(LLVM),METALWORKS_CASE=softmax $(MAKE) validated-thirdparty MLX_FAMILY=softmax)
	$(if $(LLVM),$(MAKE) metal-cpp)
	$(if $(LLVM),if scripts/aarch64.sh --ready; then $(MAKE) aarch64-quick; fi)

# Not part of `make test`, whose tests have fixed cases. The same numbers give the same inputs.
fuzz: cargo $(LLVM) ## Give mutated inputs to all readers of files, and to chat templates
	$(CARGO) run --release -p metalworks-cli --example fuzz -- all $(or $(METALWORKS_FUZZ_CASES),10000)

corpus: cargo ## Download shaders of other projects and check them
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" \
	  $(CARGO) test --workspace --test corpus -- --ignored --nocapture

# Without a network, all but the tests of pulling work if the model is already downloaded.
models: cargo ## Test every kernel, download the default model, and compare its results with llama.cpp
	$(TESTED_BINARIES)
	$(TARGET_DIR)/debug/metalworks pull smollm2
	$(CARGO) test --workspace --test pull --test tour --test doctor --test gguf --test model -- \
	  --ignored --nocapture

# Not part of `make test`: it takes some minutes.
formats: cargo $(LLVM) ## Convert the default model to every file type, and print sizes and perplexities
	$(CARGO) build --release -p metalworks-cli
	$(METALWORKS) pull smollm2
	scripts/formats.sh $(METALWORKS)

# Not part of `make test`: the first run compiles llama.cpp, which takes some minutes. MODELS names shapes, or models of
# `metalworks synthesize`.
llama-logits: cargo $(LLVM) ## Compare the logits of tiny models of every architecture with llama.cpp
	scripts/llama-reference.py $(MODELS)

# Every 25th kernel is compiled to PTX; scripts/ptxas.sh compiles all, and those of the shader library.
air: cargo $(LLVM) $(LLVM14) ## Compile shaders of other projects to AIR, and read Apple's library
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" METALWORKS_STEP=25 \
	  $(CARGO) test -p metalworks-air -- --ignored --nocapture --skip all_kernels_compile

# Not part of `make test`, which runs the smallest case of every operation and type (crates/inference/tests/selftest.rs).
validated-kernels: cargo $(LLVM) ## Run every kernel of the shader library under shader validation
	$(TESTED_BINARIES)
	METALWORKS_CACHE=off METALWORKS_VALIDATION=shader $(TARGET_DIR)/debug/metalworks doctor --device cpu --no-speed

# Not part of `make test`, which runs every ninth case.
tunings: cargo $(LLVM) ## Run every kernel of the shader library with the tunings for GPUs
	$(CARGO) test --workspace --test selftest -- --ignored tunings_for_gpus

# All cases take about an hour. METALWORKS_CASE and MLX_FAMILY choose some; `make test` runs softmax.
validated-thirdparty: cargo $(LLVM) ## Run kernels of other projects and of Apple's library under shader validation
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" scripts/validated.sh \
	  $(CARGO) test --workspace --test thirdparty -- --ignored --nocapture
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" scripts/validated.sh \
	  $(CARGO) test --workspace --test mlx $(MLX_FAMILY) -- --ignored --nocapture --skip agree

thirdparty: cargo $(LLVM) ## Run kernels of other projects and compare their results
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" \
	  $(CARGO) test --workspace --test thirdparty -- --ignored --nocapture

# Every 163rd function of the library must compile; docs/mlx-sweep.md is about all of them. A sample is compared with the
# same kernels compiled here; make mlx-agreement compares all.
mlx: cargo $(LLVM) ## Run kernels compiled by Apple's compiler, and compile a sample of 106
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" \
	  $(CARGO) test --workspace --test mlx -- --ignored --nocapture --skip agree_others
	$(CARGO) build --workspace --example sweep
	$(TARGET_DIR)/debug/examples/sweep "$$(scripts/corpus.sh --dir)/mlx/mlx.metallib" --every 163 --at-least 106

# Not part of `make test`: the wheel has 139 MB. Of the 38,018 kernels, every 200th must compile for the CPU, except those with
# Metal 4's tensors.
torch: cargo $(LLVM) ## Compile a sample of PyTorch's kernels, by Apple's compiler for Metal 3.1 and 4, and its headers
	for version in 3.1 4.0; do \
	  $(CARGO) run -p metalworks-air --example sweep -- \
	    "$$(scripts/corpus.sh torch)/torch-$$version.metallib" --every 200 --at-least 85 || exit; \
	done
	$(CARGO) build -p metalworks-cli
	scripts/torch-headers.sh $(TARGET_DIR)/debug/metalworks "$$(scripts/corpus.sh torch)"

# Not part of `make test`: it takes hours. Results are kept, and a run that was stopped goes on where it was.
# `make mlx` leaves out `agree_others`: no reference of ours checks the arguments of these kernels.
mlx-agreement: cargo $(LLVM) ## Compare all of MLX's kernels, from source and from Apple's library
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" MLX_ONLY= MLX_RESULTS="$(abspath $(TARGET_DIR))/mlx-agreement.tsv" \
	  $(CARGO) test --workspace --test mlx agree -- --ignored --nocapture

# Not part of `make test`: the first run compiles llama.cpp, which takes some minutes.
tokenizer: cargo $(LLVM) ## Compare tokens and chat templates with llama.cpp, tokenizers and Jinja
	$(CARGO) run -q -p metalworks-cli -- pull smollm2
	METALWORKS_TOKENIZER_CORPUS="$$(scripts/tokenizer-reference.py corpus)" \
	  $(CARGO) test --workspace --test tokenizer --test chat -- --ignored --nocapture

# Installs LLVM 22 for the crate `air`, unless LLVM_SYS_221_PREFIX names its folder.
llvm:
	@test -n "$$LLVM_SYS_221_PREFIX" || test -x /usr/lib/llvm-22/bin/llvm-config || { \
	  echo 'installing LLVM 22'; \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(LLVM_PACKAGES) >/dev/null || { \
	    echo 'cannot install LLVM 22: install $(LLVM_PACKAGES), or set LLVM_SYS_221_PREFIX' >&2; exit 1; }; }

# Installs LLVM 14, which is of the age of Apple's tools and must read our libraries, unless METALWORKS_LLVM14 names the
# folder of its programs.
llvm14:
	@test -n "$$METALWORKS_LLVM14" || test -x /usr/lib/llvm-14/bin/opt || { \
	  echo 'installing LLVM 14'; \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq llvm-14 >/dev/null || { \
	    echo 'cannot install LLVM 14: install llvm-14, or set METALWORKS_LLVM14' >&2; exit 1; }; }

# Installs clang 22, a second front end for the shaders, unless the variables name it. (A Mac has Apple's compiler.)
clang:
	@test -n "$$METALWORKS_CLANG" || test -x "$${LLVM_SYS_221_PREFIX:-/usr/lib/llvm-22}/bin/clang" || command -v clang-22 >/dev/null || { \
	  echo 'installing clang 22'; \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq clang-22 >/dev/null || { \
	    echo 'cannot install clang 22: install clang-22, or set METALWORKS_CLANG' >&2; exit 1; }; }

# The build declares the modules of operations, which cargo fmt does not see.
OPERATIONS = $(wildcard crates/inference/src/metal/operations/*.rs)
fmt: cargo ## Format the sources
	$(CARGO) fmt --all
	rustfmt --edition 2024 $(OPERATIONS)

build: cargo ## Build the program in release mode
	$(CARGO) build --release -p metalworks-cli

# Not part of `make test`: a build of its own, with the profile `dist`. docs/install.md is about the packages.
package: cargo $(LLVM) ## Package the program with LLVM inside: .tar.xz, .deb, wheel
	scripts/package.sh

package-test: package build ## Install the packages and run the program where there is only glibc
	scripts/package-test.sh

# Not part of `make test`, which has a quick check of the manifests: each crate is compiled once more. Without
# `--allow-dirty`, uncommitted changes are an error.
crates: cargo $(LLVM) ## Package all crates and build each from its package
	$(CARGO) package --workspace --locked

# Not part of `make test`: a build of its own. `rust-version` in Cargo.toml names the version.
OLDEST_RUST = $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
oldest-rust: cargo $(LLVM) ## Check the code with the oldest Rust that is supported
	@if rustc --version | grep -q '^rustc $(subst .,\.,$(OLDEST_RUST))\(\.[0-9]*\)\? '; then \
	  echo 'the Rust in PATH is $(OLDEST_RUST): every build checks it'; \
	  $(CARGO) check --workspace --locked; \
	else \
	  rustup toolchain install $(OLDEST_RUST) --profile minimal --no-self-update && \
	    CARGO_TARGET_DIR=$(abspath $(TARGET_DIR))/oldest-rust $(CARGO) +$(OLDEST_RUST) check --workspace --locked; \
	fi

fmt-check: cargo
	$(CARGO) fmt --all --check
	rustfmt --edition 2024 --check $(OPERATIONS)

# Libraries of the shaders are not compiled for it: clippy has build scripts of its own.
clippy: cargo $(LLVM)
	METALWORKS_METALLIB=0 $(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy -p metalworks-compute -p metalworks-cli --no-default-features -- -D warnings

# Build scripts run here, and have little to do: optimizing `msl` and `air` for them takes longer than it saves.
ON_MAC = CARGO_PROFILE_DEV_BUILD_OVERRIDE_OPT_LEVEL=0 CARGO_PROFILE_DEV_BUILD_OVERRIDE_DEBUG=false scripts/mac-toolchain.sh

# Checks the code for macOS with default features, and with LLVM for the CPU back end. Does not link. Of the documentation, that
# of crates with code for macOS: `make doc` has the others.
mac-check: cargo $(LLVM) ## Check the code for macOS, from Linux
	$(ON_MAC) cargo clippy $(FOR_MAC) --all-targets -- -D warnings
	$(ON_MAC) cargo clippy $(FOR_MAC) --all-targets --features cpu -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(ON_MAC) cargo doc $(filter-out --workspace,$(FOR_MAC)) --no-deps \
	  -p metalworks-compute -p metalworks-inference -p metalworks-cli

# The framework runs kernels on the CPU, and is a debug layer: a broken rule ends a test, and so does an object that is left
# at the end: what tests share, they drop when the process ends. The part in `make test` sends nearly every message of the
# back end (METALWORKS_MESSAGES lists them); the framework refuses dynamic libraries and captures.
# All three packages are selected each time: dependencies of fewer have other features, and crates would be compiled twice.
ON_LINUX = scripts/metal-on-linux.sh
TEST_ON_LINUX = $(ON_LINUX) test -p metalworks-air -p metalworks-compute -p metalworks-inference
metal-on-linux: cargo $(LLVM) ## Run the Metal back end on Linux, over the framework
	METALWORKS_LEAKS=fail $(TEST_ON_LINUX) --test every_device --test metal_pipelines --test metal_api \
	  --test devices --test environment
	METALWORKS_LEAKS=fail METALWORKS_DEVICE=metal $(TEST_ON_LINUX) --test semantics
	METALWORKS_LEAKS=fail METALWORKS_DEVICE=metal $(TEST_ON_LINUX) --test kernels -- softmax
	METALWORKS_LEAKS=fail METALWORKS_DEVICE=metal $(TEST_ON_LINUX) --test model -- \
	  plan::prefill_and plan::a_truncated
	METALWORKS_BINDINGS="$$(ls -d $(abspath $(TARGET_DIR))/metal-on-linux/objc2-metal-*)" \
	  $(CARGO) test --workspace --lib every_selector_of_metal -- --ignored

# Not part of `make test`: it takes a quarter of an hour. Of `inference` alone: tests of `compute` with the same names are about
# the CPU.
metal-on-linux-full: metal-on-linux ## The same with all tests of kernels and models, and doctor
	METALWORKS_LEAKS=fail METALWORKS_DEVICE=metal $(ON_LINUX) test -p metalworks-inference --test device --test kernels \
	  --test model --test selftest --test transformers
	METALWORKS_LEAKS=fail $(ON_LINUX) run -q -p metalworks-cli -- doctor --device metal --no-speed

# AArch64 code under qemu, where LLVM runs, too. qemu is some ten times slower than a processor: all tests take about half an
# hour, the quick part, which is in `make test`, three minutes, most of them for the build. Of the random programs, which are
# compiled in batches of 32 elsewhere, there are four.
.PHONY: aarch64 aarch64-quick
aarch64: cargo $(LLVM) $(CLANG) ## Run the semantic tests on AArch64, with qemu
	METALWORKS_CACHE=off scripts/aarch64.sh test -p metalworks-compute --test semantics -- --skip random_programs_match
	METALWORKS_CACHE=off METALWORKS_RANDOM=4 scripts/aarch64.sh test -p metalworks-compute --test semantics -- \
	  random_programs_match

aarch64-quick: cargo $(LLVM) $(CLANG) ## Run some of them
	METALWORKS_CACHE=off scripts/aarch64.sh test -p metalworks-compute --test semantics -- \
	  address_spaces::access barriers::device integers::division integers::int_ integers::wrap simdgroups::shuffles threads::

# Programs of others over the framework. Not part of `make test`: the last two build candle and llama.cpp.
metal-cpp: cargo $(LLVM) $(CLANG) ## Run a program in C++ that uses metal-cpp on Linux
	scripts/corpus.sh
	METALWORKS_METAL_CPP="$$(scripts/corpus.sh --dir)/metal-cpp" \
	  $(CARGO) test --workspace --test programs -- --include-ignored

candle-on-linux: cargo $(LLVM) ## Run candle's own Metal tests on Linux
	scripts/candle-on-linux.sh

llama-on-linux: cargo $(LLVM) $(CLANG) ## Run llama.cpp's Metal backend on Linux: an answer, test-backend-ops
	scripts/llama-on-linux.sh answer
	scripts/llama-on-linux.sh test

# Apple's compiler on the shaders, the test suites, and every kernel on the GPU, with and without Metal's validation.
mac-test: cargo ## Test on a Mac: shaders, kernels on the GPU, validation
	scripts/mac-test.sh

unit-test: cargo $(LLVM) $(CLANG)
	cd scripts && python3 -B -m unittest -q vs_llama_cpp_test
	$(CARGO) test --workspace

# Archives of a build with the compiler, run by a build without it.
ARCHIVES = $(abspath $(TARGET_DIR))/without-compiler
without-compiler: cargo $(LLVM)
	rm -rf $(ARCHIVES) && mkdir -p $(ARCHIVES)
	$(TESTED_BINARIES)
	$(TARGET_DIR)/debug/metalworks compile examples/add_arrays.metal --target cpu -o $(ARCHIVES)/add.mwarchive
	$(TARGET_DIR)/debug/metalworks compile examples/add_arrays.metal -o $(ARCHIVES)/v3.mwarchive \
	  --target cpu$$(test "$$(uname -m)" = x86_64 && echo :x86-64-v3)
	METALWORKS_CACHE=$(ARCHIVES)/pipelines $(TARGET_DIR)/debug/metalworks exec examples/add_arrays.metal add_arrays \
	  --threads 1000 --arg a=iota:f32:1000 --arg b=ones:f32:1000 --arg result=zeros:f32:1000
	METALWORKS_TEST_ARCHIVES=$(ARCHIVES) $(CARGO) test -p metalworks-compute --no-default-features --lib \
	  --test libraries --test without_compiler -- --include-ignored

doc: cargo $(LLVM)
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps

cargo:
	@command -v $(CARGO) >/dev/null || { echo 'cargo is not in PATH: install Rust first' >&2; exit 1; }
