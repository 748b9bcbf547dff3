// MiniGrid-Empty: the goal is the only thing there is.
!reach.

+!reach : goal(green, 0, 0) <- true.
+!reach : goal(_, A, R) & A > 0 & free(1, 0) <- forward; !reach.
+!reach : goal(_, 1, 0) <- forward; !reach.
+!reach : goal(_, A, R) & R > 0 <- right; !reach.
+!reach : goal(_, A, R) & R < 0 <- left; !reach.
+!reach : facing(wall) <- right; !reach.
+!reach <- forward; !reach.
