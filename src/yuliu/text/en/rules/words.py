"""Titles, abbreviations and Roman numerals."""

from __future__ import annotations

import re

from yuliu.text.en.measures import UNITS, plural_of
from yuliu.text.en.number_words import cardinal, ordinal, roman, year
from yuliu.text.en.rule import EnglishRule, before, word_before
from yuliu.text.en.tables import any_of, listing, table

TITLES = table(
    "Mr: Mister; Mrs: Missus; Ms: Miz; Dr: Doctor; Prof: Professor; St: Saint; Mt: Mount; Ft: Fort; Gen: General;"
    " Gov: Governor; Sen: Senator; Rep: Representative; Capt: Captain; Lt: Lieutenant; Col: Colonel; Sgt: Sergeant;"
    " Cmdr: Commander; Rev: Reverend; Hon: Honorable; Pres: President; Cpl: Corporal; Maj: Major; Adm: Admiral;"
    " Fr: Father; Messrs: Messers; Ste: Sainte; Supt: Superintendent; Pvt: Private; Atty: Attorney; Mme: Madame;"
    " Drs: Doctors; Sens: Senators; Reps: Representatives; Govs: Governors; Gens: Generals; Profs: Professors;"
    " Revs: Reverends; Mses: Mizzes"
)
"""Titles read in full before a name, with or without a dot."""
ABBREVIATIONS = table(
    "th': the; ol': old; Jr.: Junior; Sr.: Senior; St.: Street; Ave.: Avenue; Blvd.: Boulevard; Rd.: Road; Ln.: Lane;"
    " Hwy.: Highway; Pkwy.: Parkway; Apt.: Apartment; apt.: apartment; Bldg.: Building; Ltd.: Limited;"
    " Inc.: Incorporated; Corp.: Corporation; Co.: Company; Bros.: Brothers; Dept.: Department; dept.: department;"
    " Univ.: University; Assn.: Association; Assoc.: Association; Govt.: Government; govt.: government;"
    " approx.: approximately; approx: approximately; Approx.: Approximately; est.: established; Est.: Established;"
    " vs.: versus; vs: versus; Vs.: versus; vol.: volume; Vol.: Volume; Pt.: Part; Ch.: Chapter; ch.: chapter;"
    " Sec.: Section; Fig.: Figure; fig.: figure; figs.: figures; Figs.: Figures; eq.: equation; Eq.: Equation;"
    " etc.: et cetera; etc: et cetera; e.g.: for example; eg.: for example; E.g.: For example; i.e.: that is;"
    " I.e.: That is; cf.: compare; et al.: et al; w/o: without; w/in: within; w/: with; c/o: care of; b/c: because;"
    " aka: also known as; a.k.a.: also known as; AKA: also known as; viz.: namely; misc.: miscellaneous;"
    " min.: minimum; max.: maximum; avg.: average; temp.: temperature; Tel.: Telephone; tel.: telephone;"
    " ext.: extension; Ext.: Extension; incl.: including; excl.: excluding; esp.: especially; orig.: originally;"
    " resp.: respectively; ca.: circa; Esq.: Esquire; Dr.: Drive; Mt.: Mount; Sq.: Square; Pl.: Place; Ct.: Court;"
    " Prof.: Professor; Gen.: General; Gov.: Governor; Sen.: Senator; Rep.: Representative; Capt.: Captain;"
    " Sgt.: Sergeant; Rev.: Reverend; Mr.: Mister; Mrs.: Missus; Ms.: Miz; Ph.D.: PHD; Ph.D: PHD; PhD: PHD;"
    " PhDs: PHDs; N.B.: note; P.S.: PS; hrs.: hours; ft.: feet; lbs.: pounds; oz.: ounces; feat.: featuring;"
    " ed.: edition; eds.: editors; trans.: translated; Mfg.: Manufacturing; Intl.: International; Natl.: National;"
    " Dist.: District; Rte.: Route; Hon.: Honorable; Lt.: Lieutenant; Col.: Colonel; Maj.: Major; wk.: week;"
    " appt.: appointment; Asst.: Assistant; asst.: assistant; mgr.: manager; Mgr.: Manager; qty.: quantity;"
    " Pres.: President; Dir.: Director; Exec.: Executive; Attn.: Attention; attn.: attention; n.b.: note"
)
"""Abbreviations read in full wherever they stand as a word of their own."""
COUNTED = listing(
    "Chapter chapter Part part Act act Scene scene Section section Volume volume Vol Ch Fig Pt Book book Phase phase"
    " Article article War Mark Type type Level level Stage stage Class class Grade grade Bowl Apollo Gemini Fantasy"
    " Episode Round round Rocky Title Appendix appendix Figure Table Schedule Category Vatican iPhone OS Tier tier"
    " Unit Lesson lesson Step step Saturn Theft Quest Evil Civilization Division Group Region Zone Model Block Wars"
    " Trek Godfather Terminator Annex Player Olympiad Rambo Windsor Diablo Warcraft StarCraft Souls Kombat"
)
"""Words before a Roman numeral that is a cardinal."""
REGNAL = listing(
    "Henry Louis Edward George William Charles James Richard Elizabeth Napoleon Pius Benedict Leo Paul Ramses"
    " Ramesses Frederick Philip Alexander Nicholas Peter Catherine Ivan Umberto Emmanuel Gustav Christian Ferdinand"
    " John Mary Otto Francis Francois Alfonso Juan Carlos Felipe Gregory Innocent Clement Urban Xerxes Darius Cyrus"
    " Mehmed Murad Selim Suleiman Amenhotep Thutmose Seti Ptolemy Cleopatra Constantine Theodosius Justinian Basil"
    " Leopold Franz Wilhelm Haakon Olaf Harald Margrethe Carl Karl Kenneth Malcolm Robert David Stephen Matilda"
    " Alexis Boris Vladimir Mohammed Hassan Abdullah Rama Pedro Afonso Manuel Victor Albert Rainier Baudouin Beatrix"
    " Wilhelmina Willem Sixtus Julius Boniface Celestine Adrian Martin Eugene Nero Tiberius Claudius Valentinian Anne"
    " Isabella Maximilian Joseph Rudolf Sigismund Casimir Stanislaus Bela Louise Frederik Knut Canute Sancho"
    " Ladislaus Theodore Dionysius Antiochus Seleucus"
)
"""Names before a Roman numeral that is an ordinal."""


_RULER = re.compile(r"(?i:\b(?:king|queen|pope|emperor|empress|tsar|czar|prince|sultan|pharaoh|kaiser|saint)\b)")
_NUMERAL = r"(?P<numeral>(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?<=[IVXLCDM])"
_REGNAL_AFTER = re.compile(r" (?:of|was|reigned|ruled|died|became|and his|and her)\b|'s\b|$|[.,;!?)]")
"""Text after "Charles I" where it is the king rather than the name and the pronoun."""
_CLOSES = re.compile(r"[ \"'”)]{0,4}\Z")
_NEXT_SENTENCE = re.compile(r"[\"”)]? [A-Z]")
_SPEAKER_AFTER = re.compile(
    r" (?:am|have|had|will|would|tried|think|know|can|could|should|saw|want|guess|did|do|said|met|went|like|need)\b"
)
"""Text after "I" the pronoun."""
_GREETED = frozenset(listing("hi hello dear the ask and meet see call with to is was for by from thanks"))
_NUMERO = table("No: Number; no: number; Nos: Numbers; nos: numbers; p: page; pp: pages; Pp: Pages; P: page")
_NUMBERED = table(
    "pg: page; pgs: pages; Pg: Page; Nr: Number; Rt: Route; rt: route; v: version; Amend: Amendment;"
    " Sc: Scene; sc: scene; Gr: Grade;"
    " Art: Article; art: article; Arts: Articles; Eqs: Equations; eqs: equations; Ref: Reference; ref: reference;"
    " Refs: References; refs: references; Para: Paragraph; para: paragraph; Ex: Example; App: Appendix; Op: Opus;"
    " op: opus; Sect: Section; sec: section; Vols: Volumes; vols: volumes; Chs: Chapters; Tab: Table; Ver: Version;"
    " ver: version; Lect: Lecture; Bk: Book; bk: book"
)
_BEFORE_COLON = table(
    "hrs: hours; Hrs: Hours; hr: hour; min: minimum; max: maximum; Min: Minimum; Max: Maximum; Tel: Telephone;"
    " tel: telephone; ext: extension; Ext: Extension; qty: quantity; Qty: Quantity; temp: temperature;"
    " Temp: Temperature; avg: average; Avg: Average; vol: volume; Vol: Volume; dept: department; Dept: Department;"
    " Attn: Attention; approx: approximately; est: estimated; Est: Estimated; addr: address; Addr: Address;"
    " Acct: Account; acct: account; wt: weight; Wt: Weight; ht: height; Ht: Height; Mon: Monday; Tue: Tuesday;"
    " Tues: Tuesday; Wed: Wednesday; Thu: Thursday; Thurs: Thursday; Fri: Friday; Sat: Saturday; Sun: Sunday"
)
"""Short forms at the head of a value ("Hrs: 8-8"), where their dot is missing."""
_ROADS = table("St: Street; Ave: Avenue; Rd: Road; Blvd: Boulevard; Ln: Lane; Hwy: Highway; Pkwy: Parkway")
_CAPITAL_TITLES = table("MR: Mister; MRS: Missus; MS: Miz; DR: Doctor; PROF: Professor; ST: Saint")
_BARE_UNITS = listing("mmHg kg km cm mm ml mL mg GHz MHz kHz Hz kWh mph km/h kph fps dB Mbps Gbps kbps rpm")
"""Units that are not words, read in full where no number stands before them."""
_NOT_SURNAMES = frozenset((*COUNTED, *REGNAL))
_WINDOW = 40
"""Number of characters before a match in which a house number or a ruler's title is searched."""


def _title(match: re.Match[str]) -> str:
    name = match["title"]
    house = re.search(r"\d (?:[NSEW]\.? )?(?:[A-Z][a-z]+ ){1,2}\Z", before(match, _WINDOW))
    if name in ("St", "Dr") and house and word_before(match) not in _GREETED:
        return "Street " if name == "St" else "Drive "
    return TITLES[name] + " "


def _final(match: re.Match[str]) -> bool:
    """Return whether a dot at the end of the match also ends a sentence."""
    if _CLOSES.match(match.string, match.end()):
        return True
    return match.group() == "etc." and _NEXT_SENTENCE.match(match.string, match.end()) is not None


def _abbreviation(match: re.Match[str]) -> str:
    short = match.group()
    if short == "Dr." and not re.search(r"[A-Z][a-z]+ \Z", before(match, 24)):
        return "Doctor"
    return ABBREVIATIONS[short] + ("." if short.endswith(".") and _final(match) else "")


def _numero(match: re.Match[str]) -> str:
    word = match["word"] or match["plain"]
    return (_NUMERO[word] if word else "number") + " "


def _numbered(match: re.Match[str]) -> str:
    return _NUMBERED[match["word"]] + " "


def _road(match: re.Match[str]) -> str | None:
    """Read ``10 Downing St``: a road without a dot, only behind its house number or the number of a street."""
    house = re.search(r"\d(?:st|nd|rd|th)? (?:[NSEW]\.? )?(?:[A-Z][a-z]+ ){0,2}\Z", before(match, _WINDOW))
    return _ROADS[match["road"]] if house else None


def _counted(match: re.Match[str]) -> str | None:
    if match["numeral"] == "I":
        closed = _CLOSES.match(match.string, match.end()) or match.string[match.end()] in ".,;:!?)"
        if not closed and (match["word"][0].islower() or _SPEAKER_AFTER.match(match.string, match.end())):
            return None
    word = ABBREVIATIONS.get(match["word"] + ".", match["word"])
    return f"{word} {cardinal(roman(match['numeral']))}"


def _regnal(match: re.Match[str]) -> str | None:
    numeral, name = match["numeral"], match["name"]
    titled = _RULER.search(before(match, _WINDOW)) is not None
    after = match.string[match.end() : match.end() + 12]
    if numeral == "I" and not _REGNAL_AFTER.match(after):
        return None
    if (numeral in "XCDML" and not titled) or (numeral == "V" and name in ("Malcolm", "Mary")):
        return None
    return f"{name} the {ordinal(roman(numeral))}"


def _heir(match: re.Match[str]) -> str | None:
    if match["last"] in _NOT_SURNAMES:
        return None
    return f"{match['name']} the {ordinal(roman(match['numeral']))}"


def _lone(match: re.Match[str]) -> str:
    return cardinal(roman(match["numeral"]))


def _century(match: re.Match[str]) -> str:
    return ordinal(roman(match["numeral"]))


def _roman_year(match: re.Match[str]) -> str | None:
    value = roman(match["numeral"])
    return year(value) if 1500 <= value < 2100 else None


def _bare_unit(match: re.Match[str]) -> str:
    return plural_of(UNITS[match.group()])


RULES = (
    EnglishRule(
        "numero",
        re.compile(
            r"(?<![\w&])(?:(?P<word>Nos?|nos?|[pP]p?)\. ?|(?<=[a-z] )(?P<plain>No) |#(?!\d{1,6}[A-Za-z]{2}) ?)(?=\d)"
        ),
        _numero,
    ),
    EnglishRule("numbered", re.compile(rf"\b(?P<word>{any_of(_NUMBERED)})\. ?(?=\d)"), _numbered),
    EnglishRule(
        "road", re.compile(rf"\b(?P<road>{any_of(_ROADS)})(?=$|[,;)?!]| (?:and|in|near|is|at|was|today|now)\b)"), _road
    ),
    EnglishRule(
        "before_colon",
        re.compile(rf"(?<![\w.@/-])(?P<short>{any_of(_BEFORE_COLON)})(?=: ?\S)"),
        lambda match: _BEFORE_COLON[match["short"]],
    ),
    EnglishRule("versus", re.compile(r"(?<=[a-z.] )v\. (?=[A-Z])"), lambda match: "versus "),
    EnglishRule("title", re.compile(rf"\b(?P<title>{any_of(TITLES)})\.? (?=[A-Z])"), _title),
    EnglishRule(
        "title_capitals",
        re.compile(rf"\b(?P<title>{any_of(_CAPITAL_TITLES)})\. (?=[A-Z])"),
        lambda match: _CAPITAL_TITLES[match["title"]] + " ",
    ),
    EnglishRule("counted", re.compile(rf"\b(?P<word>{any_of(COUNTED)})\.? {_NUMERAL}\b(?![.'’]\w)"), _counted),
    EnglishRule("regnal", re.compile(rf"\b(?P<name>{any_of(REGNAL)}) {_NUMERAL}\b(?![.'’][A-Za-z]{{2}})"), _regnal),
    EnglishRule(
        "heir",
        re.compile(r"\b(?P<name>[A-Z][a-z]{1,20} (?P<last>[A-Z][a-z]{1,20})) (?P<numeral>III|IV|II)\b(?=[,.;!?)]|$)"),
        _heir,
    ),
    EnglishRule("century", re.compile(rf"\b{_NUMERAL}(?:th)?(?= [Cc]entur)"), _century),
    EnglishRule(
        "roman_name",
        re.compile(r"\b(?P<word>[A-Z][a-z]{1,20}) (?P<numeral>(?:X{1,3})?(?:I{2,3}|I[VX]|VI{1,3}))\b(?!['’.]\w)"),
        _counted,
    ),
    EnglishRule(
        "roman_year",
        re.compile(r"\b(?=M[CMD])(?P<numeral>M{1,2}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\b"),
        _roman_year,
    ),
    EnglishRule("lone_numeral", re.compile(rf"(?<![\w.-])(?=X{{1,3}}[IV]|VII|II){_NUMERAL}(?![\w'-])"), _lone),
    EnglishRule("abbreviation", re.compile(rf"(?<![\w.@/])(?:{any_of(ABBREVIATIONS)})(?!\w|/\w)"), _abbreviation),
    EnglishRule("bare_unit", re.compile(rf"(?<![\w/.-])(?:{any_of(_BARE_UNITS)})(?![\w/-])"), _bare_unit),
)
