"""Jobs that run foreign environments in child processes, so that there is an answer whatever they do.

An environment may print, start threads, call ``sys.exit()``, crash or never return. Most modules here contain
the code of such a process, and the function that starts it and receives its answer. They share
:mod:`.child_job`.
"""
