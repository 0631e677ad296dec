# make demo   renders examples/bulletin.txt to bulletin.mp4
# make test   lints, type-checks and runs the tests
# Both make their own environment in .venv. Needed beforehand: Python >= 3.11 with its venv module.
#
# On a machine without a GPU the CPU build of PyTorch saves some gigabytes; it is an option:
#   make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?=
TORCH_INDEX ?=
PIP := .venv/bin/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test lint clean
.DELETE_ON_ERROR:

demo: .venv/.demo
	.venv/bin/python -m greenroom render examples/bulletin.txt -o bulletin.mp4

test: .venv/.test lint
	.venv/bin/python -m pytest $(PYTEST_ARGS)

lint: .venv/.test
	.venv/bin/python -m ruff check
	.venv/bin/python -m ruff format --check
	.venv/bin/python -m mypy

# The first that runs and is new enough: a name on the PATH may be an empty shim.
.venv/.python:
	@for python in $(if $(PYTHON),"$(PYTHON)",python3 python3.13 python3.12 python3.11); do \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	  "$$python" -c 'import venv, ensurepip' 2>/dev/null || \
	    { echo "$$python lacks the venv module (Debian: apt-get install python3-venv)"; exit 1; }; \
	  "$$python" -m venv .venv && touch $@ && exit 0; \
	done; \
	echo "Python >= 3.11 is needed (Debian: apt-get install python3; or make PYTHON=path)"; exit 1

.venv/.torch: .venv/.python constraints.txt
	@echo "installing PyTorch"
	$(PIP) $(if $(TORCH_INDEX),--index-url "$(TORCH_INDEX)") torch
	touch $@

.venv/.demo: .venv/.torch pyproject.toml
	@echo "installing Greenroom and its voice"
	$(PIP) --editable '.[voice]'
	touch $@

.venv/.test: .venv/.torch pyproject.toml
	@echo "installing Greenroom, its voice and the tools of its tests"
	$(PIP) --editable '.[voice,dev]'
	touch $@ .venv/.demo

clean:
	rm -rf .venv bulletin.mp4
