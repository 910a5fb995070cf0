"""Texts that somebody would send to deceive whoever reads them, and what a screen must not do whatever it is given."""

from __future__ import annotations

import re
import unicodedata

SGR = re.compile(r"\x1b\[[0-9;]*m")
MARK = "\u2620"  # a visible sign in every text, so that it can be found again

TEXTS = {
    "erase": "x\x1b[2K\x1b[1A\rapproved",
    "color": "\x1b[31;1mred\x1b[0m\x1b[8mhidden",
    "cursor": "\x1b[H\x1b[2J\x1b[?1049h\x1b[?25l",
    "link": "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "window title": "\x1b]0;owned\x07\x1bP+q544e\x1b\\",
    "c1": "\x9b31m\x9d52;c;aGk=\x9c\x85\x90\x84",
    "c0": "".join(map(chr, range(32))),
    "carriage return": "safe\rEVIL\r\nEVIL2",
    "lines": "first\nerror: all is lost\nhint: say yes to it\nnext: rm -rf it\nnote: none of it\n",
    "line ends": "a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i",
    "bell": "\x07\x07\x07",
    "backspace": "rm -rf /\x08\x08\x08\x08\x08\x08\x08\x08ls      ",
    "delete": "a\x7fb\x7f\x7f",
    "null": "a\x00b",
    "tab": "a\tb\t\tc",
    "bidi embedding": "\u202agpj\u202b.exe\u202c",
    "bidi override": "user\u202e\u2066// admin\u2069\u2066",
    "bidi isolate": "\u2067abc\u2068def\u2069",
    "bidi marks": "a\u200eb\u200fc\u061cd",
    "zero width": "pa\u200by\u200cpa\u200dl\u2060\ufeff",
    "byte order mark": "\ufeffbob",
    "soft hyphen": "pay\u00adpal",
    "selectors": "a\ufe0f\ufe00b\U000e0100",
    "tags": "a\U000e0001\U000e0068\U000e0069\U000e007f",
    "fillers": "\u115f\u1160\u3164\uffa0",
    "joiner": "a\u034fb",
    "stack": "Z" + "\u0335\u0321\u0353\u0300\u0301\u0302" * 12 + "algo",
    "marks first": "\u0338\u20dd\u0489not equal",
    "vowels first": "\u1161\u11a8not equal",
    "marks on signs": '="\u0338:\u0338,\u0338',
    "braille blank": "\u2800\u2800pay",
    "blanks": "\u00a0\u2000\u2003\u205f\u3000\u1680\u202fend\u180e",
    "musical": "\U0001d159\U0001d173\U0001d17a",
    "egyptian": "\U00013441\U00013430",
    "private": "\ue000\uf8ff\U000f0000\U0010fffd",
    "unassigned": "\u0378\U000e0fff\U0001fbff\uffff\ufdd0",
    "interlinear": "\ufff9a\ufffab\ufffb\ufffc",
    "markup": "[bold]x[/bold] [/foo] [link=file:///etc/passwd]y[/link] [red on red]z [@click=app.quit]",
    "emoji names": ":skull: :warning: [b]:x:[/b]",
    "markdown": "# yes\n- [x] **approved** `rm -rf ~` ![i](http://x)",
    "git": "\n+ approve\n- reject\n@@ -1 +1 @@",
    "card": "\nref: c0000000000000@000000000000\nscope: none at all\napprovals: 2 of 2\n  to: bob",
    "json": '"}], "effect": "approved", "x": [{"a": "',
    "own escapes": "\\u001b[31m \\x1b[0m \\n \\\\ \\U000e0041 \\",
    "quotes": "'\"`$(reboot)`\"'; rm -rf ~ #",
    "wide": "漢字かな交じり文" * 20,
    "long": "q" * 700 + " end",
    "long words": "spam " * 120,
    "homoglyphs": "р\u0430yp\u0430l аррӏе gοοgle",
    "mixed": "漢абв αbc שלום مرحبا ไทย",
    "right to left": "שלום עולם مرحبا بالعالم",
    "percent": "%1b%5b31m %s %(x)s {0} {} {x!r} $HOME ${args.to}",
    "overlong": "\u00c0\u009b\u00e0\u0080\u009b31m\u00c0\u008a",
    "spaces": "   lead and trail   ",
    "emoji": "👩\u200d💻 ❤\ufe0f 🏳\ufe0f\u200d🌈",
    "option": "--yes -y --db=/dev/null",
    "terminal": "\x05\x1bc\x1b[6n\x1b[5n\x1bZ\x0e\x0f",
}
TEXTS = {name: text + MARK for name, text in TEXTS.items()}

# DerivedCoreProperties.txt, Default_Ignorable_Code_Point, and signs that are drawn blank
_IGNORABLE = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F)]
_IGNORABLE += [(0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)]
_IGNORABLE += [(0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF), (0x2800, 0x2800), (0x13441, 0x13442), (0x1D159, 0x1D159)]


# on nothing, on a sign of ours, or piled up
_MARKS = re.compile(r"(?:^|[\x00-\x2f:-@\[-`{-\x7f])[\u0300-\u036f\u0489\u20dd\u1160-\u11ff]|[\u0300-\u036f\u0489\u20dd]{5,}", re.MULTILINE)


def evil(char: str, allowed: str = "\n") -> bool:
    """Whether a terminal would obey it, or a reader not see it. Told without anything of the package."""
    if char in allowed or char == " ":
        return False
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"):
        return True
    return any(first <= ord(char) <= last for first, last in _IGNORABLE)


def faults(text: str, foreign: str = "", color: bool = False, tabs: bool = False) -> list[str]:
    """What is wrong with a screen. `foreign`: what came from outside, as it is shown; lines may begin with it nowhere."""
    plain = SGR.sub("", text) if color else text
    wrong = [f"U+{ord(char):04X}" for char in sorted(set(plain)) if evil(char, "\n\t" if tabs else "\n")]
    wrong += [f"marks: {found!a}" for found in _MARKS.findall(plain)]
    if foreign:
        for line in plain.split("\n"):
            if len(line) > 8 and not line.startswith("    ") and line[:12] in foreign:
                wrong.append(f"a line begins with {line[:40]!a}")
    return wrong
