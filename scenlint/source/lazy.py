"""`cached_property` without the lock that Python 3.11 still takes each time: tasks are judged by one thread each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:  # noqa: N801 - the name that type checkers know
        """A value that is computed when first asked for, then kept in the instance."""

        def __init__(self, make: Any) -> None:
            self.make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.make(instance)
            return value


__all__ = ["cached_property"]
