"""Jobs that run foreign environments in child processes, so that there is always an answer.

An environment may print, start threads, call ``sys.exit()``, crash or never return. Most modules here contain
the code of such a process, and the function that starts the process and receives its answer. All modules
share :mod:`.child_job`.
"""
