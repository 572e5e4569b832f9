# The commands of the project. `make run` to try it, `make test` to check all of it.

HOST ?= 127.0.0.1
PORT ?= 8000
PYTEST = -n 2 --dist loadfile --cov --cov-branch

.PHONY: help run demo production-check test bench check format lock clean

help:  ## these commands
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\n      \2/p' Makefile

run: .venv/installed-runtime  ## the gate with its demonstration: http://127.0.0.1:8000 (HOST=, PORT=, ARGS=)
	@exec .venv/bin/toolgate serve --host $(HOST) --port $(PORT) $(ARGS)

demo: .venv/installed-runtime  ## tells the stories of the gate to the server that `make run` started (PORT=, ARGS=)
	@.venv/bin/toolgate demo --url http://$(HOST):$(PORT) $(ARGS)

bench: .venv/installed-development  ## how fast, as ratios against floors of the same run (ARGS="--seconds 10 --file var/bench.json")
	@scripts/install-test-servers
	@.venv/bin/python -m bench $(ARGS)

production-check: .venv/installed-development  ## PostgreSQL, Redis and the commands of docker-compose.yml as plain processes; then the stories
	@scripts/install-test-servers
	@scripts/production-check

test: .venv/installed-development  ## the static checks, every test on SQLite, then on PostgreSQL each that touches a database (ARGS= for pytest)
	@scripts/install-test-servers
	@scripts/check
	.venv/bin/python -m pytest $(PYTEST) --cov-report= $(ARGS)
	.venv/bin/python -m pytest $(PYTEST) --cov-append --cov-report=term --database=postgres $(ARGS)

check: .venv/installed-development  ## the static checks only
	@scripts/check

format: .venv/installed-development  ## puts the code and the templates into the house's form
	.venv/bin/ruff check --fix-only .
	.venv/bin/ruff format .
	.venv/bin/djlint templates --reformat --quiet || .venv/bin/djlint templates --check --quiet

lock:  ## writes requirements/*.txt from pyproject.toml (ARGS=--upgrade for the newest versions)
	scripts/lock $(ARGS)

clean:  ## removes what the commands above made, except the data in var/
	rm -rf .venv .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/installed-%: requirements/%.txt pyproject.toml scripts/install
	@scripts/install $*
	@touch $@
