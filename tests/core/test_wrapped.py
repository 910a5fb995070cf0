"""A secret in base64 or hex is found however its digits are broken up, and in whatever pieces it comes."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time

import pytest

from toolgate_cli.core import disguises
from toolgate_cli.core.secrets import Scrubber, Secrets

VALUE = "tok-9fA0xk_Q7/zz+wörd-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ-0xAA0x"
RAW = VALUE.encode()


def known(**values: str) -> Secrets:
    return Secrets(values, disguises=tuple((form, name) for name, value in values.items() for form in disguises.of(value)))


def lines(text: str, width: int, end: str = "\n") -> str:
    return end.join(text[at : at + width] for at in range(0, len(text), width)) + end


def dumped(data: bytes, group: int, address: str, column: str) -> str:
    out = []
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        digits = " ".join(part[i : i + group].hex() for i in range(0, len(part), group))
        out.append(address.format(at) + digits + column.format("".join(chr(b) if 32 <= b < 127 else "." for b in part)))
    return "\n".join(out) + "\n"


def forms(prefix: bytes) -> dict[str, str]:
    data = prefix + RAW
    coded, digits = base64.b64encode(data).decode(), data.hex()
    return {
        "base64": lines(coded, 76),
        "openssl base64": lines(coded, 64),
        "url alphabet": lines(base64.urlsafe_b64encode(data).decode(), 60),
        "narrow": lines(coded, 1),
        "CRLF": lines(coded, 76, "\r\n"),
        "in JSON": json.dumps({"out": lines(coded, 76)}),
        "twice in JSON": json.dumps(json.dumps({"out": lines(coded, 76)})),
        "percent": lines(coded, 76, "%0A"),
        "texts of a list": json.dumps([coded[at : at + 20] for at in range(0, len(coded), 20)], indent=8),
        "quoted": "> " + lines(coded, 70, "\n> "),
        "xxd -p": lines(digits, 60),
        "upper": lines(digits.upper(), 60),
        "C": ", ".join(f"0x{byte:02x}" for byte in data),
        "C, a line each": ",\n    ".join(f"0x{byte:02X}" for byte in data),
        "od -An -tx1": lines("".join(f" {byte:02x}" for byte in data), 48),
        "od -tx1": dumped(data, 1, "{:07o} ", ""),
        "hexdump -C": dumped(data, 1, "{:08x}  ", "  |{}|"),
        "xxd": dumped(data, 2, "{:08x}: ", "  {}"),
        "od in JSON": json.dumps(dumped(data, 1, "{:07o} ", "")),
        "dashes": "-".join(f"{byte:02X}" for byte in data),
        "escapes": lines("".join(f"\\x{byte:02x}" for byte in data), 64),
    }


@pytest.mark.parametrize("name", forms(b""))
@pytest.mark.parametrize("prefix", [b"", b"u", b"us", b"user:"])
def test_a_value_is_found_however_its_digits_are_broken_up(name: str, prefix: bytes) -> None:
    secrets, text = known(TOKEN=VALUE), forms(prefix)[name]
    assert secrets.leaks(text) == "TOKEN"
    whole = secrets.scrub(f"before {text} behind")
    assert "***TOKEN***" in whole and whole.startswith("before ") and whole.endswith(" behind") and secrets.leaks(whole) is None
    assert len(whole) < len(f"before {text} behind") - len(text) + 260
    for size in (1, 7, 61, 1000):
        scrubber, data = Scrubber(secrets), f"before {text} behind".encode()
        out = b"".join(scrubber.feed(data[at : at + size]) for at in range(0, len(data), size)) + scrubber.end()
        assert out.decode() == whole, size


@pytest.mark.parametrize("name", ["base64", "xxd -p", "C", "od -An -tx1", "od -tx1", "hexdump -C", "in JSON"])
def test_one_that_was_cut_short_is_taken_out(name: str) -> None:
    text = forms(b"")[name]
    cut = text[: len(text) * 3 // 4]
    assert "***TOKEN***" in known(TOKEN=VALUE).scrub(f"so: {cut}")


PROGRAMS = ("base64", "xxd -p", "xxd", "xxd -i", "od -tx1", "od -An -tx1", "hexdump -C", "openssl base64")


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_the_usual_programs_write_is_found(program: str) -> None:
    command = program.split()
    if shutil.which(command[0]) is None:
        pytest.skip("it is not here")
    said = subprocess.run(command, input=b"user:" + RAW, capture_output=True, check=True).stdout.decode()
    assert known(TOKEN=VALUE).leaks(said) == "TOKEN", said


def test_what_is_near_a_value_comes_out_as_it_went_in() -> None:
    secrets = known(TOKEN=VALUE)
    for text in forms(b"").values():
        other = text.replace("a", "b").replace("A", "B").replace("6", "7")
        assert secrets.scrub(other) == other


@pytest.mark.parametrize(
    "unit", [b"a ", b" ", b"\n", b"\\", b"\\n", b"00 ", b"0x", b"  a", b"\n0000000", b"QUJD\n", b"deadbeef", b"a\n000000"]
)
def test_it_takes_time_in_the_length_of_the_text_and_holds_little(unit: bytes) -> None:
    secrets = known(TOKEN=VALUE)
    scrubber, piece, began = Scrubber(secrets), unit * (65536 // len(unit)), time.process_time()
    for _ in range(16):
        scrubber.feed(piece)
        assert len(scrubber._held) < secrets.longest
    scrubber.end()
    assert time.process_time() - began < 5
