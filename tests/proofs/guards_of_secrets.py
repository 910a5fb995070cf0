"""The guards of secrets: with any one of them gone a value is found somewhere (I12)."""

from __future__ import annotations

from proofs.guards import Guard

RUNTIME = "tests/runtime/test_secrets.py::"
COMMAND = "tests/providers/test_command_secrets.py::"
WORKFLOW = "tests/workflow/test_secrets.py::"
CORE = "tests/core/test_secrets.py::"
CANARIES = "tests/proofs/test_canaries.py::"
SAID = CANARIES + "test_what_a_tool_says_of_its_secrets_is_kept_nowhere"
SPELLED = CORE + "test_a_value_is_found_under_every_spelling"
WHOLE = CORE + "test_a_value_that_is_too_long_for_any_mixture_is_found_under_every_whole_spelling"


def _guard(name: str, line: str, without: str, *caught_by: str) -> Guard:
    return Guard(name, "I12", line, without, caught_by)


OF_SECRETS: tuple[Guard, ...] = (
    # ---- what tools say ----
    _guard(
        "a stream is scrubbed before it is cut",
        "        if secrets:\n            self._scrubbed = [",
        "        if False:\n            self._scrubbed = [",
        COMMAND + "test_a_secret_that_is_cut_by_the_cap_or_comes_in_pieces_is_not_there",
        CANARIES + "test_a_value_that_a_cap_goes_through_is_not_kept_in_part",
    ),
    _guard(
        "what is held back is searched with what follows",
        "        text = self._held + data\n",
        "        text = data\n",
        CORE + "test_it_does_not_matter_in_what_pieces_it_comes",
    ),
    _guard(
        "as much is held back as the longest spelling needs",
        "        return self._pass(text, max(0, len(text) - self._secrets.longest + 1))\n",
        "        return self._pass(text, len(text))\n",
        COMMAND + "test_a_secret_that_is_cut_by_the_cap_or_comes_in_pieces_is_not_there",
    ),
    _guard(
        "values that overlap are one",
        "            covered = max(covered, end)\n",
        "            covered = end if start >= covered else covered\n",
        CORE + "test_values_that_overlap_are_taken_out_together",
    ),
    _guard(
        "the beginning of a value at the end is a value",
        '        start, name = min(self._secrets.begun(text), default=(len(text), ""))\n',
        '        start, name = len(text), ""\n',
        COMMAND + "test_of_a_secret_that_a_killed_tool_was_about_to_say_nothing_is_kept",
        SAID,
    ),
    _guard(
        "the rest of a stream is scrubbed at its end",
        "        self._keep(self._scrubber.end())\n",
        "        self._keep(self._scrubber._held)\n",
        COMMAND + "test_of_a_secret_that_a_killed_tool_was_about_to_say_nothing_is_kept",
    ),
    _guard(
        "whatever a provider says is scrubbed",
        "    result = _without_secrets(result, world.secrets) if world.secrets else result\n",
        "    return result\n",
        RUNTIME + "test_of_what_a_tool_says_no_value_is_kept",
        RUNTIME + "test_of_what_a_provider_raises_no_value_is_kept",
    ),
    _guard(
        "escapes of a result hide nothing",
        "        return text if self.leaks(value) is None else canonical.encode(self._scrub_json(value))\n",
        "        return text\n",
        CORE + "test_values_that_escapes_hide_in_a_document_are_found_in_keys_and_values",
    ),
    *(
        _guard(f"{what} is a spelling", line, without, test)
        for what, line, without, test in (
            ("JSON with slashes", 'inside.replace("/", "\\\\/"), ', "", WHOLE),
            ("base64", "    for shift in range(3):\n", "    for shift in range(0):\n", SAID),
            ("base64 for URLs", '(inside, inside.translate(bytes.maketrans(b"+/", b"-_")))', "(inside, inside)", SAID),
            ("percent", '        for form in ("%%%02X", "%%%02x"):\n', "        for form in ():\n", WHOLE),
            ("plus for a blank", 'quoted.replace("%20", "+").encode()', "quoted.encode()", WHOLE),
            ("hex", '("%%%02X", "%%%02x", "%02X", "%02x")', '("%%%02X", "%%%02x", "%02X")', SAID),
            ("repr", "    yield from (repr(value)[1:-1], ", "    yield from (value, ", WHOLE),
        )
    ),
    # ---- what people, models and files say ----
    _guard(
        "words of a person",
        '        world.secrets.refuse("what you gave", person.name, *said)\n',
        "",
        RUNTIME + "test_what_a_person_says_is_refused_before_it_is_stored",
        CANARIES + "test_what_a_person_gives_with_a_secret_in_it_is_refused",
    ),
    _guard(
        "the name of a person",
        '        world.secrets.refuse("what you gave", person.name, *said)\n',
        '        world.secrets.refuse("what you gave", *said)\n',
        RUNTIME + "test_an_actor_is_refused",
    ),
    _guard(
        "inputs",
        '        engine.world.secrets.refuse("an input", dict(given), dict(texts))\n',
        "",
        RUNTIME + "test_an_input_is_refused_before_there_is_a_run",
    ),
    _guard(
        "errors are scrubbed at the door",
        "            desk.without_secrets(error)\n",
        "",
        CANARIES + "test_what_a_person_gives_with_a_secret_in_it_is_refused",
    ),
    _guard(
        "arguments",
        "    if leaked is not None:\n",
        "    if False:\n",
        RUNTIME + "test_arguments_that_hide_a_long_one_are_refused_when_they_are_read",
        CANARIES + "test_a_value_that_is_put_together_is_not_stored",
    ),
    _guard(
        "titles",
        "    return None if world.secrets.leaks(told) else told\n",
        "    return told\n",
        RUNTIME + "test_a_title_that_puts_it_together_is_left_out",
    ),
    _guard(
        "turns",
        '        self.world.secrets.refuse("the model\'s turn", said.commands, ',
        "        self.world.secrets.refuse(",
        RUNTIME + "test_a_turn_is_refused_whole",
        CANARIES + "test_a_turn_with_a_secret_in_it_is_not_stored",
    ),
    _guard(
        "turns that hide it",
        "asking.commands(said) if self.world.secrets else None)",
        "None)",
        RUNTIME + "test_a_raw_turn_that_hides_a_long_one_is_refused_whole",
    ),
    _guard(
        "errors of a model",
        "                    return ToolgateError(error.kind, self.world.secrets.scrub(error.message))\n",
        "                    return error\n",
        RUNTIME + "test_what_an_adapter_says_of_its_failure_is_scrubbed",
    ),
    _guard(
        "context values",
        '                    secrets.refuse(f"what is written to {member.key}", canonical.encode(member.value))\n',
        "                    canonical.encode(member.value)\n",
        RUNTIME + "test_a_value_that_an_assignment_puts_together_fails_its_step",
    ),
    _guard(
        "reasons of a step",
        '            secrets.refuse("the step", canonical.encode(field))\n',
        "            canonical.encode(field)\n",
        RUNTIME + "test_a_value_that_a_reason_puts_together_is_not_told",
    ),
    _guard(
        "workflow files",
        '                self._secrets.refuse(each.name, each.source.data.decode("utf-8", "replace"), each.raw)\n',
        "                pass\n",
        RUNTIME + "test_a_workflow_is_refused_before_it_is_pinned",
        CANARIES + "test_a_file_with_a_secret_in_it_is_not_taken",
    ),
    _guard(
        "the operator's file",
        "            self._secrets.refuse(name, text)\n",
        "            pass\n",
        WORKFLOW + "test_a_value_in_a_file_of_the_home_is_refused_by_the_name_of_both",
        CANARIES + "test_a_file_with_a_secret_in_it_is_not_taken",
    ),
    # ---- where a value comes from and goes to ----
    _guard(
        "a secret stands where it is filled last",
        "            if path not in sealed:\n",
        "            if False:\n",
        WORKFLOW + "test_where_a_secret_would_be_seen_it_is_refused_at_load",
    ),
    _guard(
        "a secret without a value starts nothing",
        "        if fault := world.secrets.fault(secret):\n",
        "        if (fault := world.secrets.fault(secret)) and False:\n",
        RUNTIME + "test_a_secret_without_a_value_parks_the_call_and_says_which",
    ),
    _guard(
        "a short value is none",
        "    if len(text) < SHORTEST or not text.strip():\n",
        "    if False:\n",
        WORKFLOW + "test_why_a_file_gives_no_value_is_said_without_it",
    ),
    _guard(
        "a file of a secret is a file of the world",
        "        return World(loaded.config, (*loaded.stamps, *stamps), {}, {}, self._secrets)\n",
        "        return World(loaded.config, loaded.stamps, {}, {}, self._secrets)\n",
        RUNTIME + "test_a_secret_that_changes_before_the_start_keeps_the_tool_from_being_called",
    ),
    _guard(
        "an environment holds what is declared",
        '    return {\n        "PATH": path,\n',
        '    return {\n        **os.environ,\n        "PATH": path,\n',
        CANARIES + "test_a_tool_gets_what_is_declared_and_nothing_else",
    ),
    _guard(
        "a report tells no values",
        '    return [*earlier, f"{type(fault).__module__}.{type(fault).__qualname__}\\n", *traceback.format_tb(fault.__traceback__)]\n',
        "    return [*earlier, *traceback.format_exception(fault)]\n",
        CANARIES + "test_a_fault_of_the_program_tells_no_value",
    ),
)
