"""What labels and counts on LinkedIn's pages say, in the languages it serves guests in.

The order of a job's criteria is no help: pages leave single ones out. Each meaning is one pattern over en, de, fr, es,
pt, it, nl, sv, da, no, pl, tr, ru, ja, zh, ko. Seen in pages of 2024 to 2026 (en, pt, sv), else as the site's
translations read.
"""

from __future__ import annotations

import re


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


SENIORITY = _any(
    r"seniority", r"karrierestufe", r"niveau hi[ée]rarchique", r"(?:nivel|n[íi]vel) de (?:antig|experi)",
    r"livello di anzianit", r"senioriteit", r"carri[èe]reniveau", r"senioritetsniv", r"an[cs]iennitetsniv",
    r"poziom\b.*(?:hierarch|stanowisk)", r"k[ıi]dem", r"уровень должности", r"雇用レベル|役職|経験レベル",
    r"(?:职位|资历|資歷).?(?:级别|等级|層級)|资历", r"경력|직급",
)  # fmt: skip
EMPLOYMENT = _any(
    r"employment type", r"besch[äa]ftigungs", r"anstellungs", r"type d.emploi", r"tipo de (?:empleo|emprego)",
    r"tipo di impiego", r"soort (?:baan|dienstverband)|dienstverband", r"anst[äa]llnings", r"ans[æe]ttelses?type",
    r"ansettelsesforhold", r"forma zatrudnienia|rodzaj zatrudnienia", r"istihdam t[üu]r[üu]", r"тип занятости",
    r"雇用形態", r"(?:职位|雇佣|工作|就业|僱用)(?:类型|類型|性质)", r"고용\s?형태|고용\s?유형",
)  # fmt: skip
FUNCTION = _any(
    r"job function", r"t[äa]tigkeitsbereich", r"^fonctions?$", r"funci[óo]n(?: laboral)?$", r"^fun[çc][ãa]o$",
    r"funzione lavorativa", r"^functie", r"jobbfunktion|jobfunktion|arbeidsfunksjon|stillingsfunksjon",
    r"^funkcja", r"i[şs] (?:fonksiyonu|i[şs]levi)", r"должностные обязанности", r"職務(?:タイプ|内容)?|職種",
    r"职位职能|职能|職能", r"^직무",
)  # fmt: skip
INDUSTRIES = _any(
    r"^industr", r"^branchen?$", r"secteurs?\b", r"^sectores$", r"^setores$", r"^settori", r"bedrijfstak|^sector",
    r"^branscher?$", r"^brancher?$", r"^bransjer?$", r"^bran[żz]e", r"^sekt[öo]r", r"^отрасл", r"業種|業界",
    r"行业|行業|产业", r"^업[종계]",
)  # fmt: skip

FOLLOWERS = _any(
    r"followers?\b", r"abonn[ée]s", r"seguidor", r"volgers", r"f[öo]ljare", r"f[øo]lgere", r"obserwuj", r"takip[çc]i",
    r"подписчик|отслежива", r"フォロワー", r"关注者|關注者", r"팔로워", r"pengikut", r"sleduj[íi]c[íi]",
    r"urm[ăa]ritori",
)  # fmt: skip
CONNECTIONS = _any(
    r"connections?\b", r"kontakte?\b", r"relations?\b", r"contactos", r"conex[õo]es", r"collegament", r"connecties",
    r"kontakter", r"forbindelser", r"kontakt[óo]?w?\b", r"ba[ğg]lant[ıi]", r"контакт", r"つながり", r"好友|人脉|人脈",
    r"1촌", r"koneksi", r"spojen[íi]", r"conexiuni",
)  # fmt: skip
#: before a number that is a lower bound
MORE_THAN = _any(
    r"\+", r"\bover\b", r"more than", r"mehr als|[üu]ber", r"plus de", r"m[áa]s de", r"mais de", r"oltre|pi[ùu] di",
    r"meer dan", r"[öo]ver|fler [äa]n", r"mere end|flere enn|mer enn", r"ponad", r"daha fazla|fazla|[üu]zeri",
    r"более|свыше", r"以上|超", r"이상|넘",
)  # fmt: skip
#: "be among the first 25 applicants": a number, and no count
AMONG_FIRST = _any(
    r"\bfirst\b", r"\bersten\b", r"\bpremiers?\b", r"\bprimer[oa]s?\b", r"\bprimeir[oa]s?\b", r"\bprimi\b",
    r"\beerste", r"\bf[öo]rsta\b", r"\bf[øo]rste\b", r"\bpierwsz", r"\bilk\b", r"\bперв", r"最初",
    r"首|前\s?\d+\s?[名位]", r"먼저|처음|초기",
)  # fmt: skip

#: units of pay behind a slash or a word; the value is schema.org's
PERIODS = {
    "YEAR": _any(r"/\s?(?:yr|year|jahr|an|a[ñn]o|ano|anno|jaar|[åa]r|rok)\b", r"\bper year\b", r"年"),
    "MONTH": _any(r"/\s?(?:mo|mon|month|monat|mois|mes|m[êe]s|mese|maand|m[åa]n|mies)\b", r"\bper month\b", r"月"),
    "WEEK": _any(r"/\s?(?:wk|week|woche|semaine|semana|settimana|vecka|uge|uke|tydz)\b", r"\bper week\b", r"週|周"),
    "DAY": _any(r"/\s?(?:day|tag|jour|d[íi]a|dia|giorno|dag|dzie[ńn])\b", r"\bper day\b", r"日"),
    "HOUR": _any(r"/\s?(?:hr|hour|std|stunde|h|heure|hora|ora|uur|timme|time|godz)\b", r"\bper hour\b", r"時|小时"),
}  # fmt: skip

#: between the last two of a list, by language; English has a comma before it
CONJUNCTIONS = {
    "de": "und", "fr": "et", "es": "y", "pt": "e", "it": "e", "nl": "en", "sv": "och", "da": "og", "no": "og",
    "nb": "og", "pl": "i", "tr": "ve",
}  # fmt: skip
