"""Rules about calibrations: what the trials of agents say of a scenario (SL8)."""
