"""Frames of fetches that tests make up: through the same assembly as real answers."""

from datetime import UTC, datetime

from walletframe.address import WalletAddress
from walletframe.frames import Source, WalletRecord, assemble
from walletframe.wire import NO_LIST, Balances, Outcome, Status

SERVICE = "https://api.example/v1"
FETCHED_AT = datetime(2026, 1, 31, 5, 59, tzinfo=UTC)


def fetched(answers, *, source="service", service=SERVICE):
    """Return what a fetch of these wallets would be.

    Each wallet, ``"ETH.0xA"``, has a list of (blockchain, contract, symbol, raw amount, decimals);
    or None where the answer has no list; or the status of a wallet that is not ok.
    """
    whence = Source(source)
    return assemble(
        WalletRecord(WalletAddress.parse(wallet), outcome(told), service, FETCHED_AT, whence)
        for wallet, told in answers.items()
    )


def outcome(told):
    """Return what became of one wallet."""
    if isinstance(told, str):
        return Outcome(Status(told), error="it was not to be had")
    if told is None:
        return Outcome(Status.FAILED, NO_LIST)
    columns = [list(column) for column in zip(*told, strict=True)] or [[]] * 5
    chains, contracts, symbols, raw, decimals = columns
    balances = Balances(
        symbols, contracts, chains, [str(each) for each in raw], decimals, [None] * len(told)
    )
    return Outcome(Status.OK, None, "https://explorer.example/x", balances)


def token(symbol="TKN", raw=1_500_000, decimals=6, *, contract="0xToken", blockchain="ETH"):
    """Return one balance of such a list."""
    return blockchain, contract, symbol, raw, decimals
