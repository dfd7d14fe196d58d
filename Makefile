# The whole interface of the repository; `make` alone prints it.
.DEFAULT_GOAL := help
.PHONY: help demo test check proto miniature clean
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
DISTRIBUTIONS := proto libs/taq libs/chassis libs/sdk services/catalog services/checkin \
	services/quantizer services/renderer miniature bench
# The same, with what the embedded stack, the demo and the tests need beyond the bare services.
INSTALLED := proto libs/taq libs/chassis[s3,hub] libs/sdk[demo] services/catalog[local-embeddings] \
	services/checkin[llm] services/quantizer services/renderer miniature[train] bench

help:  ## Print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST)

demo: .venv/installed  ## Start the embedded stack, do the main job, write demo/
	@$(BIN)/python -m personalq.sdk.demo --setup-seconds "$$(cat .venv/installed)"

# Two processes: the tests of a file share their services, so they stay together. In the order of the
# folders: the slow ones come first, and the many short ones fill up what is left of both.
test: check  ## Run every check and every test on real components
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

check: .venv/installed  ## Lint, types, import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy $(addsuffix /personalq,$(DISTRIBUTIONS)) tests
	@$(BIN)/lint-imports

proto: .venv/installed  ## Regenerate the stubs beside the .proto files
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python proto/generate.py

miniature: .venv/installed  ## Retrain the miniature (hours on 2 cores; needs fonts-noto-color-emoji)
	@$(BIN)/python -m personalq.miniature.train

clean:  ## Remove the environment and what the demo wrote
	rm -rf .venv demo

# The stamp holds the seconds the installation took. A half-made environment has no stamp.
.venv/installed: constraints.txt pyproject.toml $(addsuffix /pyproject.toml,$(DISTRIBUTIONS))
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else \
	"PersonalQ needs Python 3.11 or newer, this is " + sys.version.split()[0] + \
	"; name another one with make PYTHON=...")'
	@echo "Installing PersonalQ into .venv (about 3 GB, once) ..."
	@start=$$(date +%s) && rm -f $@ \
	&& $(PYTHON) -m venv .venv \
	&& $(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1" \
	&& $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch \
	&& $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--group dev $(addprefix --editable ,$(INSTALLED)) \
	&& echo $$(( $$(date +%s) - start )) > $@
