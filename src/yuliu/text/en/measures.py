"""Names of units of measure."""

from __future__ import annotations

from yuliu.text.en.tables import listing, table

_PREFIXES = table("k: kilo; K: kilo; M: mega; G: giga; T: tera; m: milli; μ: micro; n: nano")
_BASES = table(
    "m: meter; g: gram; W: watt; V: volt; A: amp; Hz: hertz; J: joule; Pa: pascal; B: byte; b: bit; L: liter;"
    " l: liter; s: second; Ω: ohm; F: farad; mol: mole; cal: calorie; eV: electronvolt; bps: bit per second;"
    " Wh: watt hour; Ah: amp hour; Bps: byte per second; N: newton; ton: ton; px: pixel; bit: bit"
)
_PREFIXED = table(
    "m: kmμn; g: kmμn; W: kmMGT; V: kmμ; A: mμk; Hz: kMGT; J: kM; Pa: kM; B: kKMGT; b: kKMG; L: mμ; l: mμ; s: mμn;"
    " Ω: kM; F: μn; mol: m; cal: k; eV: kMG; bps: kKMGT; Wh: kMGT; Ah: m; Bps: kMG; N: k; ton: k; px: M; bit: kM"
)
"""Prefixes of each base."""
_NEVER_BARE = frozenset(["b", "F", "N"])
"""Bases that are units only with a prefix: alone they are letters."""
_PLAIN = table(
    "cm: centimeter; dm: decimeter; cl: centiliter; cL: centiliter; dl: deciliter; hPa: hectopascal; mcg: microgram;"
    " ug: microgram; um: micrometer; us: microsecond; in: inch; ft: foot; yd: yard; yds: yard; mi: mile; oz: ounce;"
    " lb: pound; lbs: pound; gal: gallon; qt: quart; tbsp: tablespoon; tsp: teaspoon; fl oz: fluid ounce;"
    " ha: hectare; sec: second; secs: second; min: minute; mins: minute; hr: hour; hrs: hour; h: hour; yr: year;"
    " yrs: year; mo: month; mos: month; wk: week; wks: week; dB: decibel; dBm: decibel milliwatt; mph: mile per hour;"
    " kph: kilometer per hour; kmh: kilometer per hour; rpm: revolution per minute; bpm: beat per minute;"
    " fps: frame per second; mpg: mile per gallon; psi: pound per square inch; dpi: dot per inch;"
    " ppi: pixel per inch; ppm: part per million; ppb: part per billion; wpm: word per minute;"
    " mmHg: millimeter of mercury; cc: cubic centimeter; kt: knot; kts: knot; KiB: kibibyte; MiB: mebibyte;"
    " GiB: gibibyte; TiB: tebibyte; atm: atmosphere; rad: radian; hp: horsepower; lm: lumen; lx: lux;"
    " Nm: newton meter; mil: mil; ly: light year; AU: astronomical unit; KB: kilobyte; pt: point; pct: percent;"
    " t: ton; mg/L: milligram per liter; km/h: kilometer per hour; °C: degree Celsius; ° C: degree Celsius;"
    " °F: degree Fahrenheit; ° F: degree Fahrenheit; °K: degree Kelvin; °: degree; sq ft: square foot;"
    " sq. ft.: square foot; sq mi: square mile; sq m: square meter; sq km: square kilometer; sq in: square inch;"
    " cu ft: cubic foot; MPH: mile per hour; MPG: mile per gallon; KPH: kilometer per hour; RPM: revolution per minute;"
    " FPS: frame per second; PSI: pound per square inch; BPM: beat per minute; KG: kilogram; KM: kilometer;"
    " sq. m: square meter; sq. mi.: square mile; sq. km: square kilometer; cu. ft.: cubic foot; cu. m: cubic meter;"
    " cu. in.: cubic inch; sq. in.: square inch; sq. yd.: square yard; N·m: newton meter; pts: point;"
    " mins.: minute; min.: minute; lbs.: pound; lb.: pound; ft.: foot; oz.: ounce; hrs.: hour;"
    " hr.: hour; yrs.: year; in.: inch; sec.: second"
)
_IRREGULAR = table("foot: feet; inch: inches; horsepower: horsepower; lux: lux; percent: percent")
_ADJECTIVES = frozenset(listing("square cubic fluid light amp milliamp newton astronomical decibel"))


def _all_units() -> dict[str, str]:
    units = dict(_PLAIN)
    units |= {"kΩ": "kilohm", "MΩ": "megohm"}
    for base, name in _BASES.items():
        if base not in _NEVER_BARE:
            units.setdefault(base, name)
        for prefix in _PREFIXED[base]:
            units.setdefault(prefix + base, _PREFIXES[prefix] + name)
    return units


UNITS = _all_units()
"""Symbols and singular names."""
PER = table(
    "s: second; sec: second; h: hour; hr: hour; min: minute; m: meter; day: day; d: day; week: week; month: month;"
    " year: year; yr: year; kg: kilogram; g: gram; L: liter; l: liter; mL: milliliter; ml: milliliter; dL: deciliter;"
    " m^3: cubic meter; m^2: square meter; m3: cubic meter; m2: square meter; s^2: second squared;"
    " s2: second squared; cm^2: square centimeter; cm^3: cubic centimeter; cm3: cubic centimeter; person: person;"
    " gal: gallon; km: kilometer; mi: mile; px: pixel; user: user; hour: hour; minute: minute; second: second"
)
"""Units that may follow a slash after a unit."""


def plural_of(name: str) -> str:
    """Return the plural of a unit: "miles per hour", "square feet", "degrees Celsius", "kilowatt hours"."""
    head, space, tail = name.partition(" ")
    if space and (head in _ADJECTIVES or head.endswith("watt")):
        return f"{head} {plural_of(tail)}"
    if head.endswith("hertz"):
        return name
    return _IRREGULAR.get(head, head + "s") + space + tail
