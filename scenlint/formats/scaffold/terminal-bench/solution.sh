#!/bin/bash
set -eu
product=1
while read -r factor; do product=$((product * factor)); done < /app/factors.txt
echo "$product" > /app/answer.txt
