"""Work that runs foreign environments, each in a process of its own: there is an answer whatever they do.

One may print, start threads, call ``sys.exit()``, crash or never return. Each module here but one is such a
process, and the function that starts it and takes its answer; :mod:`.playing` is what they share.
"""
