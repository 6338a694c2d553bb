"""The list of presets over HTTP."""

from __future__ import annotations

import json

from yuliu.presets import as_values, presets
from yuliu.wire.presets import presets_body


def test_each_preset_is_listed_as_a_request_may_override_it() -> None:
    """Plain values, one of them marked as the default."""
    listed = json.loads(presets_body(map(as_values, presets().values()), "default"))["presets"]
    assert [preset["name"] for preset in listed if preset["default"]] == ["default"]
    for preset in listed:
        del preset["default"]
    assert listed == [as_values(preset) for preset in presets().values()]
