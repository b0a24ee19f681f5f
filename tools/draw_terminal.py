#!/usr/bin/env python3
"""Draws what `tmux capture-pane -e -p` prints as an SVG that is light or dark as its reader is.

usage: draw_terminal.py TITLE <screen >picture
"""

import html
import re
import sys
import unicodedata

WIDTH, HEIGHT, EDGE = 8.4, 18, 14  # of a character, and around all of them
COLOURS = {  # for light and for dark
    "front": ("#24292f", "#d6dbe1"),
    "back": ("#ffffff", "#15191f"),
    "red": ("#b3261e", "#f28b82"),
    "green": ("#1a7f37", "#7ee2a8"),
    "yellow": ("#8a6100", "#f0c674"),
    "blue": ("#0a52b5", "#8ab4f8"),
    "magenta": ("#8a3ab9", "#d6a4f5"),
    "cyan": ("#05707a", "#78dce8"),
}
NAMES = ["front", "red", "green", "yellow", "blue", "magenta", "cyan", "front"]


def columns(text):
    """Of a terminal; what joins or marks a character has none."""
    return sum(
        0 if unicodedata.combining(c) or c in "\u200d\ufe0f"
        else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def change(style, numbers):
    """What an attribute sequence makes of a style: a colour's name and a set of attributes."""
    colour, attributes = style
    words = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}
    for number in [int(n or 0) for n in numbers.split(";")]:
        if number == 0:
            colour, attributes = "front", frozenset()
        elif number in words:
            attributes |= {words[number]}
        elif 30 <= number <= 37:
            colour = NAMES[number - 30]
        elif number == 39:
            colour = "front"
    return colour, attributes


def runs(line, style):
    """Yields (column, text, style), and last the style that the next line begins with."""
    column = 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b"):
            style = change(style, part[2:-1])
        # Words are placed one by one, so that a font of another width cannot shift them.
        for word in re.findall(r" +|[^ ]+", "" if part.startswith("\x1b") else part):
            yield column, word, style
            column += columns(word)
    yield column, "", style


def draw(column, row, text, style):
    colour, attributes = style
    x, y = EDGE + column * WIDTH, EDGE + row * HEIGHT
    width = columns(text) * WIDTH
    out = ""
    if "reverse" in attributes:
        out += f'<rect class="{colour}" x="{x:.1f}" y="{y}" width="{width + 0.5:.1f}" height="{HEIGHT}"/>'
        colour = "back"
    if text.strip():
        classes = " ".join([colour, *sorted(attributes - {"reverse"})])
        out += (
            f'<text class="{classes}" x="{x:.1f}" y="{y + 13.5}" textLength="{width:.1f}" '
            f'lengthAdjust="spacingAndGlyphs">{html.escape(text)}</text>'
        )
    return out


def main():
    title = html.escape(sys.argv[1])
    lines = sys.stdin.read().rstrip("\n").split("\n")
    drawn, style, wide = [], ("front", frozenset()), 0
    for row, line in enumerate(lines):
        for column, text, style in runs(line, style):
            drawn.append(draw(column, row, text, style))
            wide = max(wide, column)
    width, height = wide * WIDTH + 2 * EDGE, len(lines) * HEIGHT + 2 * EDGE
    light = "".join(f".{name}{{fill:{pair[0]}}}" for name, pair in COLOURS.items())
    dark = "".join(f".{name}{{fill:{pair[1]}}}" for name, pair in COLOURS.items())
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img"><title>{title}</title><style>'
        "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        "white-space:pre}.bold{font-weight:600}.dim{opacity:.65}.italic{font-style:italic}"
        ".underline{text-decoration:underline}"
        f"{light}@media(prefers-color-scheme:dark){{{dark}}}</style>"
        f'<rect class="back" width="{width:.0f}" height="{height:.0f}" rx="10"/>'
    )
    print("\n".join(part for part in drawn if part))
    print("</svg>")


main()
