"""The magics, in a real kernel."""

import os
import re

import pandas as pd
import pytest
from canned_service import answer, wallet
from IPython.core import completer
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel
from moments import interrupt_when
from own_folders import own_folders

import walletframe as wf
from walletframe.errors import FetchInterrupted

pytestmark = pytest.mark.children
FRAME = f"{pd.DataFrame.__module__}.DataFrame"
completes = pytest.mark.skipif(
    not hasattr(completer, "context_matcher"), reason="IPython 7 has no matchers"
)
BEGIN = """
import walletframe as wf
service = wf.sandbox()
client = service.client(cache="memory")
%load_ext walletframe
%config Completer.use_jedi = False
"""


class Kernel:
    """A kernel, and what it says."""

    def __init__(self, client):
        self.client = client

    def run(self, code):
        """Run a cell; return the last error's text, what was shown, and what was printed."""
        said = {
            "error": "",
            "traceback": "",
            "text/plain": "",
            "text/html": "",
            "stdout": "",
            "stderr": "",
        }

        def listen(message):
            content = message["content"]
            if message["msg_type"] == "error":
                said["error"] = content["ename"]
                said["traceback"] = "\n".join(content["traceback"])
            elif message["msg_type"] == "stream":
                said[content["name"]] += content["text"]
            elif "data" in content:
                said.update({kind: text for kind, text in content["data"].items() if kind in said})

        self.client.execute_interactive(code, timeout=60, output_hook=listen, stop_on_error=False)
        return said

    def value(self, expression):
        """Return what an expression prints."""
        return self.run(f"print({expression})")["stdout"].strip()

    def complete(self, code):
        """Return the code with each completion of its end put in."""
        reply = self.client.complete(code, len(code), reply=True, timeout=60)["content"]
        return [code[: reply["cursor_start"]] + match for match in reply["matches"]]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Give one kernel to all tests, isolated from the user's profile."""
    folder = str(tmp_path_factory.mktemp("ipython"))
    environment = os.environ | {"IPYTHONDIR": folder} | own_folders(folder, folder)
    manager, client = start_new_kernel(env=environment)
    begun = Kernel(client)
    assert begun.run(BEGIN)["error"] == ""
    yield begun
    client.stop_channels()
    manager.shutdown_kernel()  # asked, not killed, so that its coverage is written


def test_a_line_fetches_and_shows(kernel):
    """The result is shown, and an assignment keeps it."""
    said = kernel.run("%wallets --client client NEAR.alice.near")
    assert "1 wallet on 1 blockchain: 1 ok" in said["text/html"]
    kernel.run(
        "mine = %wallets -c client NEAR.alice.near ETH.0x1111111111111111111111111111111111111111"
    )
    assert kernel.value("len(mine.wallets), type(mine).__name__") == "2 WalletDetails"


def test_a_cell_fetches_into_a_variable(kernel):
    """One wallet a line, comments, options, and the name of the variable."""
    said = kernel.run(
        "%%wallets --client client --out friends --refresh\n"
        "NEAR.alice.near  # Alice\n\n# nobody\n"
        "ETH.0x1111111111111111111111111111111111111111"
    )
    assert said["error"] == ""
    assert kernel.value("friends.wallets.blockchain.tolist()") == "['NEAR', 'ETH']"
    assert kernel.value("set(friends.wallets.source)") == "{'service'}"


def test_columns_of_a_variable_or_a_file_are_kept(kernel, tmp_path):
    """Totals by one are shown, and the whole fetch is kept."""
    kernel.run("import pandas as pd")
    kernel.run("people = pd.DataFrame({'wallet': ['NEAR.alice.near'], 'owner': ['Ada']})")
    said = kernel.run("%wallets --from people -c client --keep owner --by owner --out held")
    assert re.search(r"owner +tokens", said["text/plain"])
    assert "Ada" in said["text/plain"]
    assert kernel.value("held.wallets.owner.tolist()") == "['Ada']"
    (tmp_path / "people.csv").write_text("wallet,team\nNEAR.alice.near,one\n")
    kernel.run(f"mine = %wallets --from {tmp_path}/people.csv -c client --keep team")
    assert kernel.value("mine.wallets.team.tolist()") == "['one']"


def test_totals_of_wallets_behind_the_options(kernel):
    """By asset, without a list of them."""
    said = kernel.run("%wallets --by asset -c client NEAR.alice.near")
    assert re.search(r"asset +\\\n0 +NEAR", said["text/plain"])


def test_variables_can_be_put_in(kernel):
    """A list in braces is as good as its elements."""
    kernel.run("names = ['NEAR.alice.near', 'NEAR.bob.near']")
    kernel.run("both = %wallets -c client {names}")
    assert kernel.value("len(both.wallets)") == "2"


@pytest.mark.parametrize(
    "code, said",
    [
        ("%wallets", "no wallets"),
        ("%wallets nonsense ETH.0x1…2", "nonsense: no dot"),
        ("%%wallets\nETH.0x1…2\n", "shortened"),
        ("%wallets --client nobody ETH.0x1", "no variable of this name is a Client"),
        ("%wallets --out a-b ETH.0x1", "not a variable name"),
        ("%wallets --colour ETH.0x1", "unrecognized"),
        ("%wallets 'unclosed", "No closing quotation: 'unclosed"),
        ("%wallets ETH.0x1", "WALLETFRAME_"),
        ("%wallets --refresh --offline -c client ETH.0x1", "contradict"),
        ("%wallets --from nowhere", "no such variable, and no such file"),
        ("%wallets --from client ETH.0x1", "give either --from or wallets, not both"),
        ("%wallets --keep owner ETH.0x1", "--from a variable or a file"),
        ("%wallets -c client --by owner NEAR.alice.near", "a column of holdings"),
    ],
)
def test_bad_input_is_told_without_a_traceback(kernel, code, said):
    """One message that names the value and what to do."""
    told = kernel.run(code)
    assert said in told["stderr"] + told["stdout"]
    assert "Traceback" not in told["stderr"]


def test_an_error_about_wallets_shows_the_callers_lines_alone(kernel):
    """The value and where it was given, with no line of the package between them."""
    said = kernel.run("given = 'nonsense'\nclient.fetch(given)")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", said["traceback"])
    assert said["error"] == "AddressError"
    assert "client.fetch(given)" in shown
    assert "'nonsense'" in shown
    assert "engine.py" not in shown


def test_offline_asks_for_none(kernel):
    """What is not in the cache is said to be missing, once: by the output."""
    said = kernel.run("%wallets -c client --offline NEAR.nobody.near")
    assert "1 not_cached" in said["text/plain"]
    assert said["stderr"] == ""


@pytest.mark.parametrize(
    "code",
    [
        "kept = %wallets -c client --offline NEAR.nobody.near",
        "%wallets -c client --offline NEAR.nobody.near\nlater = 1",
    ],
    ids=["assigned", "not last"],
)
def test_failures_that_the_cell_does_not_show_are_told(kernel, code):
    """Where the result is not the output, a few lines say what is not ok, after that cell alone."""
    said = kernel.run(code)
    assert "1 not_cached" not in said["text/plain"]
    assert "1 wallet on 1 blockchain: 1 not_cached" in said["stderr"]
    assert "warning" not in said["stderr"].lower()
    assert kernel.run("1 + 1")["stderr"] == ""


def test_what_is_odd_about_the_list_is_told_in_lines(kernel):
    """Repeats, blockchains that are not known and, on request, what was left out."""
    said = kernel.run(
        "%%wallets -c client --on-unreadable drop\n"
        "near.alice.near\nNEAR.alice.near\nbad\nMatic.0x1\n"
    )
    assert said["error"] == ""
    assert "unreadable and left out:\n  bad: no dot" in said["stderr"]
    assert "found 2 wallets in 3 rows: 1 repeated" in said["stderr"]
    assert "Matic: did you mean POLYGON?" in said["stderr"]
    assert "Warning" not in said["stderr"]


def test_wallets_that_are_ok_need_no_words(kernel):
    """An assignment of a whole answer says nothing."""
    assert kernel.run("mine = %wallets -c client NEAR.alice.near")["stderr"] == ""


@completes
@pytest.mark.parametrize(
    "code, completed",
    [
        ("%wallets AVAX", ["%wallets AVAX_CCHAIN."]),
        (
            "%wallets NEAR.alice.near polyg",
            [f"%wallets NEAR.alice.near POLYGON{z}." for z in ("", "ZK")],
        ),
        ("%%wallets\nNEAR.alice.near\nSOL", ["%%wallets\nNEAR.alice.near\nSOLANA."]),
        ("%wallets --ref", ["%wallets --refresh"]),
        ("x = %wallets TRO", ["x = %wallets TRON."]),
    ],
)
def test_blockchains_and_options_are_completed(kernel, code, completed):
    """A tab after the first letters is enough, in any case."""
    assert kernel.complete(code) == completed


def test_other_lines_are_completed_as_before(kernel):
    """Names of blockchains don't get in the way of Python."""
    assert kernel.complete("AVAX") == []


@completes
def test_loading_again_and_unloading(kernel):
    """Completions come once, and go."""
    kernel.run("%reload_ext walletframe")
    assert kernel.complete("%wallets AVAX") == ["%wallets AVAX_CCHAIN."]
    kernel.run("%unload_ext walletframe")
    assert kernel.complete("%wallets AVAX") == []
    kernel.run("%load_ext walletframe")


@completes
def test_loading_and_unloading_twice_is_as_good_as_once():
    """By its functions, which IPython does not count."""
    shell = InteractiveShell()
    before = list(shell.Completer.custom_matchers)
    wf.load_ipython_extension(shell)
    wf.load_ipython_extension(shell)
    assert len(shell.Completer.custom_matchers) == len(before) + 1
    wf.unload_ipython_extension(shell)
    wf.unload_ipython_extension(shell)
    assert shell.Completer.custom_matchers == before


def test_unloading_leaves_how_a_user_prints_tables():
    """What was registered after loading is the user's own."""
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    texts = shell.display_formatter.formatters["text/plain"]
    texts.for_type(FRAME, print_mine)
    wf.unload_ipython_extension(shell)
    assert texts.lookup_by_type(FRAME) is print_mine


def print_mine(_frame, printer, _cycle):
    """Print nothing but this."""
    printer.text("mine")


def test_warnings_about_other_things_stay_warnings(service):
    """Only what is odd about the list is printed."""
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    client = shell.user_ns["client"] = service.client("test", cache="memory")
    with client, pytest.warns(wf.errors.TestKeyWarning):
        shell.run_line_magic("wallets", "-c client NEAR.alice.near")


def test_an_interrupt_of_a_line_keeps_what_was_finished(canned):
    """As a cell's does; the error comes through."""
    canned.say(answer(wallet()))
    canned.say([b" "] * 100 + [answer(wallet("0xb"))])
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    with canned.client(workers=1) as shell.user_ns["client"]:
        interrupt_when(lambda: len(canned.paths) == 2)
        with pytest.raises(FetchInterrupted):
            shell.run_line_magic("wallets", "-c client -o part ETH.0xa ETH.0xb")
    assert shell.user_ns["part"].wallets.status.tolist() == ["ok", "cancelled"]


FRAMES = """
import pandas as pd
frame = pd.DataFrame({"symbol": ["$x$"]})
formatter = get_ipython().display_formatter.formatters["text/html"]
"""
ALONE = 'class="mathjax_ignore tex2jax_ignore"'


@pytest.mark.parametrize(
    "code", ["frame", "frame.style", "type('Own', (pd.DataFrame,), {})(frame)"]
)
def test_tables_are_no_mathematics(kernel, code):
    """DataFrames, of a user's class, too, and Stylers keep MathJax away while it is loaded."""
    assert ALONE in kernel.run(FRAMES + code)["text/html"]
    kernel.run("%unload_ext walletframe")
    shown = kernel.run(code)["text/html"]
    kernel.run("%load_ext walletframe")
    assert "$x$" in shown
    assert ALONE not in shown


def test_tables_are_no_mathematics_on_a_page_of_nbconvert(kernel):
    """It keeps the element, and its MathJax 2 still leaves alone what is of that class."""
    from nbconvert import HTMLExporter  # noqa: PLC0415 - slow to load
    from nbformat import v4  # noqa: PLC0415 - slow to load

    shown = kernel.run(FRAMES + "frame")["text/html"]
    output = v4.new_output("display_data", {"text/html": shown})
    book = v4.new_notebook(cells=[v4.new_code_cell("frame", outputs=[output])])
    page, _ = HTMLExporter().from_notebook_node(book)
    [config] = re.findall(r"tex2jax: \{(.*?)\n +\},", page, re.DOTALL)
    assert page.index(ALONE) < page.index("$x$")
    assert "inlineMath" in config
    assert not re.search("ignoreClass|processClass|skipTags", config)


def test_tables_follow_the_options_of_pandas(kernel):
    """No option is touched, and each decides as before."""
    kernel.run(FRAMES)
    rows = "with pd.option_context('display.max_rows', 4): display(pd.concat([frame] * 9))"
    assert "9 rows" in kernel.run(rows)["text/html"]
    plain = "with pd.option_context('display.notebook_repr_html', False): display(frame)"
    assert kernel.run(plain)["text/html"] == ""
    assert kernel.value("pd.get_option('display.html.use_mathjax')") == "True"


def test_a_formatter_of_the_users_own_stays(kernel):
    """It draws, within the element; and is there alone when the extension is unloaded."""
    kernel.run(
        FRAMES + "%unload_ext walletframe\nformatter.for_type(pd.DataFrame, lambda _: 'mine')"
    )
    kernel.run("%load_ext walletframe\n%reload_ext walletframe")
    assert kernel.run("frame")["text/html"] == f"<div {ALONE}>mine</div>"
    kernel.run("%unload_ext walletframe")
    assert kernel.run("frame")["text/html"] == "mine"
    kernel.run("formatter.pop(pd.DataFrame)\n%load_ext walletframe")


INTERRUPT = """
import _thread, threading, time
def interrupt():
    while not (lame._session and lame._session._in_flight.connections):
        time.sleep(0.01)
    _thread.interrupt_main()
threading.Thread(target=interrupt).start()
"""


def test_an_interrupt_keeps_what_was_finished(kernel):
    """The variable has the finished wallets, and the cell ends as interrupted."""
    kernel.run("slow = wf.sandbox(latency_s=5); lame = slow.client(cache=False, workers=1)")
    kernel.run(INTERRUPT)
    said = kernel.run("%%wallets -c lame -o part\n" + "\n".join(f"ETH.0x{n}" for n in range(9)))
    assert said["error"] == "FetchInterrupted"
    assert int(kernel.value("(part.wallets.status == 'cancelled').sum()")) > 5


def test_help_has_an_example(kernel):
    """Printed, and nothing is asked for."""
    said = kernel.run("%wallets --help")
    assert "%%wallets --out friends" in said["stdout"]
    assert said["error"] == said["text/plain"] == ""


def test_values_are_shown_as_money(kernel):
    """In text and HTML, while pandas's options and prints stay as they are."""
    kernel.run("import pandas as pd; frame = pd.DataFrame({'value': [124474.53, 1e12]})")
    said = kernel.run("frame")
    assert "124,474.53" in said["text/plain"]
    assert "124,474.53" in said["text/html"]
    assert "1.244745e+05" in kernel.value("frame")
    assert kernel.value("pd.get_option('display.float_format')") == "None"
    kernel.run("%unload_ext walletframe")
    said = kernel.run("frame")
    kernel.run("%load_ext walletframe")
    assert "1.244745e+05" in said["text/plain"]
    assert "124,474.53" not in said["text/html"]


def test_a_fetch_fits_the_terminal(kernel):
    """Where there is one; else all digits are there."""
    kernel.run("wide = %wallets -c client ETH.0x2222222222222222222222222222222222222222")
    assert "1157920892…(60 digits)" not in kernel.run("wide")["text/plain"]
    kernel.run("import os; os.environ['COLUMNS'] = '70'")
    said = kernel.run("wide")["text/plain"]
    kernel.run("del os.environ['COLUMNS']")
    assert "1157920892…(60 digits)" in said
    _, _, tables = said.partition("\n\n")
    assert max(map(len, tables.splitlines())) <= 70
    assert "files have all digits" in said
