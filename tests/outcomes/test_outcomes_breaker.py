"""A rule that condemns everything at once becomes suspect; one that condemns some exits does not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fetchworker.outcomes.breaker import BreakerPolicy, Change, RuleBreaker

POLICY = BreakerPolicy(answers=20, window=100.0, share=0.8, least=5, calm=0.4)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def breaker(clock: Clock | None = None) -> RuleBreaker:
    return RuleBreaker(POLICY, clock=clock or Clock())


def told(made: RuleBreaker, *answers: tuple[str, str | None]) -> list[Change]:
    return [change for who, rule in answers for change in made.record(who, rule)]


def exits(count: int, rule: str | None, first: int = 0) -> list[tuple[str, str | None]]:
    return [(f"exit{number}", rule) for number in range(first, first + count)]


def test_a_rule_that_condemns_every_exit_is_suspect_once():
    made = breaker()
    assert told(made, *exits(8, None)) == []
    changes = told(made, *exits(8, "rule"), *exits(8, "rule"))
    assert changes == [Change("rule", suspect=True, condemned=7, tried=8)]
    assert made.suspects("rule")
    assert not made.suspects("other")


def test_one_exit_condemned_over_and_over_counts_once():
    made = breaker()
    assert told(made, *[("exit0", "rule")] * 50, *exits(4, None, first=1)) == []


def test_a_rule_that_condemns_most_but_not_nearly_all_is_believed():
    assert told(breaker(), *exits(2, None), *exits(8, "rule", first=2)) == []


def test_few_exits_prove_nothing():
    assert told(breaker(), *exits(4, "rule")) == []


def test_each_rule_stands_for_itself():
    made = breaker()
    assert told(made, *exits(4, "one"), *exits(4, "two", first=4)) == []


def test_it_is_trusted_again_when_it_condemns_few():
    made = breaker()
    told(made, *exits(10, "rule"))
    changes = told(made, *exits(10, None))
    assert changes == [Change("rule", suspect=False, condemned=4, tried=10)]
    assert not made.suspects("rule")


def test_old_answers_are_forgotten():
    clock = Clock()
    made = breaker(clock)
    told(made, *exits(4, "rule"))
    clock.now = 101.0
    assert told(made, ("exit4", "rule")) == []
    told(made, *exits(5, "rule"))
    assert made.suspects("rule")
    clock.now = 250.0
    assert told(made, ("exit9", None)) == [Change("rule", suspect=False, condemned=0, tried=1)]


def expected_share(log: list[tuple[str, str | None, float]], now: float, rule: str) -> tuple[int, int]:
    """How many exits' last answers count, and how many of these the rule condemned, counted the slow way."""
    last = {who: (at, judged) for who, judged, at in log}
    newest = sorted(last, key=lambda who: max(place for place, entry in enumerate(log) if entry[0] == who))
    recent = [who for who in newest[-POLICY.answers :] if now - last[who][0] <= POLICY.window]
    return sum(last[who][1] == rule for who in recent), len(recent)


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([None, "a", "b"]), st.floats(0, 60)), max_size=60))
def test_it_counts_the_last_answer_of_each_exit(answers):
    clock = Clock()
    made = breaker(clock)
    log: list[tuple[str, str | None, float]] = []
    for number, rule, pause in answers:
        clock.now += pause
        log.append((f"exit{number}", rule, clock.now))
        before = made.suspects(rule) if rule else False
        changes = made.record(f"exit{number}", rule)
        for change in changes:
            assert (change.condemned, change.tried) == expected_share(log, clock.now, change.rule)
            assert made.suspects(change.rule) is change.suspect
        if rule and not before:
            condemned, tried = expected_share(log, clock.now, rule)
            assert made.suspects(rule) is (condemned >= POLICY.least and condemned > POLICY.share * tried)
