"""The calibration stage: does a scenario discriminate? It rules on trials and decides by the two-stage rule."""
