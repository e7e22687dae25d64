#!/bin/bash
# Serves the tracker under the address at which its users reach it: Roundup refuses forms sent from another one.
set -euo pipefail
home=${DESK_HOME:-/srv/desk}
sed -i "s|^web = .*|web = ${DESK_URL:-http://localhost:8080/desk/}|" "$home/config.ini"
exec roundup-server -n 0.0.0.0 -p "${DESK_PORT:-8080}" "desk=$home"
