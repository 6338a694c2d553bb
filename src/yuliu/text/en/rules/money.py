"""Amounts of money."""

from __future__ import annotations

import re
from dataclasses import dataclass

from yuliu.text.en.number_words import number, whole
from yuliu.text.en.rule import EnglishRule, word_after, word_before
from yuliu.text.en.tables import any_of, listing, table

NUMBER = r"(?:(?:\d{1,3}(?:,\d{3}){1,12}(?!\d)|\d{1,40})(?:\.\d{1,40})?|\.\d{1,40})"
"""Digits with or without thousands separators and decimals."""


@dataclass(frozen=True, slots=True)
class _Currency:
    one: str
    many: str
    cent: str = ""
    """Name of one hundredth; empty where amounts with decimals are read as decimals."""
    cents: str = ""


def _currencies(entries: str) -> dict[str, _Currency]:
    return {code: _Currency(*names.split(", ")) for code, names in table(entries).items()}


_SYMBOLS = _currencies(
    "$: dollar, dollars, cent, cents; US$: US dollar, US dollars, cent, cents; £: pound, pounds, penny, pence;"
    " A$: Australian dollar, Australian dollars, cent, cents;"
    " AU$: Australian dollar, Australian dollars, cent, cents; C$: Canadian dollar, Canadian dollars, cent, cents;"
    " CA$: Canadian dollar, Canadian dollars, cent, cents; HK$: Hong Kong dollar, Hong Kong dollars, cent, cents;"
    " NT$: New Taiwan dollar, New Taiwan dollars, cent, cents; S$: Singapore dollar, Singapore dollars, cent, cents;"
    " R$: real, reais, centavo, centavos; €: euro, euros, cent, cents; ¥: yen, yen; ₹: rupee, rupees, paisa, paise;"
    " ₩: won, won; ₽: ruble, rubles, kopek, kopeks; ₺: lira, lira; ₪: shekel, shekels; ₫: dong, dong; ฿: baht, baht;"
    " ₱: peso, pesos, centavo, centavos; ₦: naira, naira; ₿: bitcoin, bitcoins"
)
_CODES = _currencies(
    "USD: US dollar, US dollars, cent, cents; EUR: euro, euros, cent, cents; GBP: pound, pounds, penny, pence;"
    " JPY: yen, yen; CNY: yuan, yuan; RMB: yuan, yuan; INR: rupee, rupees, paisa, paise; KRW: won, won;"
    " CHF: Swiss franc, Swiss francs; CAD: Canadian dollar, Canadian dollars, cent, cents; BTC: bitcoin, bitcoins;"
    " AUD: Australian dollar, Australian dollars, cent, cents; HKD: Hong Kong dollar, Hong Kong dollars, cent, cents;"
    " Rs: rupee, rupees, paisa, paise"
)
_NAMES = _SYMBOLS | _CODES
SCALES = table(
    "k: thousand; K: thousand; m: million; M: million; mn: million; mm: million; MM: million; b: billion; B: billion;"
    " bn: billion; t: trillion; T: trillion; tn: trillion"
)
"""Letters for a scale directly behind an amount."""
_PER = table(
    "month: month; mo: month; day: day; year: year; yr: year; week: week; wk: week; hour: hour; hr: hour; h: hour;"
    " person: person; kg: kilogram; lb: pound; gal: gallon; unit: unit; user: user; seat: seat; share: share;"
    " mile: mile; night: night; item: item; piece: piece; minute: minute; min: minute; GB: gigabyte; token: token;"
    " head: head; kWh: kilowatt hour; ton: ton; barrel: barrel; ounce: ounce; oz: ounce; sq ft: square foot;"
    " pair: pair; page: page"
)
NO_NOUNS = frozenset(
    listing(
        "of we i you he she they it that to from in is are was were per and or more less away long wide tall high"
        " deep on at for with by as than into over under later ago after before old left right up down apart a an the"
    )
)
"""Words behind a measure or an amount that it does not describe."""
_BEFORE_NOUN = frozenset(listing("bill bills note notes coin coins check fee deal budget prize bet ticket tickets tip"))
"""Nouns before which the currency stays singular: "a five dollar bill"."""
_SCALE = (
    r"(?:[ -]?(?P<scale>hundred|thousand|million|billion|trillion)\b"
    r"|(?P<letter>k|K|mn|mm|MM|m|M|bn|b|B|tn|t|T)(?!\w))?"
)
_SIGN = r"(?P<sign>(?<![\w)])[-+])?"
_PER_TAIL = rf"(?:/(?P<per>{any_of(_PER)})(?!\w))?"


def _amount(run: str, currency: _Currency) -> str:
    """Return an amount: ``3.50`` dollars is "three dollars and fifty cents", ``3.999`` "three point nine nine nine
    dollars"."""
    head, _, fraction = run.partition(".")
    if fraction and (len(fraction) != 2 or not currency.cent):
        return f"{number(run)} {currency.many}"
    units = whole(head) if head else "zero"
    large = f"{units} {currency.one if units == 'one' else currency.many}"
    if not fraction.strip("0"):
        return large
    small = f"{whole(fraction.lstrip('0'))} {currency.cent if fraction == '01' else currency.cents}"
    return small if units == "zero" else f"{large} and {small}"


def _sum(match: re.Match[str]) -> str:
    """Return the amount of a match with its scale and currency."""
    currency = _NAMES[match["symbol"]]
    scale = match["scale"] or match["letter"]
    if scale:
        return f"{number(match['amount'])} {SCALES.get(scale, scale)} {currency.many}"
    return _amount(match["amount"], currency)


def _signed(sign: str | None, words: str) -> str:
    return f"{'minus' if sign == '-' else 'plus'} {words}" if sign else words


def _money(match: re.Match[str]) -> str:
    currency = _NAMES[match["symbol"]]
    words = _sum(match)
    if _describes(match) and words.endswith(currency.many):
        words = words.removesuffix(currency.many) + currency.one
    if match["per"]:
        words += f" per {_PER[match['per']]}"
    return _signed(match["sign"] or match["inner"], words)


def _describes(match: re.Match[str]) -> bool:
    """Return whether the amount describes the next noun: "$5 bill", "$10-million deal", "$20-a-day"."""
    hyphened = match.string[match.end() : match.end() + 1] == "-" and word_after(match) != ""
    after = word_after(match)
    if word_before(match) in ("a", "an", "the") and not match["per"] and after.islower() and after not in NO_NOUNS:
        return True
    return hyphened or after in _BEFORE_NOUN or "-million" in match.group() or "-billion" in match.group()


def _money_after(match: re.Match[str]) -> str:
    return _signed(match["sign"], _sum(match))


def _money_range(match: re.Match[str]) -> str:
    first, scale = match["first"], match["first_scale"]
    if match["again"] and match["dash"] == "to":
        many = f" {SCALES.get(scale, scale)} {_NAMES[match['symbol']].many}" if scale else ""
        return f"{number(first) + many if scale else _amount(first, _NAMES[match['symbol']])} to {_sum(match)}"
    if scale:
        return f"{number(first)} {SCALES.get(scale, scale)} to {_sum(match)}"
    words = f"{_amount(first, _NAMES[match['symbol']]) if '.' in first else number(first)} to {_sum(match)}"
    currency = _NAMES[match["symbol"]]
    after = word_after(match)
    if word_before(match) in ("a", "an", "the") and after.islower() and after not in NO_NOUNS:
        words = words.removesuffix(currency.many) + (currency.one if words.endswith(currency.many) else "")
    return words


def _cents(match: re.Match[str]) -> str:
    words = number(match["amount"])
    return _signed(match["sign"], f"{words} cent{'' if words == 'one' else 's'}")


def _continental(match: re.Match[str]) -> str:
    """Read ``€1.299,00``: points between thousands and a comma before cents."""
    currency = _NAMES[match["symbol"]]
    return _signed(match["sign"], _amount(match["amount"].replace(".", "").replace(",", "."), currency))


RULES = (
    EnglishRule(
        "continental_money",
        re.compile(
            rf"{_SIGN}(?<!\w)(?P<symbol>{any_of(_SYMBOLS)}) ?(?P<amount>\d{{1,3}}(?:\.\d{{3}}){{0,4}},\d\d|"
            r"(?<=€)\d{1,3}(?:\.\d{3}){1,4}(?! ?(?:[mb]n?\b|[mbt]rillion|million|billion)))(?![\w]|[.,]\d)"
        ),
        _continental,
    ),
    EnglishRule(
        "continental_money_after",
        re.compile(
            rf"(?<![\w.,]){_SIGN}(?P<amount>\d{{1,3}}(?:\.\d{{3}}){{0,4}},\d\d) ?(?P<symbol>[€£₺]|EUR|GBP)(?!\w)"
        ),
        _continental,
    ),
    EnglishRule(
        "money_range",
        re.compile(
            rf"(?<![\w$])(?P<symbol>{any_of(_SYMBOLS)}) ?(?P<first>{NUMBER})"
            r"(?: ?(?P<first_scale>million|billion|trillion|[kKmMbB](?= ?[-–—])))?"
            rf" ?(?P<dash>[-–—]|to) ?(?P<again>(?P=symbol))?(?P<amount>{NUMBER}){_SCALE}(?![\w%])"
        ),
        _money_range,
    ),
    EnglishRule(
        "money",
        re.compile(
            rf"{_SIGN}(?<!\w)(?P<symbol>{any_of(_SYMBOLS)}) ?(?P<inner>-)?(?P<amount>{NUMBER}){_SCALE}{_PER_TAIL}"
        ),
        _money,
    ),
    EnglishRule(
        "money_code",
        re.compile(
            rf"{_SIGN}(?<!\w)(?P<symbol>{any_of(_CODES)})\.? ?(?P<inner>-)?(?P<amount>{NUMBER}){_SCALE}{_PER_TAIL}"
        ),
        _money,
    ),
    EnglishRule(
        "money_after",
        re.compile(
            rf"(?<![\w.,$]){_SIGN}(?P<amount>{NUMBER}){_SCALE} ?"
            rf"(?P<symbol>[£€¥₹₩₽₺₪₫฿₱₦₿]|\$(?!\w)|(?:{any_of(_CODES.keys() - {'Rs'})})(?!\w))"
        ),
        _money_after,
    ),
    EnglishRule("cents", re.compile(rf"(?<![\w.,$]){_SIGN}(?P<amount>{NUMBER}) ?¢"), _cents),
)
