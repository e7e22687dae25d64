"""Numbers of things in words."""


def count(number: int, noun: str) -> str:
    """`1 trial`, `3 trials`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
