"""Prose of the project: comments of Rust, comments and docstrings of Python, text of Markdown; phrases it avoids."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator

#: A paragraph: the number of its first line, and its lines.
Paragraph = tuple[int, list[str]]

#: Strings and characters of Rust, in which two slashes begin no comment; and comments.
RUST = re.compile(r"""r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^\\'])'|(?P<comment>//[^\n]*)""", re.DOTALL)

#: Code and quotations, which keep their words.
QUOTED = re.compile(r'`[^`]*`|"[^"]*"|“[^”]*”')


def paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[Paragraph]:
    """Lines with their numbers as paragraphs, which end at empty lines and at lines left out."""
    first, part = 0, []
    for number, line in lines:
        if part and (not line.strip() or number != first + len(part)):
            yield first, part
            part = []
        if line.strip():
            first = first if part else number
            part.append(line.strip())
    if part:
        yield first, part


def rust(text: str) -> Iterator[Paragraph]:
    """The comments of a Rust file."""
    comments = (match for match in RUST.finditer(text) if match["comment"])
    return paragraphs((text.count("\n", 0, match.start()) + 1, match[0].lstrip("/!")) for match in comments)


def python(text: str) -> Iterator[Paragraph]:
    """The comments and docstrings of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    yield from paragraphs((token.start[0], token.string.lstrip("#:")) for token in comments)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from paragraphs(enumerate(node.value.value.split("\n"), node.lineno))


def markdown(text: str) -> Iterator[Paragraph]:
    """The text of a Markdown file, without its blocks of code. A row of a table is a paragraph."""
    lines, fence = [], ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip() == fence:
            fence = ""
        elif not fence:
            lines.append((number, line))
    for first, part in paragraphs(lines):
        if part[0].startswith("|"):
            yield from ((number, [row]) for number, row in enumerate(part, first))
        else:
            yield first, part


def banned(contributing: str) -> re.Pattern[str]:
    """The phrases in the first block of the section *Words*, one regular expression a line."""
    section = contributing.split("\n## Words\n")[1]
    lines = section.split("```")[1].strip().split("\n")[1:]
    return re.compile("|".join(f"(?:{line})" for line in lines))


def hits(found: Iterable[Paragraph], phrases: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """The phrases that a text has, each with its line. One may go on in the next line."""
    for first, lines in found:
        text = QUOTED.sub(lambda quoted: re.sub(r"[^\n]", "_", quoted[0]), "\n".join(lines))
        for match in phrases.finditer(text.replace("\n", " ")):
            yield first + text.count("\n", 0, match.start()), match[0]
