"""Pictures as SVG, each for a wide page and for a narrow one. Colours are CSS variables, so that they follow light and dark."""
