// A manager for MiniGrid-DoorKey: what to ask of the skills next. can(Skill, Colour, Thing) is what can start now.
!solve.

+!solve : can(go_to, green, goal) <- go_to(green, goal); !solve.
+!solve : can(open, C, door) <- open(C, door); !solve.
+!solve : can(pick_up, C, key) <- pick_up(C, key); !solve.
+!solve <- explore; !solve.
