// MiniGrid-DoorKey: take the key, unlock the door, walk through, go to the goal.
!solve.

+!solve : facing(goal) <- forward.
+!solve : through & goal(_, A, R) <- !approach(A, R); !solve.
+!solve : door(_, open, 1, 0) <- forward; forward; +through; -+turns(0); !solve.
+!solve : not through & door(_, open, A, R) <- !approach(A, R); !solve.
+!solve : carrying(key, C) & door(C, locked, 1, 0) <- toggle; !solve.
+!solve : carrying(key, C) & door(C, locked, A, R) <- -+turns(0); !approach(A, R); !solve.
+!solve : carrying(nothing) & facing(key) <- pickup; -+turns(0); !solve.
+!solve : carrying(nothing) & key(_, A, R) <- !approach(A, R); !solve.
+!solve <- !search; !solve.

// One action that brings what is A ahead and R to the right nearer, or straight ahead.
+!approach(A, R) : A > 0 & free(1, 0) <- forward.
+!approach(A, R) : R < 0 <- left.
+!approach(A, R) <- right.

// Look around; what is still not in sight is looked for elsewhere.
turns(0).
+!search : turns(N) & N < 4 <- -+turns(N + 1); right.
+!search : free(1, 0) <- -+turns(0); forward.
+!search <- right.
