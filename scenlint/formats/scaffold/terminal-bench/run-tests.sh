#!/bin/bash
PATH=/usr/local/bin:/usr/bin:/bin
python3 -I -S "$TEST_DIR/test_outputs.py"
