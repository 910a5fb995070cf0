"""The guards around MCP servers: what is called is what was pinned, and no answer is lost, or taken for that of another call."""

from __future__ import annotations

from .guards import Guard

STDIO = "tests/providers/test_mcp.py::"
HTTP = "tests/providers/test_mcp_http.py::"
GATE = "tests/providers/test_mcp_gate.py::"
SERVERS = "tests/workflow/test_servers.py::"

OF_SERVERS: tuple[Guard, ...] = (
    Guard(
        "the live definition is the pinned one",
        "I3",
        "        if offer is None or offer.fault is not None or offer.digest != bound.definition:\n",
        "        if offer is None:\n",
        (STDIO + "test_a_definition_that_is_not_the_pinned_one_is_not_called",),
    ),
    Guard(
        "a change of the listing is heard",
        "I3",
        '        if method == "notifications/tools/list_changed":\n',
        '        if method == "never":\n',
        (STDIO + "test_a_definition_that_changes_while_the_session_is_open_is_not_called",),
    ),
    Guard(
        "what is not pinned is refused",
        "I5",
        "    if fields.definition is None:\n",
        "    if False:\n",
        (GATE + "test_what_is_not_pinned_is_refused_at_resolve_and_says_what_to_do",),
    ),
    Guard(
        "a server is what it was when it was pinned",
        "I3",
        "    if pinned.error is None and fingerprint(fields, pinned) != fields.trusted:\n",
        "    if False:\n",
        (STDIO + "test_a_script_of_the_home_is_part_of_the_server",),
    ),
    Guard(
        "a lock is what its digests were made of",
        "I3",
        '    if offered.listed([made])[0].fault is not None or offered.digest(made) != entry.get("digest"):\n',
        "    if False:\n",
        (SERVERS + "test_a_lock_that_is_not_as_it_was_written_is_refused_whole",),
    ),
    Guard(
        "of a name that is listed twice nothing is called",
        "I3",
        "    found = {offer.name: offer if times[offer.name] == 1 else offer._replace(fault=twice) for offer in offers}\n",
        "    found = {offer.name: offer for offer in offers}\n",
        (STDIO + "test_a_bad_tool_hides_none_of_the_others",),
    ),
    Guard(
        "a server can raise the risk",
        "I9",
        '    if hints.get("destructiveHint") is True:\n',
        "    if False:\n",
        ("tests/core/test_offered.py::test_hints_raise_the_risk",),
    ),
    Guard(
        "what may have been sent is in doubt",
        "I8",
        "            broken.sent = self._peer.taken > place\n",
        "            broken.sent = False\n",
        (STDIO + "test_what_cannot_be_trusted_is_uncertain_and_the_next_call_is_answered",),
    ),
    Guard(
        "what waits for its answer may have been sent",
        "I8",
        "        was, self.sent = self.sent, self.sent or ours  # whoever stops waiting now cannot know better\n",
        "        was = self.sent\n",
        (HTTP + "test_no_drip_moves_the_deadline",),
    ),
    Guard(
        "what is sent is what was shown",
        "I3",
        '        if self._method == "tools/call" and canonical.encode(message["params"].get("arguments")) != self.arguments:\n',
        "        if False:\n",
        (HTTP + "test_what_cannot_be_sent_as_it_was_shown_is_not_sent",),
    ),
    Guard(
        "an id cannot be answered before it is sent",
        "I8",
        "    return os.urandom(12).hex()\n",
        '    return "1"\n',
        (STDIO + "test_a_server_that_answers_ahead_is_not_believed",),
    ),
    Guard(
        "a long line fills no memory",
        "I8",
        "        if len(self._held) > self._limit:\n",
        "        if False:\n",
        (STDIO + "test_lines_come_whole_however_they_are_cut_and_a_long_one_is_not_kept",),
    ),
    Guard(
        "one session's end leaves the others alone",
        "I8",
        "        return child.pid not in self._others and child.pid not in self._lasting() and child.start >= self._main.start\n",
        "        return child.pid not in self._others and child.start >= self._main.start\n",
        (STDIO + "test_the_end_of_one_session_is_none_of_another_s",),
    ),
    Guard(
        "a session ends with the process",
        "I8",
        "        lasting.end_all()\n",
        "        pass\n",
        (GATE + "test_what_a_server_left_running_ends_with_the_command",),
    ),
    Guard(
        "whatever a server starts has its mark",
        "I8",
        "    env = _filling.surroundings(started.path, started.env, whom.run, mark)\n",
        "    env = _filling.surroundings(started.path, started.env, whom.run, mark)\n    del env['TOOLGATE_CALL']\n",
        (GATE + "test_a_call_in_an_open_session_is_claimed_with_its_lock",),
    ),
    Guard(
        "nobody pins from inside a call",
        "I5",
        '        if (call := self._inside()) is not None:\n            raise from_inside("tools pin", call)\n',
        "",
        (GATE + "test_nobody_decides_or_pins_from_inside_a_server",),
    ),
    Guard(
        "whatever a server runs below who pins it decides nothing",
        "I5",
        "        self._ports.owners.mine()  # as who decides: the server that is started now is inside of this\n",
        "",
        (GATE + "test_a_server_that_is_to_be_pinned_cannot_decide_whatever_it_has_shed",),
    ),
    Guard(
        "the absence of a yes pins nothing",
        "I5",
        "            elif not yes:\n                text",
        "            elif False:\n                text",
        (GATE + "test_what_was_not_asked_for_is_not_pinned_and_only_yes_pins",),
    ),
    Guard(
        "a result that breaks its schema is marked",
        "I8",
        "    return _marked(result, claim.tool, ports) if claim.tool.output_schema is not None else result\n",
        "    return result\n",
        (GATE + "test_a_result_that_breaks_its_output_schema_is_recorded_and_marked",),
    ),
    Guard(
        "a secret of a server is taken out of a result before the cut",
        "I12",
        "    return endings.answer(limits.secrets.scrub_bytes(clean(text).encode()), limits.output_bytes)\n",
        "    return endings.answer(clean(text).encode(), limits.output_bytes)\n",
        (STDIO + "test_a_server_has_a_clean_environment_and_its_secrets_are_taken_out_of_what_it_says",),
    ),
    Guard(
        "a call is made in the session that its lock tells of, and in no other",
        "I8",
        " and (whom.lock is None or session.lock in (None, whom.lock))",
        "",
        (STDIO + "test_no_call_is_made_in_a_session_that_its_lock_does_not_tell_of",),
    ),
    Guard(
        "while something of a session is left no other takes its place",
        "I8",
        "        if any(session.end(0.15)):\n",
        "        if not session.end(0.15):\n",
        (STDIO + "test_while_something_of_the_last_session_is_there_no_other_is_opened",),
    ),
    Guard(
        "what serves more than one call is found by its lock, wherever it went",
        "I8",
        "    started = marked(processes, session.mark) if session.mark else set()\n",
        "    started = set()\n",
        (GATE + "test_a_call_in_an_open_session_is_claimed_with_its_lock",),
    ),
    Guard(
        "the name of a lock is not used for a second session",
        "I8",
        "        return self._fence.name if self._fence and not self._ended() else None\n",
        "        return self._fence.name if self._fence else None\n",
        (STDIO + "test_a_call_after_the_end_of_a_session_has_a_new_lock",),
    ),
    Guard(
        "what a server says between two calls is not read while the store is locked",
        "I7",
        "    return held[1].lock if held is not None else None\n",
        "    return held[1].lock if held is not None and held[1].alive() else None\n",
        (STDIO + "test_a_server_that_talks_between_two_calls_is_not_heard_while_the_store_is_locked",),
    ),
    Guard(
        "what has come while nobody waited is heard for a moment",
        "I8",
        "        while kernel.now() < until:\n            line = self._peer.line(0.0)\n",
        "        while True:\n            line = self._peer.line(0.0)\n",
        (STDIO + "test_a_server_that_talks_between_two_calls_is_heard_for_a_moment",),
    ),
    Guard(
        "a call that goes into an open session is claimed with the lock of that",
        "I8",
        '    return held(verdict.bound) or unit.ports.mint.id("f")\n',
        '    return unit.ports.mint.id("f")\n',
        (GATE + "test_a_call_in_an_open_session_is_claimed_with_its_lock",),
    ),
)
