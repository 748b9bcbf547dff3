"""BDI agents: AgentSpeak programs that decide for agents."""
