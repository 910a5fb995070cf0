"""The guards of requests and functions: with any one of them gone a call goes elsewhere, runs something else, or is told wrongly."""

from __future__ import annotations

from proofs.guards import Guard

HTTP = "tests/providers/test_http.py::"
SENDING = "tests/providers/test_sending.py::"
PYTHON = "tests/providers/test_python.py::"
REQUESTS = "tests/core/test_requests.py::"
ADDRESSES = "tests/core/test_addresses.py::"
CONTRACT = "tests/contracts/test_providers.py::"

OF_CALLS: tuple[Guard, ...] = (
    # ---- where a request goes ----
    Guard(
        "an address is checked before it is connected to",
        "I3",
        "    kept = tuple(address for address, why in refused.items() if why is None)\n",
        "    kept = tuple(refused)\n",
        (SENDING + "test_a_name_that_turns_inside_is_sent_nothing",),
    ),
    Guard(
        "what is connected to is the address and not the name",
        "I3",
        "    url = f\"{send['scheme']}://{f'[{place}]' if ':' in place else place}:{send['port']}/\"\n",
        "    url = f\"{send['scheme']}://{send['host']}:{send['port']}/\"\n",
        (SENDING + "test_the_connection_is_to_the_address_that_was_checked_whatever_the_name_says_later",),
    ),
    Guard(
        "a server proves the name that was asked for",
        "I3",
        '        extensions["sni_hostname"] = send["host"]\n',
        "        pass\n",
        (SENDING + "test_over_tls_the_name_is_asked_for_and_verified_at_the_address",),
    ),
    Guard(
        "translated addresses are seen through",
        "I3",
        "            return next((why for why in map(self.refusal, map(str, inner)) if why is not None), None)\n",
        "            return None\n",
        (ADDRESSES + "test_who_names_translated_addresses_has_not_named_where_they_lead",),
    ),
    Guard(
        "a translation of a network's own is seen through",
        "I3",
        '    if address in IPv6Network("64:ff9b:1::/48"):\n',
        "    if False:\n",
        (ADDRESSES + "test_a_network_of_ones_own_that_translates_leads_nowhere_either",),
    ),
    Guard(
        "nothing in an argument reads as a reference",
        "I12",
        'text.replace("${", "$${"))\n',
        "text)\n",
        (HTTP + "test_what_a_person_decides_on_reads_back_as_what_is_sent",),
    ),
    Guard(
        "outside of what is given to anybody nothing is public",
        "I3",
        '    return found or ("reserved" if isinstance(address, IPv6Address) and address not in _PUBLIC_6 else None)\n',
        "    return found\n",
        (ADDRESSES + "test_a_special_address_is_refused_and_its_kind_is_said",),
    ),
    Guard(
        "a step to elsewhere is refused",
        "I3",
        '    if any(re.split("[;?#]", part)[0].strip("\\0\\t\\n\\v\\f\\r ") in (".", "..") for part in re.split(r"[/\\\\]", text)):\n',
        "    if False:\n",
        (REQUESTS + "test_a_step_to_elsewhere_is_refused_however_it_is_written",),
    ),
    Guard(
        "a segment that is filled is not empty",
        "I3",
        "    if filled and not segment:\n",
        "    if False:\n",
        (REQUESTS + "test_a_segment_that_is_filled_is_not_empty",),
    ),
    Guard(
        "a header holds no line",
        "I3",
        '        if not _VALUE.match(value) or value != value.strip(" \\t"):\n',
        "        if False:\n",
        (REQUESTS + "test_a_header_holds_no_line_and_no_control",),
    ),
    # ---- what an end means ----
    Guard(
        "that something is sent is said before it is",
        "I8",
        "            self.say(sent=True)\n",
        "            pass\n",
        (CONTRACT + "test_the_timeout_is_hard",),
    ),
    Guard(
        "what survives may still send",
        "I8",
        "    if not ended.survivors and ended.left_behind is None:\n",
        "    if True:\n",
        (HTTP + "test_only_what_said_nothing_at_all_or_that_it_sent_nothing_sent_nothing",),
    ),
    Guard(
        "an answer to half of a request is no success",
        "I8",
        "    if 200 <= status < 300 and whole:\n",
        "    if 200 <= status < 300:\n",
        (HTTP + "test_an_answer_before_the_request_is_sent_whole_is_no_success",),
    ),
    Guard(
        "nothing that is compressed is taken for an answer",
        "I8",
        '    if encoding not in ("", "identity"):\n',
        "    if False:\n",
        (HTTP + "test_a_compressed_answer_is_not_unpacked",),
    ),
    Guard(
        "a status that does not say what happened is unclear",
        "I8",
        "    unclear = status in requests.UNCLEAR or not 400 <= status < 500\n",
        "    unclear = False\n",
        (HTTP + "test_a_status_is_a_success_a_failure_or_unclear",),
    ),
    Guard(
        "a function that ends well without a result is in doubt",
        "I8",
        "    if not result.ok or (result.size and (result.truncated or _is_json(result.output))):\n",
        "    if True:\n",
        (PYTHON + "test_an_end_without_a_result_is_uncertain",),
    ),
    # ---- what runs ----
    Guard(
        "what a function prints is no result",
        "I8",
        "    os.dup2(2, 1)\n",
        "    pass\n",
        (PYTHON + "test_what_a_function_returns_is_the_result_and_nothing_else_is",),
    ),
    Guard(
        "a fork that comes back says nothing",
        "I8",
        "    if os.getpid() == process:  # a fork of the function that came back too has nothing to say\n",
        "    if True:\n",
        (PYTHON + "test_what_a_function_returns_is_the_result_and_nothing_else_is",),
    ),
    Guard(
        "what runs is the file that was pinned",
        "I3",
        "        if hashlib.sha256(data).hexdigest() != self._digest:\n",
        "        if False:\n",
        (PYTHON + "test_a_module_that_changes_after_it_was_judged_is_not_run",),
    ),
    Guard(
        "no compiled copy is trusted",
        "I3",
        '    sys.meta_path.insert(0, _Pinned(home, held, function.partition(":")[0]))  # no more than find_spec is asked of a finder\n',
        "    pass\n",
        (PYTHON + "test_what_runs_is_the_file_that_was_pinned_and_no_compiled_copy",),
    ),
    Guard(
        "a secret is not filled into a request before it is sent",
        "I12",
        '    return f"${{secret.{name}}}"\n',
        '    return "s3cret-of-the-contract"\n',
        (CONTRACT + "test_a_secret_is_not_filled_before_the_call",),
    ),
)
