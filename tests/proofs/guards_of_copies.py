"""The guards against copies of a home, interruptions that get lost, and whoever is stopped: see `guards`."""

from __future__ import annotations

from .guards import Guard

COPIES = "tests/doubt/test_restored_copies.py::"
HEADS = "tests/host/test_heads.py::"
OWNERS = "tests/host/test_owners.py::"
RUNNING = "tests/host/test_running.py::"
INTERRUPTIONS = "tests/cli/test_interruptions.py::"

OF_COPIES: tuple[Guard, ...] = (
    Guard(
        "of two copies one commits",
        "I2",
        "            hold = None if believed else unit.hold_head()\n",
        "",
        (COPIES + "test_a_copy_that_went_on_while_a_question_was_open_is_noticed_in_the_transaction",),
    ),
    Guard(
        "a head is compared in the transaction",
        "I2",
        "                heads.refuse(heads.behind(self.tx, hold.head))\n",
        "                pass\n",
        (COPIES + "test_a_copy_that_went_on_while_a_question_was_open_is_noticed_in_the_transaction",),
    ),
    Guard(
        "a head is held until the new one is kept",
        "I2",
        "        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)\n    except BlockingIOError:\n        return False\n",
        "        pass\n    except BlockingIOError:\n        return False\n",
        (HEADS + "test_who_waits_for_a_head_gets_it_when_the_other_one_has_kept_its_own",),
    ),
    Guard(
        "no history replaces another one of its length",
        "I2",
        "        if self.head is not None and seq <= self.head[0]:\n",
        "        if self.head is not None and seq < self.head[0]:\n",
        (HEADS + "test_a_head_is_never_overwritten_by_another_history_of_the_same_length",),
    ),
    Guard(
        "what was compared is kept first",
        "I2",
        "                    _new(path, _line(*last), over=False)\n",
        "                    pass\n",
        (HEADS + "test_where_nothing_is_kept_yet_what_is_to_be_compared_is_kept_first",),
    ),
    Guard(
        "a head that is lost starts nothing",
        "I2",
        "    if ports.heads.lost is not None:\n",
        "    if False:\n",
        (COPIES + "test_a_head_that_could_not_be_kept_after_the_commit_keeps_the_tool_from_being_started",),
    ),
    Guard(
        "a history is named by its first event",
        "I2",
        '_IDENTITY = f"SELECT coalesce((SELECT prev FROM events WHERE seq = 1), ({_NAMED}))"\n',
        "_IDENTITY = _NAMED\n",
        (COPIES + "test_a_restored_copy_that_calls_itself_another_database_is_the_same_history",),
    ),
    Guard(
        "a free lock speaks in its own folder alone",
        "I8",
        '        return False if folder and folder == here.partition("/")[2] else None\n',
        "        return False\n",
        (OWNERS + "test_a_lock_that_nobody_holds_says_nothing_in_another_folder_than_its_own",),
    ),
    Guard(
        "what is no file is not waited for",
        "I8",
        "    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, mode)\n",
        "    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, mode)\n",
        (OWNERS + "test_what_is_no_lock_file_is_not_waited_for_and_says_nothing_of_anybody",),
    ),
    Guard(
        "no terminal stops a timeout",
        "I8",
        "    was = {number: signal.signal(number, signal.SIG_IGN) for number in _STOPS}\n",
        "    was = {number: signal.getsignal(number) for number in _STOPS}\n",
        (RUNNING + "test_a_terminal_does_not_stop_the_timeout",),
    ),
    Guard(
        "an end after the deadline is none",
        "I8",
        '    return "exited" if kernel.now() < deadline else "timed_out"\n',
        '    return "exited"\n',
        (RUNNING + "test_an_end_that_is_seen_after_the_deadline_is_none_whoever_stopped_us",),
    ),
    Guard(
        "whoever was told to end starts nothing",
        "I10",
        "    unit.ports.processes.heed()  # whoever was told to end starts nothing more\n",
        "",
        ("tests/runtime/test_starting_calls.py::test_whoever_was_told_to_end_starts_nothing_more",),
    ),
    Guard(
        "whoever was told to end spawns nothing",
        "I10",
        "            if heeding.interrupted():\n",
        "            if False:\n",
        (RUNNING + "test_nothing_is_started_after_an_interruption_that_nobody_caught",),
    ),
    Guard(
        "an interrupt before the command is silent",
        "no traceback",
        "    _signal.signal(_signal.SIGINT, lambda *_: os._exit(130))\n",
        "    pass\n",
        (INTERRUPTIONS + "test_before_the_command_has_begun_an_interrupt_ends_it_without_a_word",),
    ),
    Guard(
        "what a start needs is loaded before it is on record",
        "I7",
        "    running.ready()  # what a start needs is loaded before it is on record\n",
        "",
        (INTERRUPTIONS + "test_nothing_is_imported_once_something_is_decided",),
    ),
)
