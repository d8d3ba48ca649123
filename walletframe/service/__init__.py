"""The sandbox: a local server that simulates the service, with simulated or recorded data."""

from walletframe.service.ledger import SHOWCASE, Ledger, SimulatedLedger
from walletframe.service.options import SANDBOX_KEYS, TEST_KEY_PER_SECOND, AcceptedKey, Behaviour
from walletframe.service.sandbox import Sandbox, latest_or_restarted_sandbox, sandbox
