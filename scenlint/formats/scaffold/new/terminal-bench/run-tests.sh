#!/bin/bash
# scenlint: ignore-file[shared-verifier] the format has one container only; the agent is no root in it and the tests run no file of its
export PATH=/usr/local/bin:/usr/bin:/bin
python3 -I -S "$TEST_DIR/test_outputs.py"
