"""Rules about verifiers that do not measure."""
