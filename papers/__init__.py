"""Claims and figures of papers, beside those of Anonloom. Nothing here is installed."""
