"""The magics, in a real kernel."""

import os
import re

import pandas as pd
import pytest
from addresses import ONE, A, B
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
SETUP = """
import walletframe as wf
service = wf.sandbox()
client = service.client(cache="memory")
%load_ext walletframe
%config Completer.use_jedi = False
"""


class Kernel:
    """A kernel, and its output."""

    def __init__(self, client):
        self.client = client

    def run(self, code):
        """Run a cell; return the last error's text, the shown result, and the printed text."""
        texts = {
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
                texts["error"] = content["ename"]
                texts["traceback"] = "\n".join(content["traceback"])
            elif message["msg_type"] == "stream":
                texts[content["name"]] += content["text"]
            elif "data" in content:
                texts.update(
                    {kind: text for kind, text in content["data"].items() if kind in texts}
                )

        self.client.execute_interactive(code, timeout=60, output_hook=listen, stop_on_error=False)
        return texts

    def value(self, expression):
        """Return the printed text of an expression."""
        return self.run(f"print({expression})")["stdout"].strip()

    def complete(self, code):
        """Return the code with each completion of its end inserted."""
        reply = self.client.complete(code, len(code), reply=True, timeout=60)["content"]
        return [code[: reply["cursor_start"]] + match for match in reply["matches"]]


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Start one kernel for all tests, isolated from the user's profile."""
    folder = str(tmp_path_factory.mktemp("ipython"))
    environment = os.environ | {"IPYTHONDIR": folder} | own_folders(folder, folder)
    manager, client = start_new_kernel(env=environment)
    begun = Kernel(client)
    assert begun.run(SETUP)["error"] == ""
    yield begun
    client.stop_channels()
    manager.shutdown_kernel()  # shut down, not killed, so that its coverage is written


def test_a_line_fetches_and_shows(kernel):
    """The result is displayed, and can be assigned."""
    output = kernel.run("%wallets --client client NEAR.alice.near")
    assert "1 wallet on 1 blockchain: 1 ok" in output["text/html"]
    kernel.run(
        "mine = %wallets -c client NEAR.alice.near ETH.0x1111111111111111111111111111111111111111"
    )
    assert kernel.value("len(mine.wallets), type(mine).__name__") == "2 WalletDetails"


def test_a_cell_fetches_into_a_variable(kernel):
    """A cell has one wallet per line, comments, options, and the name of the variable."""
    output = kernel.run(
        "%%wallets --client client --out friends --refresh\n"
        "NEAR.alice.near  # Alice\n\n# nobody\n"
        "ETH.0x1111111111111111111111111111111111111111"
    )
    assert output["error"] == ""
    assert kernel.value("friends.wallets.blockchain.tolist()") == "['NEAR', 'ETH']"
    assert kernel.value("set(friends.wallets.source)") == "{'service'}"


def test_columns_of_a_variable_or_a_file_are_kept(kernel, tmp_path):
    """Totals by a kept column are displayed, and the complete fetch is stored."""
    kernel.run("import pandas as pd")
    kernel.run("people = pd.DataFrame({'wallet': ['NEAR.alice.near'], 'owner': ['Ada']})")
    output = kernel.run("%wallets --from people -c client --keep owner --by owner --out held")
    assert re.search(r"owner +tokens", output["text/plain"])
    assert "Ada" in output["text/plain"]
    assert kernel.value("held.wallets.owner.tolist()") == "['Ada']"
    (tmp_path / "people.csv").write_text("wallet,team\nNEAR.alice.near,one\n")
    kernel.run(f"mine = %wallets --from {tmp_path}/people.csv -c client --keep team")
    assert kernel.value("mine.wallets.team.tolist()") == "['one']"


def test_totals_with_wallets_after_the_options(kernel):
    """Wallets may follow --by asset."""
    output = kernel.run("%wallets --by asset -c client NEAR.alice.near")
    assert re.search(r"^ +asset +amount +holders\n0 +NEAR ", output["text/plain"])


def test_variables_are_inserted(kernel):
    """A list in braces is replaced by its elements."""
    kernel.run("names = ['NEAR.alice.near', 'NEAR.bob.near']")
    kernel.run("both = %wallets -c client {names}")
    assert kernel.value("len(both.wallets)") == "2"


@pytest.mark.parametrize(
    "code, message",
    [
        ("%wallets", "no wallets"),
        (
            "%wallets nonsense ETH.0x1…2",
            "nonsense: there is no dot",
        ),
        ("%%wallets\nETH.0x1…2\n", "shortened"),
        ("%wallets ETH.0x12", "ETH.0x12: an address on ETH is 0x and 40 hex digits"),
        ("%wallets ETH.0x12", "Correct them, or leave them out with --on-unreadable drop"),
        ("%wallets nearprotocol.bob", "nearprotocol: write NEAR instead"),
        (f"%wallets --client nobody ETH.{ONE}", "no variable of this name is a Client"),
        (f"%wallets --out a-b ETH.{ONE}", "not a valid variable name"),
        (f"%wallets --colour ETH.{ONE}", "unrecognized"),
        ("%wallets 'unclosed", "No closing quotation: 'unclosed"),
        (f"%wallets ETH.{ONE}", "WALLETFRAME_"),
        (f"%wallets --refresh --offline -c client ETH.{ONE}", "can't be combined"),
        ("%wallets --from nowhere", "no variable or file has this name"),
        (f"%wallets --from client ETH.{ONE}", "use either --from or wallets, not both"),
        (f"%wallets --keep owner ETH.{ONE}", "add --from with a variable or a CSV file"),
        ("%wallets -c client --by owner NEAR.alice.near", "a column of holdings"),
    ],
)
def test_bad_input_is_a_message_without_a_traceback(kernel, code, message):
    """One message with the value and a hint."""
    result = kernel.run(code)
    assert message in result["stderr"] + result["stdout"]
    assert "Traceback" not in result["stderr"]


def test_an_error_about_wallets_shows_the_callers_lines_alone(kernel):
    """The value and its line, with no line of the package between them."""
    output = kernel.run("given = 'nonsense'\nclient.fetch(given)")
    shown = re.sub(r"\x1b\[[0-9;]*m", "", output["traceback"])
    assert output["error"] == "AddressError"
    assert "client.fetch(given)" in shown
    assert "'nonsense'" in shown
    assert "engine.py" not in shown


def test_malformed_addresses_can_be_requested(kernel):
    """Malformed addresses are requested as written; in the sandbox, these wallets fail."""
    kernel.run("asked = %wallets -c client --on-unreadable ask ETH.0x12")
    assert kernel.value("asked.wallets.status.tolist()") == "['failed']"


def test_names_of_blockchains_can_be_fixed(kernel):
    """Names in the cell and in a variable are fixed."""
    output = kernel.run("%%wallets -c client --fix --out bob\nnearprotocol.bob\nnearprotocol.al\n")
    assert "replaced 'nearprotocol' with NEAR (2 rows)" in output["stderr"]
    assert kernel.value("bob.wallets.blockchain.tolist()") == "['NEAR', 'NEAR']"
    output = kernel.run("names = ['nearprotocol.bob']\nbob = %wallets -c client --from names --fix")
    assert "replaced 'nearprotocol' with NEAR (1 row)" in output["stderr"]


def test_offline_sends_no_request(kernel):
    """Wallets that are not in the cache are reported once: by the output."""
    output = kernel.run("%wallets -c client --offline NEAR.nobody.near")
    assert "1 not_cached" in output["text/plain"]
    assert output["stderr"] == ""


@pytest.mark.parametrize(
    "code",
    [
        "kept = %wallets -c client --offline NEAR.nobody.near",
        "%wallets -c client --offline NEAR.nobody.near\nlater = 1",
    ],
    ids=["assigned", "not last"],
)
def test_hidden_failures_are_reported(kernel, code):
    """If the result is not the output, a few lines report wallets that are not ok, once."""
    output = kernel.run(code)
    assert "1 not_cached" not in output["text/plain"]
    assert "1 wallet on 1 blockchain: 1 not_cached" in output["stderr"]
    assert "warning" not in output["stderr"].lower()
    assert kernel.run("1 + 1")["stderr"] == ""


def test_oddities_of_the_list_are_reported(kernel):
    """Repeats, unknown blockchains and, on request, skipped wallets."""
    output = kernel.run(
        "%%wallets -c client --on-unreadable drop\n"
        f"near.alice.near\nNEAR.alice.near\nbad\nPolygn.{ONE}\n"
    )
    assert output["error"] == ""
    left_out = "these wallets can't be read and are left out:\n  bad: there is no dot"
    assert left_out in output["stderr"]
    assert "found 2 wallets in 3 rows; left out: 1 duplicate row" in output["stderr"]
    assert "Polygn: did you mean POLYGON or POLYGONZK?" in output["stderr"]
    assert "Warning" not in output["stderr"]


def test_ok_wallets_print_nothing(kernel):
    """An assignment of a whole answer prints nothing."""
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
    """A tab after the first letters completes them, in any case."""
    assert kernel.complete(code) == completed


def test_other_lines_are_completed_as_before(kernel):
    """Python's completions are unchanged."""
    assert kernel.complete("AVAX") == []


@completes
def test_loading_again_and_unloading(kernel):
    """Completions are registered once, and are removed."""
    kernel.run("%reload_ext walletframe")
    assert kernel.complete("%wallets AVAX") == ["%wallets AVAX_CCHAIN."]
    kernel.run("%unload_ext walletframe")
    assert kernel.complete("%wallets AVAX") == []
    kernel.run("%load_ext walletframe")


@completes
def test_loading_and_unloading_twice_equals_once():
    """IPython does not count calls of its functions."""
    shell = InteractiveShell()
    before = list(shell.Completer.custom_matchers)
    wf.load_ipython_extension(shell)
    wf.load_ipython_extension(shell)
    assert len(shell.Completer.custom_matchers) == len(before) + 1
    wf.unload_ipython_extension(shell)
    wf.unload_ipython_extension(shell)
    assert shell.Completer.custom_matchers == before


def test_unloading_keeps_the_users_formatters():
    """A formatter that was registered after loading stays."""
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    texts = shell.display_formatter.formatters["text/plain"]
    texts.for_type(FRAME, print_mine)
    wf.unload_ipython_extension(shell)
    assert texts.lookup_by_type(FRAME) is print_mine


def print_mine(_frame, printer, _cycle):
    """Print a fixed text."""
    printer.text("mine")


def test_other_warnings_stay_warnings(service):
    """Only warnings about the input are printed."""
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    client = shell.user_ns["client"] = service.client("test", cache="memory")
    with client, pytest.warns(wf.errors.TestKeyWarning):
        shell.run_line_magic("wallets", "-c client NEAR.alice.near")


def test_an_interrupt_of_a_line_keeps_finished_wallets(canned):
    """The error is raised, as in a cell."""
    canned.add_reply(answer(wallet()))
    canned.add_reply([b" "] * 100 + [answer(wallet(B))])
    shell = InteractiveShell()
    wf.load_ipython_extension(shell)
    with canned.client(workers=1) as shell.user_ns["client"]:
        interrupt_when(lambda: len(canned.paths) == 2)
        with pytest.raises(FetchInterrupted):
            shell.run_line_magic("wallets", f"-c client -o part ETH.{A} ETH.{B}")
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
    """The HTML of DataFrames, of subclasses and of Stylers excludes MathJax while it is loaded."""
    assert ALONE in kernel.run(FRAMES + code)["text/html"]
    kernel.run("%unload_ext walletframe")
    shown = kernel.run(code)["text/html"]
    kernel.run("%load_ext walletframe")
    assert "$x$" in shown
    assert ALONE not in shown


def test_tables_are_no_mathematics_on_a_page_of_nbconvert(kernel):
    """The element stays, and MathJax 2 ignores its class."""
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
    """No option is changed, and each works as before."""
    kernel.run(FRAMES)
    rows = "with pd.option_context('display.max_rows', 4): display(pd.concat([frame] * 9))"
    assert "9 rows" in kernel.run(rows)["text/html"]
    plain = "with pd.option_context('display.notebook_repr_html', False): display(frame)"
    assert kernel.run(plain)["text/html"] == ""
    assert kernel.value("pd.get_option('display.html.use_mathjax')") == "True"


def test_a_users_formatter_stays(kernel):
    """The user's formatter works with the extension, and after it is unloaded."""
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
    while not (lame._session and lame._session.in_flight.connections):
        time.sleep(0.01)
    _thread.interrupt_main()
threading.Thread(target=interrupt).start()
"""


def test_an_interrupt_keeps_finished_wallets(kernel):
    """Finished wallets are in the variable, and the cell is interrupted."""
    kernel.run("slow = wf.sandbox(latency_s=5); lame = slow.client(cache=False, workers=1)")
    kernel.run(INTERRUPT)
    output = kernel.run(
        "%%wallets -c lame -o part\n" + "\n".join(f"ETH.0x{n:0>40}" for n in range(9))
    )
    assert output["error"] == "FetchInterrupted"
    assert output["traceback"].count("\n") == 0
    assert int(kernel.value("(part.wallets.status == 'cancelled').sum()")) > 5


def test_help_has_an_example(kernel):
    """The help is printed, and no request is sent."""
    output = kernel.run("%wallets --help")
    assert "%%wallets --out friends" in output["stdout"]
    assert output["error"] == output["text/plain"] == ""


def test_values_are_shown_as_money(kernel):
    """In text and HTML, while pandas's options and print are unchanged."""
    kernel.run("import pandas as pd; frame = pd.DataFrame({'value': [124474.53, 1e12]})")
    output = kernel.run("frame")
    assert "124,474.53" in output["text/plain"]
    assert "124,474.53" in output["text/html"]
    assert "1.244745e+05" in kernel.value("frame")
    assert kernel.value("pd.get_option('display.float_format')") == "None"
    kernel.run("%unload_ext walletframe")
    output = kernel.run("frame")
    kernel.run("%load_ext walletframe")
    assert "1.244745e+05" in output["text/plain"]
    assert "124,474.53" not in output["text/html"]


def test_a_fetch_fits_the_terminal(kernel):
    """Without a terminal, all digits are printed."""
    kernel.run("wide = %wallets -c client ETH.0x2222222222222222222222222222222222222222")
    assert "1157920892…(60 digits)" not in kernel.run("wide")["text/plain"]
    kernel.run("import os; os.environ['COLUMNS'] = '70'")
    output = kernel.run("wide")["text/plain"]
    kernel.run("del os.environ['COLUMNS']")
    assert "1157920892…(60 digits)" in output
    _, _, tables = output.partition("\n\n")
    assert max(map(len, tables.splitlines())) <= 70
    assert "files have all digits" in output
