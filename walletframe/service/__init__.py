"""The sandbox: the service's endpoint on loopback, with simulated or recorded holdings."""

from walletframe.service.keys import SANDBOX_KEYS, SandboxKey
from walletframe.service.ledger import Ledger, SimulatedLedger
from walletframe.service.options import TEST_KEY_PER_SECOND
from walletframe.service.sandbox import Sandbox, sandbox
from walletframe.service.showcase import SHOWCASE

__all__ = [
    "SANDBOX_KEYS",
    "SHOWCASE",
    "TEST_KEY_PER_SECOND",
    "Ledger",
    "Sandbox",
    "SandboxKey",
    "SimulatedLedger",
    "sandbox",
]
