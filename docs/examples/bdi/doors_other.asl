// MultiGrid-RedBlueDoors: as doors.asl, but it is agent_1 who opens the red door.
!work.
may_open(red).

+!work : me(agent_1) & plays_with(T) <- !open(red); .send(T, tell, may_open(blue)); !rest.
+!work <- !open(blue); !rest.

+!open(C) : door(C, open, _, _) <- true.
+!open(C) : agent(_, _, _, 1, 0) <- !aside; !open(C).
+!open(C) : door(C, closed, 1, 0) & may_open(C) <- toggle; !open(C).
+!open(C) : door(C, closed, 1, 0) <- done; !open(C).
+!open(C) : door(C, closed, A, R) <- !approach(A, R); !open(C).
+!open(C) <- !search; !open(C).

// The message goes with an action.
+!rest <- done; !rest.

// One action that brings what is A ahead and R to the right nearer, or straight ahead.
+!approach(A, R) : A > 0 & free(1, 0) <- forward.
+!approach(A, R) : R < 0 <- left.
+!approach(A, R) <- right.

// Two who stand in each other's way take turns at chance.
+!aside <- .random(N); !turn(N); !step.
+!turn(N) : N < 0.5 <- left.
+!turn(_) <- right.
+!step : free(1, 0) <- forward.
+!step <- done.

// Look around; what is still not in sight is looked for elsewhere.
turns(0).
+!search : turns(N) & N < 4 <- -+turns(N + 1); right.
+!search : free(1, 0) <- -+turns(0); forward.
+!search <- right.
