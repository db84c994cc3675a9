"""What transports share: signed rounds, sealed uploads, receipts, agreement, restarts."""
