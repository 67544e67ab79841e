"""What a page gives a guest for later requests: the same places as on every site of the Meta family."""

from fetchworker.spiders.metafamily.tokens import extract, jazoest

__all__ = ["extract", "jazoest"]
