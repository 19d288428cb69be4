# `make` alone lists what can be made.
.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
# Tests wait for processes about a fifth of their time. Bytecode is kept between these processes.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
ORDER ?= fixed
PYTEST = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --order $(ORDER)

.PHONY: help install tools run test test-all test-random test-schemas reliability coverage test-pythons test-asyncpg pictures fuzz check bench bench-growth dist release docs docs-site format lock

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: .venv/.serve ## Install what the server needs, in .venv

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Pressroom needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V). Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/.serve: .venv/bin/python requirements/serve.txt requirements/build.txt pyproject.toml
	@echo "Installing into .venv …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt -r requirements/serve.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

.venv/.develop: .venv/.serve requirements/develop.txt
	@echo "Installing what tests and checks need …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/develop.txt
	@touch $@

tools: .venv/bin/python ## Build the programs, written in Go, that tests of faults need (needs go)
	@GOBIN=$(CURDIR)/.venv/go/bin go install github.com/Shopify/toxiproxy/v2/cmd/server@v2.5.0
	@mv .venv/go/bin/server $(BIN)/toxiproxy-server
	@cd tests/linearizability && go build -o $(CURDIR)/.venv/bin/linearizability .

run: .venv/.serve ## Start the server on 127.0.0.1:8000 in development mode
	@PRESSROOM_DEV=$${PRESSROOM_DEV-1} exec $(BIN)/pressroom serve

# With ARGS, all tests that they name.
test: .venv/.develop ## Run the quick suite: every function of the tests, on SQLite or PostgreSQL
	@$(PYTEST) $(or $(ARGS),--suite quick)

test-all: test ## Run the quick suite, then the rest: both engines, killed processes, races, browsers
	@$(PYTEST) --suite rest

test-random: ## Run the quick suite in an order drawn at random; the header of the run shows how to repeat it
	@$(MAKE) --no-print-directory test ORDER=random

test-schemas: .venv/.develop ## Run the tests of the API on installations side by side, in schemas of one PostgreSQL
	@$(PYTEST) --schemas -k postgres $(or $(ARGS),tests/api)

reliability: .venv/.develop ## Make docs/reliability.md anew from a run of the tests of faults
	@folder=$$(mktemp -d) && PRESSROOM_OBSERVATIONS=$$folder $(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS) $$(grep -rl --include='test_*.py' 'observations import\|before\.observe' tests) && $(BIN)/python docs/generate_reliability.py $$folder && rm -r $$folder

coverage: .venv/.develop ## Say which lines and branches no test reaches (ARGS as for test)
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report --skip-covered --show-missing

test-pythons: ## Run the suite on every Python from 3.11 on that is found here, each in an environment of its own
	@for python in $$(ls /usr/bin/python3.[0-9]* /usr/local/bin/python3.[0-9]* $$HOME/.pyenv/versions/*/bin/python3.[0-9]* 2>/dev/null | grep -E '/python3\.(1[1-9]|[2-9][0-9])$$' | awk -F/ '!seen[$$NF]++'); do \
	  echo "== $$python"; folder=.venv/pythons/$${python##*/}; \
	  $$python -m venv $$folder && \
	  $$folder/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/build.txt -r requirements/serve.txt -r requirements/develop.txt && \
	  $$folder/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e . && \
	  $$folder/bin/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS) || exit 1; \
	done

test-asyncpg: .venv/.develop ## Run the tests of connections and transactions on the oldest asyncpg that we take (VERSION)
	@folder=$$(mktemp -d) && $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $$folder asyncpg==$(or $(VERSION),0.31.0) && \
	  PYTHONPATH=$$folder $(PYTEST) $(addprefix tests/db/test_,ahead.py connector.py pool.py round_trips.py transactions.py) && rm -r $$folder

pictures: .venv/.develop ## Photograph every page, light and dark, in both directions and three widths, in pictures/
	@$(BIN)/python -m tests.pages.all_pictures $(or $(FOLDER),pictures)

fuzz: .venv/.develop ## Send FUZZ=100000 random requests and hold each answer to the OpenAPI document
	@$(BIN)/python -m tests.fuzz --requests $${FUZZ-100000} $(ARGS)

.venv/.site: .venv/bin/python requirements/docs.txt
	@$(BIN)/python -m venv .venv/site
	@.venv/site/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	@touch $@

docs-site: .venv/.site ## Build the documentation as a site, in site/; a link that leads nowhere fails
	@NO_MKDOCS_2_WARNING=1 .venv/site/bin/mkdocs build --quiet --strict

check: .venv/.develop docs-site ## Lint, types, the rules of imports and the links of the documentation
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports --no-cache

bench: .venv/.develop ## Measure speed beside its limits, in the same run
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.postgres
	@$(BIN)/python -m benchmarks.deliveries
	@$(BIN)/python -m benchmarks.media

bench-growth: .venv/.develop ## Measure the cost of POSTS=5000000 posts: requests, timelines, searches and explore beside them
	@$(BIN)/python -m benchmarks.growth --posts $${POSTS-5000000}
	@$(BIN)/python -m benchmarks.timeline --posts $${POSTS-5000000}
	@$(BIN)/python -m benchmarks.searching --posts $${POSTS-5000000}
	@$(BIN)/python -m benchmarks.discovery --posts $${POSTS-5000000}

dist: .venv/.serve ## Build wheel and source archive, in dist/
	@rm -rf dist
	@$(BIN)/hatchling build -d dist

.venv/.release: .venv/bin/python requirements/release.txt
	@$(BIN)/python -m venv .venv/release
	@.venv/release/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/release.txt
	@touch $@

release: .venv/.serve .venv/.release ## Make the files of a release from TAG, in dist/, signed by KEY if given; publishes nothing
	@$(BIN)/python scripts/release.py --tag "$(TAG)" --to $(or $(FOLDER),dist) $(if $(KEY),--key "$(KEY)")

docs: .venv/.develop ## Renew the pages of docs/ and the types of clients/ that are made from the code
	@$(BIN)/python docs/generate.py
	@$(BIN)/python clients/generate.py
	@$(BIN)/python -m benchmarks.scaling

format: .venv/.develop ## Format the code
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format --quiet .

lock: .venv/.develop ## Resolve the requirement files anew (needs uv in .venv)
	@for set in build serve develop docs release; do $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/$$set.in -o requirements/$$set.txt; done
