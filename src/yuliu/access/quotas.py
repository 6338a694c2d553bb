"""Usage of a key: requests a minute, concurrent streams, characters a day. Pure: ``now`` is an argument."""

from __future__ import annotations

from yuliu.errors import QuotaExceeded

DAY_S = 86_400
BUSY_RETRY_S = 1.0
"""Advice for a client that has all of its streams open: it is not known when one ends."""


class KeyUsage:
    """Use of one key. Its quotas may change at any time."""

    def __init__(self) -> None:
        self.num_streams = 0
        """Streams that are open."""
        self._spent = 0.0
        """Requests that have not been given back yet."""
        self._spent_at_s = 0.0
        self._day = -1
        self._num_characters = 0

    def request(self, per_minute: int | None, now_s: float) -> None:
        """Count a request. A minute's requests may come at once; they are given back at an even pace.

        Args:
            per_minute: Quota; None sets none.
            now_s: Time on a monotonic clock, seconds.

        Raises:
            QuotaExceeded: There were too many; this one does not count.
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
        """Count a stream as open; :meth:`close` must follow.

        Raises:
            QuotaExceeded: The maximum number of streams is open.
        """
        if streams is not None and self.num_streams >= streams:
            raise QuotaExceeded(f"this key has {streams} streams at a time", retry_after_s=BUSY_RETRY_S)
        self.num_streams += 1

    def close(self) -> None:
        """Count a stream as closed."""
        self.num_streams -= 1

    def characters(self, num_characters: int, per_day: int | None, now_utc_s: float) -> None:
        """Charge characters. The count starts again at midnight UTC.

        Args:
            num_characters: Number of characters; all or none of them are charged.
            per_day: Quota; None sets none.
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
        """Refund characters that were not spoken."""
        self._num_characters = max(0, self._num_characters - num_characters)
