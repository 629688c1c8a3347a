# make demo, make test: all that is needed is Rust, python3 (for the corpus of shaders) and this file.

# A Rust that was just installed is not always in PATH yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
MAKEFLAGS += --no-print-directory
CARGO ?= cargo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
METALWORKS = $(TARGET_DIR)/release/metalworks
EXAMPLES = $(sort $(wildcard examples/*.metal))
# The crate `air` needs LLVM 22, which a Mac does not have: there it is left out, as it is from the program's default.
ifeq ($(shell uname),Darwin)
WORKSPACE = --workspace --exclude metalworks-air
LLVM =
else
WORKSPACE = --workspace
LLVM = llvm
endif
LLVM_PACKAGES = llvm-22-dev libpolly-22-dev zlib1g-dev libzstd-dev libffi-dev libxml2-dev

.PHONY: help demo test corpus air llvm fmt build fmt-check clippy unit-test doc cargo

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
	$(if $(LLVM),$(MAKE) air)

corpus: cargo ## Download the shaders of others and check them
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" \
	  $(CARGO) test --release -p metalworks-msl --test corpus -- --include-ignored --nocapture

air: cargo $(LLVM) ## Compile the shaders of others to AIR, and read Apple's library
	scripts/corpus.sh
	METALWORKS_CORPUS="$$(scripts/corpus.sh --dir)" \
	  $(CARGO) test --release -p metalworks-air -- --include-ignored --nocapture

# What the crate `air` is built with; the variable names another place where LLVM 22 is.
llvm:
	@test -n "$$LLVM_SYS_221_PREFIX" || test -x /usr/lib/llvm-22/bin/llvm-config || { \
	  echo 'installing LLVM 22'; \
	  sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	  $$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(LLVM_PACKAGES) >/dev/null || { \
	    echo 'cannot install LLVM 22: install $(LLVM_PACKAGES), or set LLVM_SYS_221_PREFIX' >&2; exit 1; }; }

fmt: cargo ## Format the sources
	$(CARGO) fmt --all

build: cargo ## Build the program in release mode
	$(CARGO) build --release -p metalworks-cli

fmt-check: cargo
	$(CARGO) fmt --all --check

clippy: cargo $(LLVM)
	$(CARGO) clippy $(WORKSPACE) --all-targets -- -D warnings

unit-test: cargo $(LLVM)
	$(CARGO) test $(WORKSPACE) $(if $(LLVM),--features metalworks-cli/air)

doc: cargo $(LLVM)
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(WORKSPACE) --no-deps

cargo:
	@command -v $(CARGO) >/dev/null || { echo 'cargo is not in PATH: install Rust first' >&2; exit 1; }
