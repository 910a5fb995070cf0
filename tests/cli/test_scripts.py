"""Letters that are taken for others are found, and writings that belong together are left alone."""

from __future__ import annotations

import pytest

from toolgate_cli.cli.scripts import mixture, script


@pytest.mark.parametrize(
    ("text", "what", "odd"),
    [
        ("р\u0430ypal", "Cyrillic and Latin letters in one word", "ра"),
        ("https://\u0430pple.com/x", "Cyrillic and Latin letters in one word", "\u0430"),
        ("pay аррӏе.com now", "Cyrillic and Latin letters in one word", "арӏе"),
        ("gοοgle", "Greek and Latin letters in one word", "ο"),
        ("Ꭰpple", "Cherokee and Latin letters in one word", "Ꭰ"),
        ("օpen", "Armenian and Latin letters in one word", "օ"),
        ("ⲟpen", "Coptic and Latin letters in one word", "ⲟ"),
        ("абвα", "Cyrillic and Greek letters in one word", "α"),
        ("漢абв", "Cyrillic and Han letters in one word", "漢"),
        ("аррӏе", "only letters that look Latin and are Cyrillic", "арӏе"),
        ("АТМ 24", "only letters that look Latin and are Cyrillic", "АТМ"),
        ("ΑΒ", "only letters that look Latin and are Greek", "ΑΒ"),
        ("pａy", "letters in one word that only look like plain ones", "ａ"),
        ("𝐩ay", "letters in one word that only look like plain ones", "𝐩"),
        ("1٢3", "digits of several writings", "٢"),
    ],
)
def test_look_alikes_are_found(text, what, odd):
    assert mixture(text) == (what, odd)


@pytest.mark.parametrize(
    "text",
    [
        *("", "bob@example.com", "naïve café Việt Nam", "Łódź", "Ünïcödé", "Straße", "İstanbul", "ﬁne"),
        *("日本語とKana", "東京タワーABC", "ＡＢＣ商事", "한국어漢字abc", "中文ㄅㄆabc", "今日はFri日です", "ｶﾀｶﾅ"),
        *("10 μs", "10μs", "kΩ", "Δt=3", "πr²", "λ-calculus", "ℕ ⊂ ℤ", "x²", "nº 4", "Acme™", "µm", "№ 5", "½", "Ⅷ"),
        *("Наш отдел платит Bob", "IT-отдел", "(Romashka) Ромашка", "Привет, мир", "Αθήνα", "Καλημέρα", "Երևան", "Қазақ"),
        *("ใช้APIนี้", "שלום-abc", "שלוםabc", "مرحباabc", "हिन्दीabc", "தமிழ்", "საქართველო", "አማርኛ", "नेपाली २०२६", "٢٠٢٦"),
        *("→ 5 € ✓ ☕ 🎉 👩", "‘quoted’ – dashed … done"),
    ],
)
def test_honest_writing_is_left_alone(text):
    assert mixture(text) is None


def test_scripts_are_told_by_names():
    told = {
        "a": "Latin",
        "ª": "",
        "ж": "Cyrillic",
        "\u03a9": "Greek",
        "\u2126": "Greek",
        "\u212a": "Latin",
        "µ": "",
        "漢": "Han",
        "ｱ": "Katakana",
    }
    told |= {"ー": "", "\uff21": "Latin", "𝐩": "", "ℕ": "", "한": "Hangul", "𛀂": "Hiragana"}
    assert {char: script(char) for char in told} == told
