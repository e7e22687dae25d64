#!/bin/bash
set -euo pipefail
install -m 0644 "$(dirname "$0")/decode.py" /app/decode.py
python3 /app/decode.py /app/sample.hex
