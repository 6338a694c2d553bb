"""Telephone numbers, cards, codes and other digits that are read one by one; rooms and models, read in pairs."""

from __future__ import annotations

import re

from yuliu.text.en.number_words import cardinal, digits, pairs, whole
from yuliu.text.en.rule import EnglishRule, before, word_after, word_before
from yuliu.text.en.tables import any_of, listing, table

_ROOM = listing(
    "room rooms suite apartment apt unit flight highway route hwy interstate bus flat extension ext gate channel"
    " boeing airbus train ward studio office locker car rt exit area rtx gtx radeon ryzen model peugeot form cessna"
    " rm ste platform"
)
_CODE = listing(
    "text code zip pin id passcode password otp dial order ticket case invoice account serial tracking sms"
    " confirmation badge passport license reference ref zipcode postcode po fax ssn isbn port imei vin sku token"
)
_ROOM_WORDS = table("ext: extension; apt: apartment; hwy: highway; rt: route; rm: room; ste: suite")
_EMERGENCY = frozenset(listing("911 999 112 411 311 211 511 811 988"))
_CALL = frozenset(listing("call dial phone ring text calling called dialed dialing"))
_CALLED_ALSO = re.compile(r"\b(?:[Cc]all|[Dd]ial|[Rr]ing|[Tt]ext) \d{3}(?:, \d{3})?,? (?:or|and) \Z")
_KEYED = re.compile(r"(?i:press|dial|enter|hit|then|by|key in|call) \Z")


def grouped_digits(text: str) -> str:
    """Return the digits one by one, with a pause between groups."""
    groups = re.findall(r"\d+", text)
    return (" " if all(len(group) == 1 for group in groups) else ", ").join(map(digits, groups))


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+|[A-Z]+", match.group())
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(_phone_group(group) for group in groups)


def _phone_group(group: str) -> str:
    if group in ("800", "900"):
        return f"{cardinal(int(group[0]))} hundred"
    return digits(group) if group.isdigit() else group.capitalize()


def _emergency(match: re.Match[str]) -> str | None:
    run, last, after = match.group(), word_before(match), word_after(match)
    if run not in _EMERGENCY or last == "porsche":
        return None
    called = last in _CALL or _CALLED_ALSO.search(before(match, 32)) is not None
    if called or (run == "911" and not after.endswith("s")):
        return digits(run)
    return None


def _grouped(match: re.Match[str]) -> str:
    return grouped_digits(match.group())


def _code(match: re.Match[str]) -> str:
    gap = re.sub(r"#|\bno\.? ?", "number ", match["gap"], flags=re.IGNORECASE)
    return f"{match['word']}{gap}{grouped_digits(match['run'])}"


def _room(match: re.Match[str]) -> str:
    run = match["run"]
    gap = match["gap"].replace("#", "").replace(".", "")
    words = pairs(run) if len(run) in (3, 4) else digits(run) if len(run) > 4 else whole(run)
    full = _ROOM_WORDS.get(match["word"].lower())
    if full and match["word"][0].isupper():
        full = full.capitalize()
    return (full or match["word"]) + gap + words


def _keys(match: re.Match[str]) -> str | None:
    """Read the keys of a telephone: ``*67#`` is "star six seven pound"."""
    if not _KEYED.search(before(match, 12)):
        return None
    names = {"*": "star", "#": "pound"}
    return " ".join(names.get(char) or digits(char) for char in match.group())


def _extension(match: re.Match[str]) -> str:
    return f" extension {digits(match['run'])}"


def _zip(match: re.Match[str]) -> str:
    return f"{match['state']} {grouped_digits(match['run'])}"


RULES = (
    EnglishRule(
        "phone",
        re.compile(
            r"(?<![\w.-])(?:\+\d{1,3}[ .-]?)?(?:1[ .-])?"
            r"(?:\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}([-.])\d{3}\1\d{4}|(?<=1[ .-])\d{3}[ .-]\d{3}[ .-]\d{4}"
            r"|(?<=1-)\d{3}-[A-Z]{3,9}|(?<=1-)\d{3}-(?:\d{3}|[A-Z]{3})-[A-Z]{4}|\d{3}-\d{4})(?![\w-]|\.\d)"
        ),
        _phone,
    ),
    EnglishRule("phone_area", re.compile(r"(?<![\w.-])\(0\d{1,4}\) ?\d{3,4}[ -]?\d{3,5}(?![\w-]|[.,]\d)"), _phone),
    EnglishRule(
        "phone_trunk", re.compile(r"(?<![\w.,+-])0\d{2,4}[ -](?:\d{5,6}|\d{3,4}[ -]\d{3,4})(?![\w-]|[.,]\d)"), _phone
    ),
    EnglishRule(
        "phone_dialled", re.compile(r"(?<![\w.,+-])00 ?[1-9]\d{0,2}(?:[ -]\(?\d{1,5}\)?){2,6}(?![\w-]|[.,]\d)"), _phone
    ),
    EnglishRule("extension", re.compile(r"(?<=\d{4}),? ?[xX](?P<run>\d{1,5})(?!\w)"), _extension),
    EnglishRule("keys", re.compile(r"(?<![\w*#])(?:\*\d{1,4}[*#]?|#\d{1,4}[*#]|\d{1,4}#)(?!\w)"), _keys),
    EnglishRule("zip", re.compile(r"(?<=, )(?P<state>[A-Z]{2}),? (?P<run>\d{5}(?:-\d{4})?)(?!\w|[.,-]\d)"), _zip),
    EnglishRule("phone_plain", re.compile(r"(?<![\w.,+-])(?:\d{3} )?\d{3} \d{4}(?![\w-]|[.,]\d)"), _phone),
    EnglishRule("phone_abroad", re.compile(r"(?<!\w)\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?![\w-]|[.,]\d)"), _phone),
    EnglishRule("phone_run", re.compile(r"(?<!\w)\+\d{7,15}(?!\w)"), _phone),
    EnglishRule("social", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), _grouped),
    EnglishRule("card", re.compile(r"(?<![\w-])\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?![\w-])"), _grouped),
    EnglishRule("emergency", re.compile(r"(?<![\w.,$-])\d{3}(?!\w|[.,:/-]\w|%)"), _emergency),
    EnglishRule(
        "code",
        re.compile(
            rf"(?i:\b(?P<word>{any_of(_CODE)}))(?P<gap>(?i: code| number| no\.?| is|:| #|#){{0,2}} ?)"
            r"(?P<run>(?!00 ?[1-9]\d{0,2}[ -]\d)(?:\d{3,20}|0\d|\d{1,8}(?=-\d))(?:-\d{1,8}| \d{4}(?!\w)){0,6})"
            r"(?![\w%]|[.,:/-]\d)"
        ),
        _code,
    ),
    EnglishRule(
        "rooms",
        re.compile(
            rf"(?i:\b(?P<word>{any_of(_ROOM)}))(?P<gap>s? )(?P<first>\d{{3,4}})"
            r" ?[-–] ?(?P<last>\d{3,4})(?![\w%-]|[.,:/]\d)"
        ),
        lambda match: f"{match['word']}{match['gap']}{pairs(match['first'])} to {pairs(match['last'])}",
    ),
    EnglishRule(
        "room",
        re.compile(
            rf"(?i:\b(?P<word>{any_of(_ROOM)}))(?P<gap>\.? (?:[Nn]umber |#)?)(?P<run>\d{{3,7}})(?![\w%]|[.,:/]\d|-\d)"
        ),
        _room,
    ),
)
