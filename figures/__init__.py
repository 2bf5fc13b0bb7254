"""The book's pictures, and the readers of what they are drawn from."""
