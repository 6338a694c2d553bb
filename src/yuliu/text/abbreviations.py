"""Abbreviations whose full stop may not end a sentence.

Lower case, without the last full stop, grouped by the meaning of a full stop after them.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words(
    "dr mr mrs ms mx prof gen col capt cpt cmdr lt sgt maj rev hon sen rep gov pres fr messrs mme mlle supt insp "
    "adm cpl pvt drs sens reps govs gens profs revs brig cmdt atty ste"
)
"""Titles before a name: the full stop never ends a sentence."""

NUMBERED = _words(
    "no nos fig figs vol vols ch chap sec sect art pt eq eqs ex p pp para ver op nr ref refs "
    "apt rm bldg bk app tab sc ed"
)
"""Words before a number: the full stop ends a sentence unless a digit follows ("No. 5", but "No. I will not.")."""

INNER = _words("e.g i.e eg ie vs v cf viz approx al resp incl esp excl est aka a.k.a c.f w.r.t")
"""Words inside a sentence: the full stop never ends it."""

CLOSING = _words(
    "etc inc ltd co corp bros llc plc jr sr esq st ave blvd rd ln hwy sq mt ft dept univ assn assoc bldg "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri "
    "ph.d tel ext avg min max"
)
"""Words that may end a sentence: the next word decides ("Acme Inc. President" and "Acme Inc. She left.")."""

UNITS = _words("hr hrs lb lbs oz yr yrs min mins sec secs cm mm km kg ml mi ft in mph")
"""Units after a number: the full stop ends a sentence unless a lower-case letter or a digit follows ("5 ft. 2 in.")."""

LETTERED = _words(
    "a an plan option choice answer vitamin hepatitis class grade group team type row gate section exhibit appendix "
    "figure part building block terminal channel letter schedule"
)
"""Words before a letter that is a name of its own: the full stop after "plan B" ends a sentence."""

MONTHS = _words(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)

STARTERS = _words(
    "a an the this that these those there here he she it i we you they his her its my our your their who what when "
    "where why how which in on at by for from with as if so but and or yet not no yes then now after before while "
    "since because although though however meanwhile also once until unless when whenever do does did is are was "
    "were have has had can could will would should may might must let please thanks thank ok okay well just only "
    "some many most all each every both another other one two three people everyone everybody nobody nothing "
    "something someone anyone maybe perhaps today yesterday tomorrow next first second third finally later soon "
    "still even it's that's there's he's she's i'm i'll i've we're we'll they're you're don't didn't"
)
"""Words that, capitalised after a full stop, open a sentence far more often than they continue a name."""

CLOCKS = _words(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun "
    "january february march april may june july august september october november december "
    "eastern pacific central mountain est edt pst pdt cst cdt mst mdt gmt utc cet bst ist jst et pt"
)
"""Capitalised words that continue the sentence after "9 a.m.": days, months and time zones."""
