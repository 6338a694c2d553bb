"""Abbreviations, titles, and the names that Roman numerals follow."""

from __future__ import annotations

from yuliu.text.en.tables import listing, table

TITLES = table(
    "Mr: Mister; Mrs: Missus; Ms: Miz; Dr: Doctor; Prof: Professor; St: Saint; Mt: Mount; Ft: Fort; Gen: General;"
    " Gov: Governor; Sen: Senator; Rep: Representative; Capt: Captain; Lt: Lieutenant; Col: Colonel; Sgt: Sergeant;"
    " Cmdr: Commander; Rev: Reverend; Hon: Honorable; Pres: President; Cpl: Corporal; Maj: Major; Adm: Admiral;"
    " Fr: Father; Messrs: Messers; Ste: Sainte; Supt: Superintendent; Pvt: Private; Atty: Attorney; Mme: Madame;"
    " Drs: Doctors; Sens: Senators; Reps: Representatives; Govs: Governors; Gens: Generals; Profs: Professors;"
    " Revs: Reverends; Mses: Mizzes"
)
"""Said in full before a name, with or without a dot."""
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
"""Said in full wherever they stand as a word of their own."""
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
