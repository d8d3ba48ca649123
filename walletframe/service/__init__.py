"""The sandbox: the service's endpoint on loopback, with simulated or recorded holdings."""

from walletframe.service.ledger import Ledger
from walletframe.service.options import (
    SANDBOX_KEYS,
    TEST_KEY_PER_SECOND,
    Behaviour,
    SandboxKey,
)
from walletframe.service.sandbox import Sandbox, sandbox
from walletframe.service.simulated import SHOWCASE, SimulatedLedger

__all__ = [
    "SANDBOX_KEYS",
    "SHOWCASE",
    "TEST_KEY_PER_SECOND",
    "Behaviour",
    "Ledger",
    "Sandbox",
    "SandboxKey",
    "SimulatedLedger",
    "sandbox",
]
