"""The loop of a language model as native code: prompts in chunks, steps, the next token from the scores."""
