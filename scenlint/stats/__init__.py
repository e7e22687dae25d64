"""Statistics of trials: plain numbers in, plain results out; scipy beneath.

Passes and failures are counts, rates are fractions in [0, 1]. Where a figure cannot be had from what is given (too few
trials, no spread), it is None or NotEnoughError says what would do: never a number that looks like an answer.
"""


class NotEnoughError(ValueError):
    """There is not enough data for this figure; the text says how much there must be."""
