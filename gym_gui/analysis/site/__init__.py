"""Writes a report as a folder of static HTML pages: leaderboard, runs, agents, and episodes."""

from gym_gui.analysis.site.episodes import SiteWritten
from gym_gui.analysis.site.site_folder import SiteWorkshop, new_site, require_replaceable
from gym_gui.analysis.site.writer import SiteContent, write_site

__all__ = ["SiteContent", "SiteWorkshop", "SiteWritten", "new_site", "require_replaceable", "write_site"]
