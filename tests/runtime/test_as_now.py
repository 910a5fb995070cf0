"""A card and an answer say what a yes comes to by the files as they are now: a tool that changed, a quorum that nobody can fill."""

from __future__ import annotations

from toolgate_cli.cli.views import card, pending
from toolgate_cli.cli.views import run as views
from toolgate_cli.core.digests import ref
from toolgate_cli.runtime.answers import Waiting

from . import texts
from .kit import Home

FEW = {"two": texts.rule("two.*", "require_approval", 'approver_scope = "desk"\napprovals = 3\nseparate_requester = true')}
NOBODY = "nobody is left over to approve it"


def warned(shown: Waiting) -> list[str]:
    return [field.value for field in card.fields(shown) if field.name == "warning"]


def test_a_card_says_that_the_tool_changed_and_the_json_has_its_fields(home: Home) -> None:
    run = home.start("ask")
    seen, as_it_was = home.seen(run)[1], home.desk().as_now(home.seen(run)[1])
    assert as_it_was == seen and warned(seen) == []
    home.write(texts.operator({"ask.send": texts.tool("ask.send", about="another")}))
    now = home.desk().as_now(seen)
    assert warned(now) == ["its tool changed since (/declared/description): it is not started as it is shown here"]
    assert pending.to_json(now) == pending.to_json(seen)
    home.write(texts.operator().replace('tools."ask.send"', 'tools."other.send"'))
    assert warned(home.desk().as_now(seen)) == []  # what is gone is said by the refusal
    (home.folder / "toolgate.toml").write_text("this is no TOML")
    assert home.desk().as_now(seen) == seen


def test_where_nobody_is_left_over_the_answer_and_the_card_say_so_and_advise_no_approval(home: Home) -> None:
    home.write(texts.operator(rules=FEW), two=texts.flow("two", texts.uses("s", "two.send")))
    run = home.desk("alice").start("two", {}, {}).run.run.id
    cards: list[Waiting] = []
    bob = home.desk("bob")
    voted = bob.approve(bob.select([run], "approve"), ask=cards.append)
    [advice] = voted.next
    assert advice.command == f"toolgate reject {ref(home.row(run))}"
    assert advice.first == f"{NOBODY}: put somebody into the scope desk of [approvers], or"
    [told] = [field.value for field in views.answer_fields(voted) if field.group == "pending"]
    assert told.endswith("may approve: desk, but not bob, alice; nobody is left over")
    shown = [*map(warned, [*cards, home.desk().as_now(home.seen(run)[1])])]
    assert shown == [[f"{NOBODY}: too few people of its scope may"]] * 2
    home.write(texts.operator(rules=FEW).replace('"carol"]', '"carol", "dan"]'))
    [again] = home.desk("carol").approve(home.desk("carol").select([run], "approve")).next
    assert again.command == f"toolgate approve {ref(home.row(run))}" and not again.first
