"""Stage directions between asterisks: ``*sighs*``, ``*clears throat*``, ``*叹气*``."""

from __future__ import annotations

import re

_VERBS = (
    "sigh laugh chuckle giggle cough gasp smile grin nod wink shrug yawn sniff sniffle sob cry groan moan whisper "
    "pause blush blink bow wave clap hug smirk snicker snort gulp hum whistle scoff frown pout cheer gigglesnort "
    "tilt lean stare glance gesture stretch breathe inhale exhale hesitate squeal growl purr"
)
_OTHERS = "clears clearing clear rolls rolling takes taking raises raising shakes shaking scratches scratching"
_OBJECTS = re.compile(r" (?:his|her|their|my|a|its)? ?(?:throat|eyes|eyebrows?|head|breath|hands?|deep breath)\b")
_MANDARIN = (
    "叹气 叹了口气 叹息 笑 大笑 微笑 轻笑 苦笑 偷笑 傻笑 坏笑 冷笑 咳嗽 清嗓子 清了清嗓子 停顿 沉默 "
    "点头 摇头 耸肩 眨眼 挥手 鼓掌 哭 哭泣 抽泣 打哈欠 低语 小声 深呼吸 吸气 呼气 脸红 皱眉 撇嘴 鞠躬 拥抱 思考 沉思"
)


def _forms(verb: str) -> list[str]:
    stem = verb.removesuffix("e")
    doubled = verb + verb[-1] if verb in ("nod", "grin", "sob", "clap", "hug", "hum", "shrug", "purr") else stem
    third = verb[:-1] + "ies" if verb == "cry" else verb + ("es" if verb.endswith(("sh", "ch")) else "s")
    return [verb, third, doubled + "ing"]


_WORDS = frozenset(form for verb in _VERBS.split() for form in _forms(verb))
_WITH_OBJECT = frozenset(_OTHERS.split())
_HAN_WORDS = frozenset(_MANDARIN.split())
_BEGINNINGS = frozenset(word[:length] for word in _WORDS | _WITH_OBJECT | _HAN_WORDS for length in range(len(word) + 1))
_STAGE = re.compile(r"\*(?:(?P<en>[A-Za-z]{1,12})(?P<rest>(?: [A-Za-z']{1,12}){0,3})|(?P<zh>[一-鿿]{1,6}))\*(?=[^*])")
_STAGE_BEGUN = re.compile(r"\*(?:(?P<first>[A-Za-z]{0,12})(?P<rest>(?: [A-Za-z']{0,12}){0,3})|(?P<zh>[一-鿿]{1,6}))\*?")


def stage_length(text: str, at: int) -> int:
    """Return the length of the stage direction at ``at`` with its asterisks; 0 if there is none."""
    found = _STAGE.match(text, at)
    if found is None:
        return 0
    if found["zh"]:
        return len(found[0]) if found["zh"] in _HAN_WORDS else 0
    first = found["en"].lower()
    known = first in _WORDS or (first in _WITH_OBJECT and bool(_OBJECTS.match(found["rest"])))
    return len(found[0]) if known else 0


def may_be_stage(text: str, at: int) -> bool:
    """Return whether the text from ``at`` on may still become a stage direction."""
    found = _STAGE_BEGUN.fullmatch(text, at)
    if found is None:
        return False
    if found["zh"]:
        return found["zh"] in _BEGINNINGS
    first = found["first"].lower()
    return first in (_WORDS | _WITH_OBJECT) if found["rest"] or found[0][1:].endswith("*") else first in _BEGINNINGS
