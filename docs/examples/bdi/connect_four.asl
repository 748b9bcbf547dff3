// Connect four, either side: make four; else stop a four; else the most central column that gives nothing away.
!play.

+!play : lands(C, R) & mine(T) & four(T, C, R) <- !drop(C).
+!play : lands(C, R) & theirs(T) & four(T, C, R) <- !drop(C).
+!play : liked(C) & lands(C, R) & not lifts(C, R) <- !drop(C).
+!play : liked(C) & lands(C, _) <- !drop(C).

+!drop(C) <- act(C - 1); !play.

// Which stones are whose.
mine(T) :- me(T).
theirs("O") :- me("X").
theirs("X") :- me("O").

// Columns, the middle first, and the cell where a stone comes to rest.
liked(4).
liked(3).
liked(5).
liked(2).
liked(6).
liked(1).
liked(7).
lands(C, 1) :- liked(C) & not piece(_, C, 1).
lands(C, R) :- liked(C) & piece(_, C, B) & R = B + 1 & R < 7 & not piece(_, C, R).

// A stone there would let them make four upon it.
lifts(C, R) :- theirs(T) & A = R + 1 & A < 7 & four(T, C, A).

// A stone of T there has at least three others of T in line with it.
four(T, C, R) :- way(X, Y) & in_line(T, C, R, X, Y, N) & in_line(T, C, R, -X, -Y, M) & N + M > 2.
way(1, 0).
way(0, 1).
way(1, 1).
way(1, -1).
in_line(T, C, R, X, Y, N) :- D = C + X & S = R + Y & piece(T, D, S) & in_line(T, D, S, X, Y, M) & N = M + 1.
in_line(T, C, R, X, Y, 0) :- true.
