"""Made-up fetches: small ones, which are assembled like real answers, and large ones."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
from addresses import A
from canned_service import answer, wallet

from walletframe.address.forms import WalletAddress
from walletframe.address.lists import parse_wallets
from walletframe.amounts import AmountArray
from walletframe.frames.assembly import WalletRecord, assemble
from walletframe.frames.details import WalletDetails
from walletframe.frames.schema import HOLDING_DTYPES, WALLET_DTYPES, AnswerSource
from walletframe.pandas_versions import TEXT
from walletframe.wire.answer import NO_LIST, read_answer
from walletframe.wire.outcome import Outcome, Status
from walletframe.wire.schemas import Balances

SERVICE = "https://api.example/v1"
FETCHED_AT = datetime(2026, 1, 31, 5, 59, tzinfo=UTC)
ANSWERED_AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
CHAINS = ["ETH", "BSC", "POLYGON", "BASE"]


def fetched(answers, *, source="service", service=SERVICE, at=FETCHED_AT):
    """Return the fetch of these wallets.

    `answers` maps a wallet, such as ``"ETH.0xA"``, to a list of (blockchain, contract, symbol, raw
    amount, decimals), to None (an answer without a list), or to a status other than ok.
    """
    answer_source = AnswerSource(source)
    return assemble(
        WalletRecord(WalletAddress.parse(wallet), outcome(held), service, at, answer_source)
        for wallet, held in answers.items()
    )


def outcome(held):
    """Return the outcome of one wallet."""
    if isinstance(held, str):
        return Outcome(Status(held), error="it was not to be had")
    if held is None:
        return Outcome(Status.FAILED, NO_LIST)
    columns = [list(column) for column in zip(*held, strict=True)] or [[]] * 5
    chains, contracts, symbols, raw, decimals = columns
    balances = Balances(
        symbols, contracts, chains, [str(each) for each in raw], decimals, [None] * len(held)
    )
    return Outcome(Status.OK, None, "https://explorer.example/x", balances)


def token(symbol="TKN", raw=1_500_000, decimals=6, *, contract="0xToken", blockchain="ETH"):
    """Return one balance for the lists of `fetched`."""
    return blockchain, contract, symbol, raw, decimals


def record(address=A, *, service="service", **fields):
    """Return the record of one wallet that was answered."""
    requested = parse_wallets([f"ETH.{address}"])
    [read] = read_answer(answer(wallet(address, **fields)), requested).outcomes
    return WalletRecord(requested[0], read, service, ANSWERED_AT, AnswerSource.SERVICE)


def failed(address, status=Status.FAILED, error="it said <b>no</b>"):
    """Return the record of one wallet that failed."""
    [requested] = parse_wallets([f"ETH.{address}"])
    return WalletRecord(
        requested, Outcome(status, error), "service", ANSWERED_AT, AnswerSource.SERVICE
    )


def made_up_details(rows, *, wallets, tokens):
    """Return a fetch with this many rows. Each wallet holds tokens of its own blockchain."""
    rng = np.random.default_rng(20_260_101)
    owner = np.sort(rng.integers(0, wallets, rows))
    token = rng.zipf(1.3, rows) % tokens
    chains = _text(CHAINS[number % len(CHAINS)] for number in range(wallets))
    addresses = _text(f"0x{number:040x}" for number in range(wallets))
    raw = rng.integers(0, 10**18, rows)
    holdings = pd.DataFrame(
        {
            "blockchain": chains.take(owner),
            "address": addresses.take(owner),
            "symbol": _text(f"TK{number}" for number in range(tokens)).take(token),
            "token_address": _text(f"0x{number:040x}" for number in range(tokens)).take(token),
            "amount": AmountArray.from_raw(raw.tolist(), 18),
            "decimals": 18,
            "raw_amount": raw.astype(str),
            "token_blockchain": chains.take(owner),
            "price": 1.5,
        }
    ).astype(HOLDING_DTYPES)
    requested = pd.DataFrame(
        {
            "blockchain": chains,
            "address": addresses,
            "status": "ok",
            "error": None,
            "tokens": np.bincount(owner, minlength=wallets),
            "explorer_url": None,
            "fetched_at": pd.Timestamp("2026-01-02", tz="UTC"),
            "source": "service",
            "service": "made up",
        }
    ).astype(WALLET_DTYPES)
    return WalletDetails(requested, holdings)


def _text(values):
    """Return texts as an array with the dtype of text columns."""
    return pd.array(list(values), dtype=TEXT)
