"""A language model as an agent: mini-swe-agent's loop in a process of its own, its commands in the trial's sandbox."""
