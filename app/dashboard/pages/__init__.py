"""The pages. Each module holds one function, ``show(page)``; ``catalogue`` lists them."""
