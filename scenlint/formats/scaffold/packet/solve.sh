#!/bin/bash
set -eu
product=1
while read -r factor; do product=$((product * factor)); done < factors.txt
echo "$product" > answer.txt
