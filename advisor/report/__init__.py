"""Answers as text, JSON, Markdown and HTML. Formats; decides nothing."""
