"""A glyph that stands for several letters gives each of them the same box."""

from fetchworker.documents.textlayer import Letter, words_of


def letters(*glyphs):
    """Letters of a word: each glyph with all of its letters in its box."""
    found, left = [], 0.0
    for glyph in glyphs:
        right = left + 5.0 * max(1, len(glyph) * 0.7)
        found += [Letter(char, (left, 0.0, right, 12.0)) for char in glyph]
        left = right + 1
    return found


def test_a_ligature_keeps_its_letters():
    assert [word.text for word in words_of(letters("o", "ffi", "c", "e"))] == ["office"]


def test_a_letter_that_is_printed_twice_for_boldness_is_one():
    bold = [letter for one in letters("b", "o", "l", "d") for letter in (one, one)]
    assert [word.text for word in words_of(bold)] == ["bold"]
