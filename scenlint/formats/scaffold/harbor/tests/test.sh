#!/bin/bash
PATH=/usr/local/bin:/usr/bin:/bin
mkdir -p /logs/verifier
if python3 -I -S /tests/test_outputs.py; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
