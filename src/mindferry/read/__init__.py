"""Reading Python without running it: text and spans, what names mean, what is known to be a tensor."""
