"""Mondrian: cuts the table in two again and again while every part stays admitted."""
