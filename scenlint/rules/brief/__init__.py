"""Rules about the brief and how it maps to the verifier."""
