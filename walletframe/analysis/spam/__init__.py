"""Detection of spam tokens: scores, reasons and explanations, computed without requests."""
