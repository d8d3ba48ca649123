"""The settings file: where it is read from, and what it may set in each place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from addresses import A
from canned_service import KEY

import walletframe as wf
from walletframe.errors import SettingsError
from walletframe.settings.sources import FILE_NAME, TABLE_SETTINGS, user_settings_file
from walletframe.settings.tables import table_defaults
from walletframe.settings.values import Settings

BASE_URL = "https://own.example"
SERVICE_ENTRIES = {
    "key_kind": '"public"',
    "base_url": '"https://evil.example"',
    "public_base_url": '"https://evil.example"',
    "service": '"evil"',
    "cache": '"/tmp/answers.sqlite"',
    "cache_max_bytes": "2000000",
    "expire_after_s": "inf",
    "stale_if_error": "false",
    "workers": "64",
    "requests_per_second": "10000.0",
    "retry_after_max_s": "1",
    "batch_size": "100",
    "timeout_s": "1",
    "deadline_s": "1",
}


def write(path, text):
    """Write a file, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty working folder."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def refused(**options):
    """Return the error of settings that are refused, in every way to read them."""
    errors = []
    for read in (Settings, wf.configure, *([] if options else [table_defaults])):
        with pytest.raises(SettingsError) as caught:
            read(**options)
        assert caught.value.__cause__ is caught.value.__context__ is None
        errors.append(caught.value)
    assert len({*map(str, errors)}) == 1
    assert KEY not in str(errors[0])
    return errors[0]


class TestPlaces:
    """The user's folder, the working folder, and a named file."""

    def test_the_users_file_sets_the_service(self, folder):
        """All settings but the key."""
        assert user_settings_file().name == FILE_NAME
        lines = [f"{name} = {text}" for name, text in SERVICE_ENTRIES.items()]
        write(user_settings_file(), "\n".join(["currency = 'USD'", *lines]))
        settings = Settings()
        assert (settings.endpoint, settings.workers) == ("https://evil.example", 64)
        assert settings.stale_if_error is False
        assert str(settings.cache) == str(Path("/tmp/answers.sqlite"))  # noqa: S108 - not opened
        assert table_defaults().currency == "USD"

    def test_arguments_and_the_environment_win(self, folder, monkeypatch):
        """In this order, over any file."""
        write(user_settings_file(), f"workers = 2\nbase_url = '{BASE_URL}'\ncurrency = 'USD'")
        assert (Settings().workers, Settings().base_url) == (2, BASE_URL)
        monkeypatch.setenv("WALLETFRAME_WORKERS", "3")
        monkeypatch.setenv("WALLETFRAME_CURRENCY", "EUR")
        assert (Settings().workers, Settings().base_url) == (3, BASE_URL)
        assert wf.configure(workers=4).workers == 4
        assert table_defaults().currency == "EUR"
        wf.configure(currency="CHF")
        assert table_defaults().currency == "CHF"

    def test_the_working_folder_wins_over_the_user(self, folder):
        """For tables; a file in both places is merged by entry."""
        write(user_settings_file(), "workers = 2\ncurrency = 'USD'\nspam_deny = 'deny.csv'")
        write(folder / FILE_NAME, "currency = 'EUR'\nspam_allow = 'lists/allow.csv'")
        tables = table_defaults()
        assert (Settings().workers, tables.currency) == (2, "EUR")
        assert tables.spam_allow == folder / "lists" / "allow.csv"
        assert tables.spam_deny == user_settings_file().parent / "deny.csv"

    def test_a_named_file_is_the_only_one(self, folder, tmp_path, monkeypatch):
        """In code or in the environment; code wins."""
        write(user_settings_file(), "workers = 2\ncurrency = 'USD'")
        write(folder / FILE_NAME, "prices = 'service'")
        named = write(tmp_path / "team" / "named.toml", "timeout_s = 5\nprices = '../p.csv'")
        other = write(tmp_path / "other.toml", "timeout_s = 6")
        assert (Settings(file=named).timeout_s, Settings(file=named).workers) == (5, 8)
        wf.configure(file=str(named))
        assert table_defaults().currency is None
        assert table_defaults().prices == named.parent / "../p.csv"
        monkeypatch.setenv("WALLETFRAME_FILE", str(named))
        assert wf.configure().timeout_s == 5
        assert wf.configure(file=other).timeout_s == 6
        assert table_defaults().prices is None

    def test_a_missing_file_is_an_error_only_if_it_is_named(self, folder, monkeypatch):
        """The message names it."""
        assert Settings() == Settings.isolated()
        assert "none.toml can't be read: No such file" in str(refused(file="none.toml"))
        monkeypatch.setenv("WALLETFRAME_FILE", str(folder / "none.toml"))
        assert "none.toml can't be read" in str(refused())

    def test_the_environment_names_an_absolute_path(self, folder, monkeypatch):
        """Else it would trust each working folder that has such a file."""
        write(folder / FILE_NAME, "workers = 2")
        monkeypatch.setenv("WALLETFRAME_FILE", FILE_NAME)
        assert "WALLETFRAME_FILE is not an absolute path" in str(refused())

    @pytest.mark.parametrize("named", [KEY, "", 5, b"x.toml", f"{KEY}.json"])
    def test_a_named_file_is_toml(self, named):
        """Other values may be a key."""
        assert str(refused(file=named)).startswith("file is not the path of a .toml file")

    def test_the_users_folder_may_be_the_working_folder(self, monkeypatch):
        """Its file is the user's own."""
        write(user_settings_file(), "workers = 2")
        monkeypatch.chdir(user_settings_file().parent)
        assert Settings().workers == 2

    def test_without_a_home_no_file_is_the_users(self, folder, monkeypatch):
        """A folder called "~" in the working folder is not the user's."""
        monkeypatch.setattr(
            "walletframe.settings.sources.user_config_path", lambda name: Path("~/.config", name)
        )
        write(Path("~/.config/walletframe", FILE_NAME), "workers = 2")
        assert Settings().workers == 8

    def test_a_folder_that_can_not_be_searched_has_no_file(self, folder, monkeypatch):
        """As for a user without a home of its own."""
        write(folder / FILE_NAME, "workers = 2")

        def fail(path, **_):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "stat", fail)
        assert Settings().workers == 8

    def test_the_import_reads_no_file(self, folder):
        """Only the first use does, and it stays."""
        write(folder / FILE_NAME, "broken")
        script = "import walletframe as wf; wf.configure, wf.assets, wf.Settings; print(1)"
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, check=True
        )
        assert done.stdout.strip() == b"1"
        write(folder / FILE_NAME, "currency = 'USD'")
        assert table_defaults().currency == "USD"
        write(folder / FILE_NAME, "currency = 'EUR'")
        assert table_defaults().currency == "USD"
        wf.configure()
        assert table_defaults().currency == "EUR"


class TestClonedFolder:
    """A file in the working folder may be the work of somebody else."""

    @pytest.mark.parametrize("name", SERVICE_ENTRIES)
    def test_it_sets_no_service(self, folder, name):
        """The message says where the setting may stand."""
        write(folder / FILE_NAME, f"{name} = {SERVICE_ENTRIES[name]}")
        error = refused()
        assert str(error).startswith(f"the setting {name} is not allowed in {folder / FILE_NAME}: ")
        assert str(user_settings_file()) in error.hint
        assert "configure(file=…)" in error.hint

    def test_all_settings_are_covered(self):
        """Each setting but the key is refused there, or is of tables."""
        own = {*SERVICE_ENTRIES, "api_key", "file", "unknown"}
        assert {*Settings.__signature__.parameters} == own
        assert own.isdisjoint(TABLE_SETTINGS)

    @pytest.mark.parametrize(
        "text",
        [
            'base_url = "{url}"',
            'public_base_url = "{url}"\nkey_kind = "public"',
            'BASE_URL = "{url}"',
            '[settings]\nbase_url = "{url}"',
            'file = "other.toml"',
            'prices = "{url}"\ncurrency = "USD"\ncache = "memory"\nbase_url = "{url}"',
            'proxy = "{url}"',
            'https_proxy = "{url}"',
        ],
    )
    def test_the_key_goes_nowhere_else(self, folder, canned, monkeypatch, text):
        """Whatever the folder writes, its server gets no request."""
        monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
        monkeypatch.setenv("WALLETFRAME_DEADLINE_S", "0")
        write(folder / "other.toml", f'base_url = "{canned.base_url}"')
        write(folder / FILE_NAME, text.format(url=canned.base_url))
        for kind in (None, "private", "public", "test"):
            if kind:
                monkeypatch.setenv("WALLETFRAME_KEY_KIND", kind)
            for address in (None, "https://127.0.0.1:9/own"):
                if address and kind:
                    monkeypatch.setenv("WALLETFRAME_BASE_URL", address)
                with pytest.raises(SettingsError):
                    wf.fetch_wallets(f"ETH.{A}")
                with pytest.raises(SettingsError):
                    wf.configure()
        assert canned.paths == []

    @pytest.mark.skipif(os.name == "nt", reason="links need rights there")
    def test_a_link_is_no_way_out(self, folder, tmp_path):
        """The name counts, and not the file behind it."""
        (folder / FILE_NAME).symlink_to(
            write(tmp_path / "x.toml", 'base_url = "https://e.example"')
        )
        assert "the setting base_url is not allowed" in str(refused())

    @pytest.mark.skipif(os.name == "nt", reason="links need rights there")
    def test_no_link_leads_out(self, folder, tmp_path):
        """A cloned folder can contain a link to a table of the user."""
        write(folder / FILE_NAME, "prices = 'p.csv'")
        (folder / "p.csv").symlink_to(write(tmp_path / "private.csv", "asset,price"))
        with pytest.raises(SettingsError, match=r"^prices in .*outside the folder of this file"):
            table_defaults()

    @pytest.mark.parametrize("path", ["/etc/passwd", "../p.csv", "~/p.csv", "a/../../p.csv"])
    @pytest.mark.parametrize("name", ["prices", "assets", "spam_allow", "spam_deny"])
    def test_its_paths_stay_inside(self, folder, name, path):
        """A table can't be read from elsewhere."""
        value = f'["mine.csv", "{path}"]' if name == "prices" else f'"{path}"'
        write(folder / FILE_NAME, f"{name} = {value}")
        with pytest.raises(SettingsError, match=f"^{name} in .*outside the folder of this file"):
            table_defaults()


class TestKey:
    """A key in a file is refused, and not quoted."""

    @pytest.mark.parametrize("name", ["api_key", "API_KEY", "apikey", "api-key", "key"])
    def test_in_any_file(self, folder, tmp_path, name):
        """In the user's, the working folder's, and a named one."""
        for path in (user_settings_file(), folder / FILE_NAME, tmp_path / "named.toml"):
            write(path, f'{name} = "{KEY}"')
            error = refused(**({"file": path} if path.name == "named.toml" else {}))
            assert str(error).startswith(f"{path} contains an API key\n")
            assert "WALLETFRAME_API_KEY" in error.hint
            path.unlink()

    @pytest.mark.parametrize(
        "text", [f'currency = "{KEY}"', f'[colors]\n"{KEY}" = "#112233"', f'"{KEY}" = 1']
    )
    def test_the_environments_key_in_any_entry(self, folder, monkeypatch, text):
        """As a value or a name."""
        monkeypatch.setenv("WALLETFRAME_API_KEY", KEY)
        write(folder / FILE_NAME, text)
        assert "contains an API key" in str(refused())

    @pytest.mark.parametrize(
        "text",
        [
            f'currency = ["{KEY}"]',
            f'"{KEY}" = 1',
            f"[{KEY}]\n[{KEY}]",
            f"{KEY}",
            f'workers = "{KEY}"',
            f'base_url = "{KEY}"',
            f'prices = [["{KEY}"]]',
            f'[colors]\nETH = "{KEY}"',
        ],
    )
    def test_a_misplaced_one_is_not_quoted(self, folder, text):
        """Whatever is wrong with the file."""
        write(user_settings_file(), text)
        with pytest.raises(SettingsError) as caught:
            wf.configure()
        assert KEY not in str(caught.value)


class TestFaults:
    """Errors name the file and the entry."""

    @pytest.mark.parametrize(
        "content, fault",
        [
            (b"a = 1\n[", "it is not valid TOML (at "),
            (b"a = 1\na = 2\nb = 1", "it is not valid TOML (at line 2, column "),
            (b"currency = '\xff'", "it is not valid TOML"),
            (b"a = " + b"[" * 100_000, "it is not valid TOML"),
        ],
    )
    def test_bad_files(self, folder, content, fault):
        """A syntax error has its line."""
        (folder / FILE_NAME).write_bytes(content)
        assert str(refused()).startswith(f"{folder / FILE_NAME} can't be read: {fault}")

    def test_a_byte_order_mark_is_skipped(self, folder):
        """Some editors write one."""
        (folder / FILE_NAME).write_bytes("\ufeffcurrency = 'USD'".encode())
        assert table_defaults().currency == "USD"

    def test_unknown_names(self, folder):
        """With the most similar name."""
        write(folder / FILE_NAME, "curency = 'USD'")
        error = refused()
        assert str(error).startswith(f"there is no setting 'curency' in {folder / FILE_NAME}")
        assert error.hint == "did you mean currency?"

    @pytest.mark.parametrize(
        "text", ["workers = 'many'", "base_url = 5", "timeout_s = [1]", "cache = 1979-05-27"]
    )
    def test_wrong_values_of_the_service(self, text):
        """As for arguments."""
        write(user_settings_file(), text)
        with pytest.raises(SettingsError) as caught:
            Settings()
        name = text.partition(" ")[0]
        assert str(caught.value).startswith(f"{name} in {user_settings_file()} is not ")

    @pytest.mark.parametrize(
        "text",
        [
            "currency = 5",
            "currency = ' '",
            "prices = 5",
            "prices = []",
            "prices = ['']",
            "prices = [1]",
            "assets = ['a.csv']",
            "spam_allow = 1.5",
            "spam_deny = {}",
            "colors = 'red'",
            "colors = {ETH = 'red'}",
            "colors = {ETH = 5}",
        ],
    )
    def test_wrong_values_of_tables(self, folder, text):
        """The hint has a valid one."""
        write(folder / FILE_NAME, text)
        with pytest.raises(SettingsError) as caught:
            table_defaults()
        name = text.partition(" ")[0]
        assert str(caught.value).startswith(f"{name} in {folder / FILE_NAME} is not valid: ")
        assert caught.value.hint.startswith("use ")

    def test_unknown_arguments(self):
        """With the most similar name, of tables as well."""
        with pytest.raises(SettingsError) as caught:
            wf.configure(curency="USD")
        assert caught.value.hint == "did you mean currency?"

    def test_wrong_arguments_and_variables(self, monkeypatch):
        """Nothing is changed."""
        wf.configure(currency="USD")
        for options in ({"currency": 5}, {"colors": {"ETH": "red"}}, {"prices": ""}):
            with pytest.raises(SettingsError, match=f"^{next(iter(options))} is not valid: "):
                wf.configure(**options)
        monkeypatch.setenv("WALLETFRAME_COLORS", "red")
        with pytest.raises(SettingsError, match=r"^WALLETFRAME_COLORS is not valid"):
            wf.configure()
        assert table_defaults().currency == "USD"
