"""BDI agents: AgentSpeak programs that choose actions for agents."""
