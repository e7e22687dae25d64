#!/bin/bash
# scenlint: ignore-file[shared-verifier] the format has one container only; the agent is no root in it and the tests run no file of its
# Root runs this; the agent worked as user agent, so none of the tools on these paths are of its making.
export PATH=/usr/local/bin:/usr/bin:/bin
exec python3 -I -S "$TEST_DIR/test_outputs.py"
