"""The interface of a ledger, which says what a wallet holds, and its result type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from walletframe.service.chains import explorer_url
from walletframe.wire.shapes import AssetAndAmount, WalletDetail

if TYPE_CHECKING:
    from walletframe.address import WalletAddress


class Holding(AssetAndAmount, frozen=True, gc=False, omit_defaults=True):
    """A balance that leaves the price out of the JSON where it is not known."""


@runtime_checkable
class Ledger(Protocol):
    """What the sandbox asks of a ledger."""

    @property
    def fingerprint(self) -> str:
        """Equal for two ledgers only if they answer the same; part of a file's name."""

    def detail(self, wallet: WalletAddress) -> WalletDetail:
        """Return what a wallet holds, with the blockchain and the address as asked for."""


def detail_of(
    wallet: WalletAddress, balances: list[AssetAndAmount] | None, *, failed: bool = False
) -> WalletDetail:
    """Return the answer for a wallet, with its explorer's page."""
    return WalletDetail(
        failed=failed,
        block_chain=wallet.blockchain,
        address=wallet.address,
        balances=balances,
        explorer_url=explorer_url(wallet.blockchain, wallet.address),
    )
