"""The static stage: discover tasks, select rules, run them, suppress, and hand over one outcome."""
