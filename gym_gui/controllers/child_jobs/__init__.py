"""Jobs that run environments of other packages in child processes.

An environment may print, start threads, call ``sys.exit()``, crash or never return; the caller still gets an
answer. Most modules here contain the code of such a process, and the function that starts the process and
receives its answer. All modules share :mod:`.child_job`.
"""
