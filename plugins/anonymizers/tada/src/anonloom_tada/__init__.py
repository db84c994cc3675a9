"""TA_DA: classes that keep what a task needs, by a decision tree whose leaves are private."""
