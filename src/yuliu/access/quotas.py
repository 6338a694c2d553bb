"""What a key has used up: requests a minute, streams at a time, characters a day. Pure: ``now`` is an argument."""

from __future__ import annotations

from yuliu.errors import QuotaExceeded

DAY_S = 86_400
BUSY_RETRY_S = 1.0
"""What is told to who has all of his streams open: nobody knows when one of them ends."""


class KeyUsage:
    """What was taken of the bounds of one key. The bounds may change while it is counted."""

    def __init__(self) -> None:
        self.num_streams = 0
        """Streams that are open."""
        self._spent = 0.0
        """Requests that the minute has not given back yet."""
        self._spent_at_s = 0.0
        self._day = -1
        self._num_characters = 0

    def request(self, per_minute: int | None, now_s: float) -> None:
        """One request: so many may come at once, and come back at an even pace.

        Args:
            per_minute: How many there may be; None for any number.
            now_s: A clock that never goes back.

        Raises:
            QuotaExceeded: There were too many; it does not count.
        """
        if per_minute is None:
            return
        pace = per_minute / 60
        spent = max(0.0, self._spent - (now_s - self._spent_at_s) * pace)
        if spent + 1 > per_minute + 1e-9:
            message = f"this key has {per_minute} requests a minute"
            raise QuotaExceeded(message, retry_after_s=(spent + 1 - per_minute) / pace)
        self._spent, self._spent_at_s = spent + 1, now_s

    def open(self, streams: int | None) -> None:
        """One more stream; :meth:`close` must follow.

        Raises:
            QuotaExceeded: There are as many as may be.
        """
        if streams is not None and self.num_streams >= streams:
            raise QuotaExceeded(f"this key has {streams} streams at a time", retry_after_s=BUSY_RETRY_S)
        self.num_streams += 1

    def close(self) -> None:
        """A stream is over."""
        self.num_streams -= 1

    def characters(self, num_characters: int, per_day: int | None, now_utc_s: float) -> None:
        """So many characters are to be spoken; the count begins anew at midnight, UTC.

        Args:
            num_characters: All or none of them count.
            per_day: How many there may be; None for any number.
            now_utc_s: Seconds since 1970.

        Raises:
            QuotaExceeded: There are too many.
        """
        day, of_day_s = divmod(now_utc_s, DAY_S)
        if int(day) != self._day:
            self._day, self._num_characters = int(day), 0
        if per_day is not None and self._num_characters + num_characters > per_day:
            left = max(0, per_day - self._num_characters)
            message = f"this key has {per_day} characters a day, of which {left} are left"
            raise QuotaExceeded(message, retry_after_s=DAY_S - of_day_s)
        self._num_characters += num_characters

    def give_back(self, num_characters: int) -> None:
        """So many were not spoken."""
        self._num_characters = max(0, self._num_characters - num_characters)
