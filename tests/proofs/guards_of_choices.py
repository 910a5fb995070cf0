"""The guards that hold while a model chooses the tools that an agent is shown (I5, I12, I13)."""

from __future__ import annotations

from proofs.guards import Guard

NARROWING = "tests/runtime/test_narrowing.py::"
CORE = "tests/core/test_selection.py::"
LOADING = "tests/workflow/test_operator_file.py::"

OF_CHOICES: tuple[Guard, ...] = (
    Guard(
        "what is stored of a choice is what is used",
        "I13",
        '    kept: Json = {"turn": choice.turn, "tools": list(found.tools)}\n',
        '    kept: Json = {"turn": choice.turn, "tools": list(choice.exposed)}\n',
        (NARROWING + "test_an_agent_is_shown_what_was_chosen_for_each_of_its_turns",),
    ),
    Guard(
        "a choice that was stored is not asked for again",
        "I13",
        "selected = work.request.ordinal if work.choice is not None else place.frame.selected\n",
        "selected = work.request.ordinal if work.choice is not None else None\n",
        (NARROWING + "test_a_choice_that_was_stored_is_not_asked_for_again",),
    ),
    Guard(
        "a choice is of one turn",
        "I13",
        "        if of == turn:\n",
        "        if names:\n",
        (NARROWING + "test_an_agent_is_shown_what_was_chosen_for_each_of_its_turns",),
    ),
    Guard(
        "a step that is begun again takes no choice of before",
        "I13",
        "came=None, selected=None)\n",
        "came=None)\n",
        ("tests/core/test_cursor.py::test_what_belongs_to_a_step_is_left_behind_with_it",),
    ),
    Guard(
        "what was chosen is cut with what may be shown now",
        "I5",
        "    tools = tuple(tool for tool in request.tools if tool.capability in shown)\n",
        "    tools = tuple(request.tools[0]._replace(capability=name) for name in sorted(shown))\n",
        (NARROWING + "test_what_is_no_longer_exposed_when_a_stored_choice_is_used_is_not_shown",),
    ),
    Guard(
        "a name counts only if it was to be chosen from",
        "I5",
        "    known = [name for name in named if name in choice.exposed]\n",
        "    known = list(named)\n",
        (
            CORE + "test_an_answer_is_cut_with_what_there_is",
            NARROWING + "test_no_name_in_an_answer_widens_what_an_agent_is_shown_or_may_do",
        ),
    ),
    Guard(
        "no more are shown than may be",
        "I5",
        "*wanted[: choice.most]}\n",
        "*wanted}\n",
        (CORE + "test_an_answer_is_cut_with_what_there_is",),
    ),
    Guard(
        "an answer of nothing but unknown names is none",
        "I5",
        "    if named and not known:\n",
        "    if False:\n",
        (NARROWING + "test_whatever_way_a_selector_fails_the_outcome_is_the_configured_one",),
    ),
    Guard(
        "what is no list of names is no choice",
        "I5",
        "    if not isinstance(answer, list) or not all(isinstance(name, str) for name in answer):\n",
        "    if not isinstance(answer, list):\n",
        (CORE + "test_whatever_is_wrong_comes_to_what_the_operator_wrote",),
    ),
    Guard(
        "an answer that was cut off is no choice",
        "I5",
        'selection.failed(choice, "cut_off") if came.fault is not None else selection.judge(',
        "selection.judge(",
        (NARROWING + "test_whatever_way_a_selector_fails_the_outcome_is_the_configured_one",),
    ),
    Guard(
        "with throw nothing is shown",
        "I5",
        '    if found.action == "throw":\n',
        "    if False:\n",
        (NARROWING + "test_whatever_way_a_selector_fails_the_outcome_is_the_configured_one",),
    ),
    Guard(
        "failing open is said twice",
        "I5",
        '    if held.get("on_failure") == "all" and held.get("accept_fail_open") is not True:\n',
        "    if False:\n",
        (LOADING + "test_what_is_wrong_is_told_with_its_line_its_field_and_what_was_meant",),
    ),
    Guard(
        "what a selector is told is data",
        "I13",
        '        untrusted.wrap("tools", "tool", [',
        "        canonical.encode([",
        (NARROWING + "test_a_selector_sees_what_the_agent_sees_as_data_and_may_only_complete",),
    ),
    Guard(
        "what an agent is told is no instruction to a selector",
        "I13",
        '        untrusted.wrap("what it is told", "system", intent.prompt),\n',
        "        intent.prompt,\n",
        (NARROWING + "test_a_selector_sees_what_the_agent_sees_as_data_and_may_only_complete",),
    ),
    Guard(
        "what is not shown may still be called by its name as a function",
        "section 6",
        "_replace(tools=tools, also=also)",
        "_replace(tools=tools)",
        (NARROWING + "test_what_is_not_shown_may_still_be_called_by_its_name_as_a_function",),
    ),
    Guard(
        "an answer that came too late chooses nothing",
        "I10",
        "            return None  # cancelled or taken over while the model answered: what it said is not carried out\n",
        "            pass\n",
        (NARROWING + "test_what_was_chosen_and_cancelled_meanwhile_is_not_used",),
    ),
)
