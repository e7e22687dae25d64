#!/bin/bash
# Root runs this; the agent worked as user agent, so none of the tools on these paths are of its making.
export PATH=/usr/local/bin:/usr/bin:/bin
exec python3 -I -S "$TEST_DIR/test_outputs.py"
