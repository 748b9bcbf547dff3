"""Style sheet for transcript pages, in addition to that of reports."""

from __future__ import annotations

TRANSCRIPT_STYLE = """
nav.choices p { margin: 4px 0; display: flex; flex-wrap: wrap; gap: 4px 6px; align-items: center; }
nav.choices b { font-weight: 500; color: var(--muted); min-width: 5em; }
nav.choices input[type=radio] { position: absolute; opacity: 0; }
nav.choices input[type=radio] + label {
  border: 1px solid var(--line); border-radius: 9px; padding: 0 10px; line-height: 22px; cursor: pointer;
  background: var(--raised); overflow-wrap: anywhere;
}
nav.choices input[type=radio]:checked + label {
  background: var(--wash); border-color: var(--accent); color: var(--accent);
}
nav.choices input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: 1px; }
.episode h3 { margin: 20px 0 8px; text-transform: none; letter-spacing: 0; font-size: 13px; }
.turn {
  background: var(--panel); border: 1px solid var(--line); border-left: 3px solid var(--line);
  border-radius: 8px; padding: 10px 14px; margin-bottom: 8px;
}
.turn.refused { border-left-color: var(--warning); }
.turn.error { border-left-color: var(--error); }
.turn p { margin: 4px 0; overflow-wrap: anywhere; }
.head { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline; }
.facts { margin-left: auto; font-size: 12px; }
.turn .outcome { color: var(--muted); }
.turn.refused .outcome { color: var(--warning); }
pre.reply { background: var(--wash); }
details { margin-top: 4px; } summary { font-size: 12px; }
summary:hover { color: var(--text); }
.scores { width: auto; min-width: min(100%, 420px); margin: 6px 0; }
.scores td { border: 0; padding: 1px 10px 1px 0; vertical-align: middle; }
.scores td:last-child { width: 60%; padding: 0; }
.scores i { display: block; height: 8px; min-width: 1px; border-radius: 2px; background: var(--muted); }
.scores .played { font-weight: 600; }
.scores .played i { background: var(--accent); }
.turn .role { font-size: 12px; color: var(--muted); margin: 8px 0 0; }
@media print { nav.choices { display: none; } details { display: block; } }
main:has(#failed:checked) .turn:not(.failed) { display: none; }
main:has(#failed:checked) .episode:not(:has(.failed)) { display: none; }
"""


def rules(agents: int, episodes: int) -> str:
    """Return style rules that hide turns of agents and episodes that are not selected by the page's buttons.

    Args:
        agents: Number of agents that can be selected.
        episodes: Number of episodes that can be selected.
    """
    of_agents = (
        f"main:has(#agent-{i}:checked) .turn:not(.a{i}),"
        f"main:has(#agent-{i}:checked) .episode:not(:has(.a{i}))"
        for i in range(agents)
    )
    of_episodes = (f"main:has(#episode-{i}:checked) .episode:not(.e{i})" for i in range(episodes))
    listed = ",\n".join((*of_agents, *of_episodes))
    return f"{listed} {{ display: none; }}\n" if listed else ""
