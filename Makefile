# make demo   renders examples/bulletin.txt to bulletin.mp4
# make test   lints, type-checks and runs the tests
# Both make their own environment in .venv. Needed beforehand: Python >= 3.11 with its venv module.
#
# On a machine without a GPU the CPU build of PyTorch saves some gigabytes; it is an option:
#   make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= $(firstword $(shell command -v python3.13 python3.12 python3.11 python3 2>/dev/null))
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

.venv/.python:
	@[ -n "$(PYTHON)" ] || { echo "Python >= 3.11 is needed (Debian: apt-get install python3)"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python >= 3.11 is needed, $(PYTHON) is older: make PYTHON=/path/to/python3"; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is needed (Debian: apt-get install python3-venv)"; exit 1; }
	"$(PYTHON)" -m venv .venv
	touch $@

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
