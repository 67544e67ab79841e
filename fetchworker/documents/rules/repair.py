"""What OCR does to names and addresses, undone where the words leave no doubt (pure).

Only words that documents of a kind share are put right: legal forms, and the words of addresses in ``labels.yaml``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from fetchworker.documents.rules import labels

_SENDIRIAN = re.compile(r"(?i)(?<![a-z])(S)(?:[DO0][NH]|N)(\.?\s?)(B)[HN][DOU0](?![a-z])")
#: a legal form grown onto the word before it
_GLUED = re.compile(r"(?<=[A-Za-z])(?=S/B(?![A-Za-z]))|(?<=[a-z]{3})(?=Sdn\.? ?Bhd)|(?<=[A-Z]{3})(?=SDN\.? ?BHD)")
_SHARED = re.compile(r"(?<=\s)[5S$]/[B8](?=\W*$)")
_LOT = re.compile(r"^L[UO0Q]T(?=\W{0,3}\d)")
#: what may stand behind a legal form at a name's end: a branch in brackets; two stray characters are dirt
_DIRT = re.compile(r"(?i)(?<=bhd)\.?[^\w(]{0,3}[a-z\d]{1,2}\W*$")
_TOKEN = re.compile(r"[A-Za-zÀ-ÿ]{5,}")


def name(text: str, *, marked: bool) -> str:
    """A company's name; ``marked`` tells whether the document's language has letters with marks."""
    text = _GLUED.sub(" ", _SENDIRIAN.sub(_cased, text))
    text = _DIRT.sub("", _SHARED.sub("S/B", text))
    return text if marked else unmarked(text)


def address(text: str, *, marked: bool) -> str:
    """An address; a word of one wrong letter becomes the word that addresses have."""
    text = _LOT.sub("LOT", text if marked else unmarked(text))
    return _TOKEN.sub(lambda match: _word(match[0]), text)


def unmarked(text: str) -> str:
    """A text without accents."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


def is_marked(texts: list[str]) -> bool:
    """Whether a document's words have letters with marks more often than OCR invents them."""
    every = re.findall(r"[^\W\d_]{3,}", " ".join(texts))
    having = [word for word in every if word != unmarked(word)]
    return len(having) > max(2, 0.02 * len(every))


def _cased(match: re.Match[str]) -> str:
    first, last = ("DN", "HD") if match[0].isupper() else ("dn", "hd")
    return f"{match[1]}{first}{match[2]}{match[3]}{last}"


@cache
def _lexicon() -> tuple[str, ...]:
    words = {token for word in labels.words("address") for token in re.findall(r"[a-z]{5,}", labels.fold(word))}
    return tuple(sorted(words))


@cache
def _word(word: str) -> str:
    folded = labels.fold(word)
    if folded in _lexicon():
        return word
    near = [known for known in _lexicon() if len(known) == len(folded) and _apart(known, folded) == 1]
    if len(near) != 1 or len(folded) < 5:
        return word
    return near[0].upper() if word.isupper() else near[0].capitalize() if word[0].isupper() else near[0]


def _apart(one: str, other: str) -> int:
    return sum(left != right for left, right in zip(one, other, strict=True))
