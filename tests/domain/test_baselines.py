"""The order in which a baseline is found, and that it is always said."""

import pytest

from reports.domain.baselines import Resolution, Rule, resolve, rule_in_words, short_rule


@pytest.mark.parametrize(
    ("explicit", "default", "earlier", "expected"),
    [
        ("a", ("b", "production"), "c", Resolution(Rule.EXPLICIT, "a")),
        (None, ("b", "production"), "c", Resolution(Rule.DEFAULT, "b", "production")),
        (None, ("own", "production"), "c", Resolution(Rule.EARLIER, "c", own_name="production")),
        (None, None, "c", Resolution(Rule.EARLIER, "c")),
        (None, None, None, Resolution(Rule.NONE)),
        (None, ("own", "production"), None, Resolution(Rule.NONE, own_name="production")),
    ],
)
def test_a_baseline_is_found_in_one_order(
    explicit: str | None, default: tuple[str, str] | None, earlier: str | None, expected: Resolution[str]
) -> None:
    assert resolve(explicit=explicit, default=default, own="own", earlier=lambda: earlier) == expected


@pytest.mark.parametrize("rule", Rule)
def test_every_rule_has_words(rule: Rule) -> None:
    assert rule_in_words(rule, "production")


def test_the_default_itself_is_not_said_to_have_no_baseline() -> None:
    words = resolve(default=("own", "production"), own="own", earlier=lambda: None).words

    assert words.startswith("the run is itself the baseline production, the default of this target and suite, and no")


def test_lists_say_the_name_or_that_there_is_none() -> None:
    assert (short_rule("production"), short_rule("")) == ("production", "earlier version")
