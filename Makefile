# Each target does its own set-up: it needs Python 3.11 or newer, Rust 1.95 or newer and the package registries.
# A second call does only what has changed.

# The first of these that is new enough.
PYTHON ?= $(shell for one in python3.11 python3.12 python3.13 python3.14 python3; do \
	$$one -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$one && break; done)
BIN := .venv/bin
# Packages are compiled to bytecode when they are installed: where Python may write none, as in many images of containers, each command
# would compile all that it imports.
UV := UV_PYTHON_DOWNLOADS=never UV_COMPILE_BYTECODE=1 $(BIN)/uv
PYTHON_SOURCES := $(shell find python -name '*.py')
RUST_SOURCES := $(shell find crates $(wildcard benches) -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
SECONDS ?= 60
SEED ?= 1

.PHONY: demo test test-rust test-computing test-real-time test-python lint lint-rust lint-python fuzz bench bench-gym bench-controllers bench-instructions bench-live bench-peers fidelity same-bytes deny docs clean

## The first study: runs it, prints its claims, says where the report is.
demo: .venv/core
	$(BIN)/lasthop reproduce handover

## Everything that has to hold.
test: lint test-rust test-python

COMPUTING := net protocols radio replicas core fidelity
REAL_TIME := live endpoint
CRATES := $(patsubst %,-p lasthop-%,$(COMPUTING) $(REAL_TIME)) $(patsubst examples/rust/%/Cargo.toml,-p lasthop-example-%,$(wildcard examples/rust/*/Cargo.toml))
# Make of 2006, which macOS has, knows no such thing.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
tests-in = $(addprefix --test ,$(sort $(notdir $(basename $(wildcard $(addsuffix /tests/*.rs,$(1))) $(patsubst %/main.rs,%,$(wildcard $(addsuffix /tests/*/main.rs,$(1))))))))

# Programs in `examples` folders are checked by clippy, and not linked here. Tests by the wall clock mostly wait, so they run beside the others.
test-rust:
	cargo test --no-run --lib --bins --tests $(CRATES)
	$(MAKE) --no-print-directory -j2 $(SYNC) test-computing test-real-time
	cargo test --doc $(CRATES)

# Each names all crates: with other features of what some of them use, the rest would be compiled again.
test-computing:
	cargo test --lib --bins $(call tests-in,$(addprefix crates/,$(COMPUTING)) examples/rust/*) $(CRATES)

test-real-time:
	cargo test $(call tests-in,$(addprefix crates/,$(REAL_TIME))) $(CRATES)

test-python: .venv/core .venv/test
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal

# Beside one another: Python's take one processor.
lint: .venv/core .venv/test
	$(MAKE) --no-print-directory -j2 lint-rust lint-python

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps

lint-python: .venv/core .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest lasthop._core

## Input changed at random, for SECONDS, on a core that looks for overflows and broken invariants. What fails is kept in
## tests/fuzz/corpus, which the tests try again; another SEED tries other input. See fuzz/README.md.
fuzz: .venv/checked .venv/test
	PYTHONPATH=target/checked/python:tests $(BIN)/python -m fuzz --seconds $(SECONDS) --seed $(SEED)

## The core's microbenchmarks, and instruction counts where valgrind is installed.
bench: bench-gym bench-instructions
	cargo bench -p lasthop-bench

## How many instructions the workloads take, beside the last row of benches/instructions.csv; `RECORD=1` adds a row.
bench-instructions: .venv/uv
	$(BIN)/python benches/instructions.py $(if $(RECORD),--record)

## Steps a second of environments for learners, with the core as it is released; `AURORA=DIR`, a clone of PCC-RL, measures its simulator beside them.
bench-gym: .venv/released .venv/test
	PYTHONPATH=target/released/python $(BIN)/python benches/gym/run.py $(if $(AURORA),--aurora $(AURORA))

## What controllers in Python cost beside built-in ones.
bench-controllers: .venv/released .venv/test
	PYTHONPATH=target/released/python $(BIN)/python benches/controllers/run.py

## Live runs beside a bare forwarder in C; as root.
bench-live: .venv/released .venv/test
	PYTHONPATH=target/released/python $(BIN)/python benches/live/run.py

## ns-2 and ns-3 on the same work in the same call; `INSTALL=1` installs them from Debian first.
bench-peers: .venv/uv
	cargo build --release --quiet -p lasthop-bench
	$(BIN)/python benches/peers/run.py $(if $(INSTALL),--install) $(PEERS_OPTIONS)

## Runs against other simulators' traces in tests/reference: `make fidelity REF=DIR` for others of the same format.
fidelity:
	mkdir -p target/fidelity
	cargo run --quiet --profile fast -p lasthop-fidelity -- $(REF) --markdown target/fidelity/table.md

# The families that are compared event for event, and how many of each have to agree.
.PHONY: fidelity-quick
fidelity-quick:
	cargo test -p lasthop-fidelity

## The same bytes from other builds: without optimisation, and with musl where rustup has it. 50 random scenarios.
same-bytes:
	tests/same_bytes.sh

## What the dependencies in Rust may be (deny.toml). It needs cargo-deny: `cargo install cargo-deny --locked`. Where the list of advisories
## cannot be had, `make deny DENY=--offline` takes the last copy of it.
deny:
	cargo deny $(DENY) check

## The documentation, as a site in docs/_build/html.
docs: .venv/core .venv/docs
	$(BIN)/python docs/generate.py
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo docs/_build/html/index.html

clean:
	rm -rf .venv target out docs/_build docs/generated

# The virtual environment. Its stamps lie inside it.

.venv/uv:
	@test -n '$(PYTHON)' || { echo "lasthop needs Python 3.11 or newer, and none is in PATH: make PYTHON=/path/to/python3" >&2; exit 1; }
	@'$(PYTHON)' -c 'import sys; sys.exit("lasthop needs Python 3.11 or newer, and this is " + sys.version) if sys.version_info < (3, 11) else 0'
	@command -v cargo > /dev/null || { echo "lasthop needs Rust 1.95 or newer (https://rustup.rs), and there is no cargo in PATH" >&2; exit 1; }
	'$(PYTHON)' -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	@touch $@

.venv/base: .venv/uv uv.lock
	$(UV) sync --quiet --frozen --inexact --group build
	@touch $@

.venv/test: .venv/base
	$(UV) sync --quiet --frozen --inexact --group build --group test --group lint --group docs --all-extras
	@touch $@

.venv/docs: .venv/base
	$(UV) sync --quiet --frozen --inexact --group build --group docs
	@touch $@

# The compiled core, without link-time optimisation, which would take minutes.
.venv/core: .venv/base $(RUST_SOURCES) pyproject.toml
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin develop --uv --profile fast --generate-stubs --quiet
	@touch $@

# The package with the core as it is released, likewise.
.venv/released: .venv/base $(RUST_SOURCES) $(PYTHON_SOURCES) pyproject.toml
	$(BIN)/maturin build --profile release --quiet --out target/released/wheel
	rm -rf target/released/python
	$(BIN)/python -m zipfile -e target/released/wheel/lasthop-*.whl target/released/python
	@touch $@

# The package with a core that checks itself, beside the one that is installed.
.venv/checked: .venv/base $(RUST_SOURCES) $(PYTHON_SOURCES) pyproject.toml
	$(BIN)/maturin build --profile checked --quiet --out target/checked/wheel
	rm -rf target/checked/python
	$(BIN)/python -m zipfile -e target/checked/wheel/lasthop-*.whl target/checked/python
	@touch $@
