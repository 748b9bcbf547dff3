"""Input of people: keys, keyboards, mouse, and a form for actions."""
