"""What the rows of a card and the notes of a listing say, in the languages of eBay's shops.

Cards have no class for each meaning, and the language of a page may be any: so each meaning is one pattern over all
languages (en, de, fr, it, es, nl, pl, ja). Seen in result pages of 2025-07 to 2026-04 (en, de, es), else as the shops
write them.
"""

from __future__ import annotations

import re


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


FIXED = _any(
    r"^buy it now", r"^sofort-?kaufen", r"^achat imm[ée]diat", r"^compralo subito", r"^¡?c[óo]mpralo (?:ya|ahora)",
    r"^koop nu", r"^nu kopen", r"^kup teraz", "^今すぐ購入", "^即決",
)  # fmt: skip
BEST_OFFER = _any(
    r"^(?:or )?best offer$", r"^(?:oder )?preisvorschlag$", r"^(?:ou )?offre directe$", r"^(?:o )?proposta d.acquisto$",
    r"^(?:o )?mejor oferta$", r"^(?:of )?(?:beste bod|bieden)$", r"^(?:lub )?najlepsza oferta$",
)  # fmt: skip
OFFER_ACCEPTED = _any(
    r"best offer accepted", r"preisvorschlag angenommen", r"offre directe accept[ée]e",
    r"proposta d.acquisto accettata", r"(?:mejor )?oferta aceptada", r"bod geaccepteerd", r"ofert[aęy] zaakceptowan",
)  # fmt: skip
BIDS = re.compile(
    r"^(?P<count>[\d.,]+)\s*(?:bids?|gebote?|ench[èe]res?|offert[ae]|ofertas?(?: de subasta)?|pujas?|biedingen|bod"
    r"|ofert[ay]?|件の入札|入札)\b",
    re.IGNORECASE,
)
SHIPPING = _any(
    r"shipping", r"delivery", r"postage", r"\bp&p\b", r"versand", r"lieferung", r"livraison", r"exp[ée]dition",
    r"spedizione", r"consegna", r"env[íi]o", r"entrega", r"verzend", r"bezorg", r"wysy[łl]k", r"dostaw", "送料", "配送",
)  # fmt: skip
FREE = _any(
    r"\bfree\b", r"gratis", r"kostenlos", r"gratuit", r"sans frais", r"sin gastos", r"darmow", r"bezp[łl]atn", "無料",
)  # fmt: skip
#: sending the item back, which is no shipping
RETURN = _any(r"r[üu]ckversand", r"\breturns?\b", r"retours?", r"\bresi\b", r"restituzion", r"devoluci", r"zwrot")
LOCATION = re.compile(
    r"^(?:located in:?|from|standort:|aus|provenance\s?:|situ[ée]e? (?:en|[àa])\s?:?|de|provenienza:|da|ubicado en:?|"
    r"uit|locatie:|z|lokalizacja:)\s+(?P<place>[^\d%|·]{2,80})$",
    re.IGNORECASE,
)
#: the same in a listing, where a label always stands before it
LABELLED_LOCATION = re.compile(
    r"(?:located in|standort|lieu o[ùu] se trouve l.objet|situ[ée]e? [àa]|(?:l.)?oggetto (?:che )?si trova a|"
    r"si trova a|luogo in cui si trova l.oggetto|ubicado en|locatie|lokalizacja)\s*:\s*(?P<place>.+)",
    re.IGNORECASE,
)
SOLD_COUNT = re.compile(
    r"(?P<count>\d[\d.,\u00a0\u202f]*)\s?\+?\s*(?:sold|verkauft|vendus?|vendut[oi]|vendidos?|verkocht|sprzedan\w*|"
    r"点販売|個販売)",
    re.IGNORECASE,
)
WATCHERS = re.compile(
    r"(?P<count>\d[\d.,]*)\+?\s*(?:watch(?:ers?|ing)|beobachter|observateurs?|abonn[ée]s|osservator[ie]|"
    r"(?:usuarios )?(?:siguiendo|seguidores)|volgers|obserwuj\w+)",
    re.IGNORECASE,
)
#: before a former price
LIST_PRICE = _any(
    r"\bwas\b", r"list price", r"\buvp\b", r"statt", r"bisher", r"[ée]tait", r"prix conseill[ée]",
    r"prezzo (?:di listino|consigliato)", r"\bera\b", r"\bantes\b", r"precio de venta", r"adviesprijs", r"by[łl]o",
)  # fmt: skip
ENDED = _any(
    r"\bended\b", r"beendet", r"termin[ée]e?\b", r"terminat[oa]", r"scadut[oa]", r"finaliz", r"be[ëe]indigd",
    r"zako[ńn]czon", "終了",
)  # fmt: skip
SOLD = _any(
    r"\bsold\b", r"verkauft", r"vendue?s?\b", r"vendut[oa]", r"vendid[oa]", r"verkocht", r"sprzedan", "販売済", "売れ",
)  # fmt: skip
#: a listing's own note that it is over
OVER = _any(ENDED.pattern, SOLD.pattern, r"no longer available", r"nicht mehr verf[üu]gbar", r"n.est plus disponible",
            r"non [èe] pi[ùu] disponibile", r"ya no est[áa] disponible")  # fmt: skip
FOLLOWERS = _any(r"followers?", r"abonn[ée]s", r"seguidor", r"volgers", r"obserwuj")
POSITIVE = re.compile(r"(?<![\d.,])(?P<share>100|\d{1,2}(?:[.,]\d{1,2})?)\s?%")
SINCE = _any(
    r"member since", r"mitglied seit", r"membre depuis", r"(?:membro|utente) dal", r"miembro desde", r"lid sinds",
    r"u[żz]ytkownik od",
)  # fmt: skip
PLACE = re.compile(
    r"(?:location|standort|lieu|ubicaci[óo]n|luogo|locatie|lokalizacja)\s*:\s*(?P<place>.+)", re.IGNORECASE
)
#: labels of an item's attributes
BRAND = _any(r"^brand$", r"^marke$", r"^marque$", r"^marca$", r"^merk$", r"^marka$", "^ブランド$")
GTIN = _any(r"^(?:upc|ean|isbn|gtin)$")
PART_NUMBER = _any(r"^(?:mpn|herstellernummer|num[ée]ro de pi[èe]ce fabricant)$")
