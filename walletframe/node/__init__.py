"""Balances of one token, read directly from a node of a blockchain over JSON-RPC.

Only EVM blockchains are supported. The package requires the extra ``node``: eth-abi encodes the
calls to contracts, and decodes their results. The URL of the node is as secret as the API key.
"""

from walletframe.node.balances import Agreement, crosscheck, token_balance
from walletframe.node.rpc import NodeStatus
