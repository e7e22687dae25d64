"""Rules about whether the score can be had without the work."""
