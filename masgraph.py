"""masgraph: how did a team of LLM agents work together, and did it help?"""
