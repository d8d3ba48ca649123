"""The help of each command, whose examples are run unchanged."""

import shlex

import click
import pytest

from walletframe.cli import main

SERVED = ("walletframe balance", "walletframe sandbox", "walletframe history show yesterday")
"""What needs a node, has no end, or takes a day: its options are read, and no more."""


def commands(command, *words):
    """List a command and all below it, each with its words."""
    result = [(words, command)]
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            result += commands(below, *words, name)
    return result


COMMANDS = dict(commands(main))


def examples(run, words):
    """Read the examples of a command's help."""
    text = run(*words, "--help").output
    _, result, lines = text.partition("\n  Example")
    assert result, text
    assert lines.startswith((":\n", "s:\n"))
    return shlex.split(lines.partition("\n")[2].replace("\\\n", ""), comments=False)


def split(words):
    """Split words into lines of a shell."""
    lines = []
    for word in words:
        lines = [*lines, []] if word == "walletframe" else lines
        lines[-1].append(word)
    return [line[1:] for line in lines]


@pytest.fixture
def ground(tmp_path, monkeypatch, home, reachable):
    """Write the files that examples name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wallets.txt").write_text("NEAR.alice.near\n")
    base = "BASE,0x" + 40 * "1"
    people = f"blockchain,address,owner,name\nNEAR,alice.near,Ada,\n{base},Ben,hot\n"
    (tmp_path / "people.csv").write_text(people)
    (tmp_path / "prices.csv").write_text("token_blockchain,token_address,price\nNEAR,,4\n")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_ends_with_an_example_of_the_command(run, words):
    """It has that very command, and its options can be read."""
    lines = split(examples(run, words))
    assert lines
    for line in lines:
        assert tuple(line[: len(words)]) == words


@pytest.mark.filterwarnings("ignore::walletframe.errors.FetchWarning")
@pytest.mark.filterwarnings("ignore:.*the same cached answer:walletframe.errors.InputWarning")
def test_examples_run_unchanged(run, ground):
    """In one shell, against the sandbox: each exits with its wallets' code."""
    order = ["fetch", "fetch-to-parquet", "totals", "report", "history save"]
    ranks = {tuple(name.split()): place for place, name in enumerate(order)}
    for words in sorted(COMMANDS, key=lambda each: ranks.get(each, len(ranks))):
        for line in split(examples(run, words)):
            if " ".join(["walletframe", *line]).startswith(SERVED):
                context = main.make_context("walletframe", line)
                name, command, rest = main.resolve_command(context, [*line])
                command.make_context(name, rest, parent=context)
            else:
                result = run(*line)
                assert result.exit_code in {0, 1}, (line, result.output)
