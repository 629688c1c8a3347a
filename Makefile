# make demo, make test: all that is needed is Rust, python3 (for the corpus of shaders) and this file.

# A Rust that was just installed is not always in PATH yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
MAKEFLAGS += --no-print-directory
CARGO ?= cargo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
METALWORKS = $(TARGET_DIR)/release/metalworks
EXAMPLES = $(sort $(wildcard examples/*.metal))

.PHONY: help demo test corpus fmt build fmt-check clippy unit-test doc cargo

help: ## Print this
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "%-16s %s\n", $$1, $$2 }'

demo: build ## Check the examples and print their interface
	@printf '\n=== metalworks check: what is wrong with these shaders? ===\n\n'
	$(METALWORKS) check --time $(EXAMPLES)
	@for file in $(EXAMPLES); do \
	  printf '\n=== metalworks reflect %s: what is to be bound? ===\n\n' $$file; \
	  $(METALWORKS) reflect $$file || exit; \
	done

# One after the other, the quickest to fail first; the tests of the corpus come last.
test: ## Run all checks and tests
	$(MAKE) fmt-check
	$(MAKE) clippy
	$(MAKE) unit-test
	$(MAKE) doc
	$(MAKE) build
	$(MAKE) corpus

corpus: cargo ## Download the shaders of others and check them
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" \
	  $(CARGO) test --release -p metalworks-msl --test corpus -- --include-ignored --nocapture

fmt: cargo ## Format the sources
	$(CARGO) fmt --all

build: cargo ## Build the program in release mode
	$(CARGO) build --release -p metalworks-cli

fmt-check: cargo
	$(CARGO) fmt --all --check

clippy: cargo
	$(CARGO) clippy --workspace --all-targets -- -D warnings

unit-test: cargo
	$(CARGO) test --workspace

doc: cargo
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps

cargo:
	@command -v $(CARGO) >/dev/null || { echo 'cargo is not in PATH: install Rust first' >&2; exit 1; }
