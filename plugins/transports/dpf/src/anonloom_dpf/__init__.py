"""Transport `dpf`: records written into tables that n servers hold in shares."""
