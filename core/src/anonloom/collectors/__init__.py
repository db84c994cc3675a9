"""The collector that core offers: a trusted curator."""
