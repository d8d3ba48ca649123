"""Surfaces that values offer: the key, settings, clients, and the errors of making them."""

import copy
import dataclasses
import json
import pickle
import pprint
import reprlib
from urllib.parse import quote, quote_plus

import pytest
from addresses import A
from IPython.core.formatters import DisplayFormatter
from IPython.core.oinspect import Inspector
from IPython.core.ultratb import VerboseTB
from leak_ground import texts_of, within
from leak_scan import KEY
from leak_surfaces import surface, surfaces

import walletframe as wf
from walletframe.errors import SettingsError
from walletframe.service import sandbox
from walletframe.settings.key import ApiKey
from walletframe.settings.values import Settings
from walletframe.transport import ServiceSession

SETTINGS = [field.name for field in dataclasses.fields(Settings)]


def _members(thing):
    names = [name for name in dir(thing) if name != "__weakref__"]  # it is broken in Python 3.11.2
    members = [(name, getattr(thing, name, None)) for name in names]
    return repr([members, [vars(value) for _, value in members if hasattr(value, "__dict__")]])


def _copies(thing):
    return [text for each in (copy.copy, copy.deepcopy) for text in within(each(thing))]


DISPLAYS = {
    "repr": repr,
    "str": str,
    "format": lambda thing: f"{thing}{thing!s}{thing!a}",
    "percent format": lambda thing: "%s %r" % (thing, thing),  # noqa: UP031 - as logging does
    "reprlib": reprlib.repr,
    "pprint": pprint.pformat,
    "members": _members,
    "all within": within,
    "copies": _copies,
    "JSON": lambda thing: json.dumps(thing, default=repr),
    "pickle": lambda thing: [pickle.dumps(thing, each) for each in range(2, 6)],
    "state": lambda thing: within(thing.__getstate__()),
    "reduced": lambda thing: within(thing.__reduce_ex__(4)),
    "unpickled": lambda thing: within(pickle.loads(pickle.dumps(thing))),
    "notebook output": lambda thing: repr(DisplayFormatter().format(thing)),
    "notebook inspection": lambda thing: repr(
        Inspector(theme_name="nocolor").info(thing, detail_level=1)
    ),
}


@surfaces(DISPLAYS)
def key(ground, variant):
    """The key itself."""
    return DISPLAYS[variant](ApiKey(KEY))


@surfaces(DISPLAYS)
def settings(ground, variant):
    """Settings."""
    return DISPLAYS[variant](Settings(**ground.settings()))


@surfaces([name for name in DISPLAYS if name != "state"])
def client(ground, variant):
    """A client."""
    return DISPLAYS[variant](ground.client())


@surface
def client_at_work(ground):
    """All within a client with its session, rate limiter and answers."""
    ground.answer()
    with ground.client() as client:
        client.fetch(f"ETH.{A}")
        seen = within(client)
    assert "SecretConnection(host=" in "".join(seen)
    return seen


@surface
def service_session(ground):
    """All within a session with the service."""
    session = ServiceSession(Settings(**ground.settings()))
    session.close()
    return within(session)


@surface
def configured(ground):
    """The value that configure returns."""
    return repr(DisplayFormatter().format(wf.configure(**ground.settings())))


@surface
def sandbox_client(ground):
    """A sandbox, and a client of it with another key."""
    with sandbox() as service, service.client(api_key=KEY, cache="memory") as client:
        return [repr(service), repr(client), repr(service.settings(api_key=KEY))]


def typed():
    """Return the key as getpass would: no variable of the caller's holds it."""
    return KEY


WRONG = {
    "beside another wrong setting": lambda: Settings(api_key=typed(), workers="many"),
    "beside an unknown setting": lambda: Settings(api_key=typed(), wokers=3),
    "by a misspelt name": lambda: Settings(apikey=typed()),
    "as the name of a setting": lambda: Settings(**{typed(): 1}),
    "as the name of a setting of configure": lambda: wf.configure(**{typed(): 1}),
    "on two lines": lambda: Settings(api_key=f"{typed()}\n{typed()}"),
    "as bytes": lambda: Settings(api_key=typed().encode()),
    "in a list": lambda: Settings(api_key=[typed()]),
    "for http": lambda: Settings(api_key=typed(), base_url="http://api.example"),
    "for configure": lambda: wf.configure(api_key=typed(), workers="many"),
    "for configure, misspelt": lambda: wf.configure(apikey=typed()),
    "for a client": lambda: wf.Client(api_key=typed(), workers="many"),
    "for a client, misspelt": lambda: wf.Client(apikey=typed()),
    "for a client with settings": lambda: wf.Client(Settings(), api_key=typed(), workers="many"),
    "for isolated settings": lambda: Settings.isolated(api_key=typed(), workers="many"),
    "for other settings": lambda: Settings().replace(api_key=typed(), workers="many"),
}


def _refused(make):
    with pytest.raises(SettingsError) as caught:
        make()
    return caught.value


def _in_ipython(error):
    return VerboseTB("nocolor").text(type(error), error, error.__traceback__)


@surfaces(WRONG)
def wrong(ground, variant):
    """The error where the key is passed as."""
    error = _refused(WRONG[variant])
    return [*texts_of(error), _in_ipython(error)]


@surface
def wrong_for_a_sandbox(ground):
    """The error where the key is passed to a sandbox."""
    with sandbox() as service:
        errors = [
            _refused(lambda make=make: make(api_key=typed(), workers="many"))
            for make in (service.settings, service.client)
        ]
    return [text for error in errors for text in texts_of(error)]


DRESSED = {
    "plain": lambda: KEY,
    "with white space": lambda: f" {KEY}\t\n",
    "in quotes": lambda: f"'{KEY}'",
    "in double quotes": lambda: f'"{KEY}"',
    "behind its name": lambda: f"apiKey={KEY}",
    "in an address": lambda: f"https://api.example/{quote(KEY, safe='')}",
    "in a query": lambda: f"https://api.example/v1?apiKey={quote_plus(KEY)}",
    "as a user name": lambda: f"https://{quote(KEY, safe='')}@api.example",
    "as bytes": KEY.encode,
    "in a list": lambda: [KEY],
}
MAKERS = {
    "Settings": Settings,
    "isolated settings": Settings.isolated,
    "other settings": Settings.isolated().replace,
    "a client": wf.Client,
    "configure": wf.configure,
}


def _shown(make, **hidden):
    """Make settings as getpass would, and return all visible parts of them, or of the error."""
    try:
        made = make(**{name: tell() for name, tell in hidden.items()})
    except SettingsError as error:
        return [*texts_of(error), _in_ipython(error)]
    return within(made)


@surfaces([f"{field}, {dress}" for field in SETTINGS for dress in DRESSED])
def misplaced(ground, variant):
    """The visible parts of the key where it is passed as."""
    field, dress = variant.split(", ")
    hidden = {"api_key": typed} | {field: DRESSED[dress]}
    return [text for make in MAKERS.values() for text in _shown(make, **hidden)]


@surfaces([f"{field}, {dress}" for field in SETTINGS for dress in [*DRESSED][:-2]])
def misplaced_variable(ground, variant):
    """The visible parts of the key where it is the variable of."""
    field, dress = variant.split(", ")
    ground.patch.setenv("WALLETFRAME_API_KEY", KEY)
    ground.patch.setenv(f"WALLETFRAME_{field.upper()}", DRESSED[dress]())
    return [text for make in (Settings, wf.Client, wf.configure) for text in _shown(make)]


VARIABLES = {
    "beside another wrong one": ("WALLETFRAME_WORKERS", "many"),
    "beside an unknown one": ("WALLETFRAME_WOKERS", "3"),
    "by a misspelt name": ("WALLETFRAME_APIKEY", KEY),
    "unreadable": ("WALLETFRAME_API_KEY", f"{KEY}\u202e"),
    "with another kind's address": ("WALLETFRAME_KEY_KIND", "public"),
}


@surfaces(VARIABLES)
def wrong_variable(ground, variant):
    """The error where the key is a variable."""
    ground.environment()
    ground.patch.setenv(*VARIABLES[variant])
    error = _refused(lambda: wf.fetch_wallets(f"ETH.{A}"))
    return [*texts_of(error), _in_ipython(error)]
