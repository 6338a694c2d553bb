#!/usr/bin/env bash
# Run CI in a fresh clone with an empty home and no package cache, as a newcomer has them.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet "$root" "$work/yuliu"
mkdir "$work/home"
cd "$work/yuliu"
env HOME="$work/home" PIP_NO_CACHE_DIR=1 PYTHON="$python" bash .ci/run
