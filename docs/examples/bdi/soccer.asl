// MosaicMultiGrid soccer, either side: look for the ball lane by lane, take it, carry it into their goal.
!play.

+!play : carrying(ball, _) <- !score; !play.
+!play : along(D) <- -along(D); !play.
+!play : facing(ball) <- pickup; !play.
+!play : agent(C, _, ball, 1, 0) & not team(C) <- pickup; !play.
+!play : ball(_, A, R) <- !approach(A, R); !play.
+!play : agent(C, _, ball, A, R) & not team(C) <- !approach(A, R); !play.
+!play <- !search; !play.

// With the ball: straight to their end; there along the wall, until their goal is in view.
+!score : goal(C, A, R) & not team(C) <- !approach(A, R).
+!score : along(D) & looking(D) & facing(wall) & opposite(D, O) <- -+along(O); !turn(O).
+!score : along(D) & looking(D) <- !go.
+!score : along(D) <- !turn(D).
+!score : forth(D) & looking(D) & facing(wall) <- .random(N); !choose(N); !score.
+!score : forth(D) & looking(D) <- !go.
+!score : forth(D) <- !turn(D).
+!choose(N) : N < 0.5 <- +along(north).
+!choose(_) <- +along(south).

// Without: along a lane to its end, three cells aside, and back.
heading(east).
drift(south).
aside(0).
+!search : aside(N) & N > 0 & drift(D) & looking(D) & clear <- -+aside(N - 1); forward.
+!search : aside(N) & N > 0 & drift(D) & looking(D) & opposite(D, O) <- -+aside(0); -+drift(O); !search.
+!search : aside(N) & N > 0 & drift(D) <- !turn(D).
+!search : heading(D) & looking(D) & facing(wall) & opposite(D, O) <- -+heading(O); -+aside(3); !search.
+!search : heading(D) & looking(D) <- !go.
+!search : heading(D) <- !turn(D).

// One action that brings what is A ahead and R to the right nearer, or straight ahead.
+!approach(A, R) : A > 0 & clear <- forward.
+!approach(A, R) : R < 0 <- left.
+!approach(A, R) : R > 0 <- right.
+!approach(_, _) <- !go.

// One step ahead; around a player that stands there, on a side chosen by chance.
+!go : clear <- forward.
+!go <- .random(N); !sidestep(N).
+!sidestep(N) : N < 0.5 <- left; !step.
+!sidestep(_) <- right; !step.
+!step : clear <- forward.
+!step <- noop.

+!turn(D) : looking(L) & right_of(L, D) <- right.
+!turn(_) <- left.

clear :- free(1, 0).
clear :- facing(goal).
forth(east) :- team(green).
forth(west) :- team(blue).
right_of(east, south).
right_of(south, west).
right_of(west, north).
right_of(north, east).
opposite(east, west).
opposite(west, east).
opposite(north, south).
opposite(south, north).
