"""The paper on sentinels and twins: the settings of its figures, and what it says about them."""
