"""Spam tokens: a score, its reasons, and an explanation in words; all offline."""

from walletframe.analysis.spam.flags import explain_spam, flag_spam, without_spam

__all__ = ["explain_spam", "flag_spam", "without_spam"]
