"""Which tokens nobody asked for: a score, the reasons, and words for a person; all offline."""

from walletframe.analysis.spam.flags import explain_spam, flag_spam, without_spam

__all__ = ["explain_spam", "flag_spam", "without_spam"]
