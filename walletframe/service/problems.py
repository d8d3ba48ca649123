"""What the sandbox answers when it refuses: the statuses, their meaning, and one body for all.

The service's document shows no error code and no error body: all of these are the sandbox's own
choice. No body repeats anything of the request, the key least of all.
"""

from __future__ import annotations

import msgspec

OWN_CHOICE = "The service's document does not show this status: it is the sandbox's own choice."


class Problem(msgspec.Struct, frozen=True):
    """Why a request was refused.

    Attributes
    ----------
    status : int
        The HTTP status code.
    code : str
        The reason in one word, for programs.
    message : str
        The reason in one sentence, for people.
    """

    status: int
    code: str
    message: str


class ProblemAnswer(msgspec.Struct, frozen=True):
    """The body of every refusal.

    Attributes
    ----------
    error : Problem
        Why the request was refused.
    """

    error: Problem


class RefusedError(Exception):
    """A request that the sandbox refuses.

    Parameters
    ----------
    problem : Problem
        Why.
    retry_after_s : int, optional
        How many seconds to wait before asking again.
    """

    def __init__(self, problem: Problem, retry_after_s: int | None = None) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.retry_after_s = retry_after_s


def bad_address(position: int, reason: str) -> RefusedError:
    """Refuse an address that can't be read.

    Parameters
    ----------
    position : int
        Which of the address parameters, from 0.
    reason : str
        What is wrong with it.

    Returns
    -------
    RefusedError
        Status 400.
    """
    message = f"Address parameter {position} (from 0): {reason}."
    return RefusedError(Problem(400, "bad_address", message))


NO_ADDRESS = Problem(400, "no_address", "The query parameter address is missing.")
NO_KEY = Problem(401, "no_key", "The query parameter apiKey is missing.")
UNKNOWN_KEY = Problem(401, "unknown_key", "The key is not known.")
WRONG_BASE = Problem(403, "wrong_base", "The key does not belong to this base address.")
NO_SUCH_PATH = Problem(404, "no_such_path", "There is nothing at this path.")
NOT_ALLOWED = Problem(405, "not_allowed", "Only GET is allowed here.")
WRONG_HOST = Problem(421, "wrong_host", "The Host header names another machine than this one.")
LIMITED_IP = Problem(429, "limited_ip", "Too many requests from this IP address.")
LIMITED_KEY = Problem(429, "limited_key", "Too many requests with this key.")
BROKEN = Problem(500, "broken", "The sandbox could not answer; its ledger may be at fault.")

MEANINGS = {
    400: "An address is missing, has no dot, or has an empty part.",
    401: "The key is missing or not known.",
    403: "The key is known, but belongs to the other base address.",
    404: "There is nothing at this path.",
    405: "The method is not GET, or the preflight names an origin that the key has not registered.",
    421: "The Host header does not name this machine: localhost, 127.0.0.1 or [::1].",
    429: "A limit of the IP address or of the key is exceeded; Retry-After says when to ask again.",
    500: "The sandbox could not answer.",
}
