#!/bin/bash
# The agent worked as user agent, so none of the tools on these paths are of its making.
export PATH=/usr/local/bin:/usr/bin:/bin
mkdir -p /logs/verifier
rm -rf /logs/verifier/reward.txt /logs/verifier/reward.json
reward=0
trap 'echo "$reward" > /logs/verifier/reward.txt' EXIT
# Nothing that the agent left running may change files from here on.
setpriv --reuid=agent --regid=agent --clear-groups bash -c 'kill -KILL -1'
chmod 0700 /tests
python3 -I -S /tests/test_quote.py && reward=1
