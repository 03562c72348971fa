"""What a failure looks like: where its elements lie, their values, what would explain them."""
