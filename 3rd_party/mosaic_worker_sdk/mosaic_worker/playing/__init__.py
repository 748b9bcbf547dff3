"""What workers that play trained policies share: batches of one size, joint policies, memories."""
