"""Sentinels and twins: hidden controls among the jobs of untrusted workers."""
