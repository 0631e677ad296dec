#!/usr/bin/env bash
# On a machine with a GPU: the GPU tests, then memory over one and ten minutes of speech.
# Usage: scripts/gpu/check.sh SPEECH.wav [OUT_FOLDER]; needs Greenroom importable.
set -euo pipefail
speech=$1 out=${2:-.}
python3 -m pytest -m gpu -s tests/gpu 2>&1 | tee "$out/gpu_tests.log"
python3 scripts/memory.py "$speech" cuda | tee "$out/memory.log"
