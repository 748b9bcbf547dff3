"""One-sentence summaries of environments whose own documentation does not begin with such a sentence.

The keys are the names that a family uses: modules for Gymnasium, class names for MiniGrid.
"""

from __future__ import annotations

from collections.abc import Mapping

GYMNASIUM: Mapping[str, str] = {
    "classic_control.cartpole": "Push the cart left and right so that the pole on it stays upright.",
    "phys2d.cartpole": "Push the cart left and right so that the pole on it stays upright (in JAX).",
    "classic_control.mountain_car": (
        "Rock the car back and forth in the valley until it reaches the flag on the hill."
    ),
    "classic_control.continuous_mountain_car": (
        "Rock the car out of the valley with as little force as possible, up to the flag on the hill."
    ),
    "classic_control.pendulum": "Swing the pendulum up and hold it there with a weak motor.",
    "phys2d.pendulum": "Swing the pendulum up and hold it there with a weak motor (in JAX).",
    "classic_control.acrobot": "Swing a double pendulum by its elbow until its tip is above the line.",
    "toy_text.blackjack": "Take cards until their sum is nearer to 21 than the dealer's, but not above.",
    "tabular.blackjack": "Take cards until their sum is nearer to 21 than the dealer's (in JAX).",
    "toy_text.frozen_lake": "Cross the frozen lake to the goal without falling into a hole.",
    "toy_text.cliffwalking": "Walk along the cliff to the goal; a step into it leads back to the start.",
    "tabular.cliffwalking": "Walk along the cliff to the goal; a step into it leads back (in JAX).",
    "toy_text.taxi": "Drive to the passenger, pick them up, and drop them off where they want to go.",
    "box2d.lunar_lander": "Land between the flags, softly and upright, with three engines.",
    "box2d.car_racing": "Drive around the track as fast as it goes without leaving it.",
    "box2d.bipedal_walker": "Walk to the far end on two legs without falling, by the torques of four joints.",
    "mujoco.ant": "Run forward on four legs, by the torques of eight joints.",
    "mujoco.half_cheetah": "Run forward as fast as a two-legged cheetah can, by the torques of six joints.",
    "mujoco.hopper": "Hop forward on one leg without falling, by the torques of three joints.",
    "mujoco.humanoid": "Walk forward on two legs without falling, by the torques of seventeen joints.",
    "mujoco.humanoidstandup": "Stand up from lying, by the torques of seventeen joints.",
    "mujoco.inverted_double_pendulum": "Push the cart so that the two poles on it, end to end, stay upright.",
    "mujoco.inverted_pendulum": "Push the cart so that the pole on it stays upright.",
    "mujoco.pusher": "Push the object to its place with a robot arm.",
    "mujoco.reacher": "Bring the fingertip of a two-jointed arm to the target.",
    "mujoco.swimmer": "Swim forward through a thick fluid, by the torques of two joints.",
    "mujoco.walker2d": "Walk forward on two legs without falling, by the torques of six joints.",
}
PETTINGZOO: Mapping[str, str] = {
    "chess": "Chess: mate the other player's king.",
    "connect_four": "Drop pieces into columns; four in a row win, in any direction.",
    "tictactoe": "Put marks on a 3 x 3 board; three in a row win.",
    "go": "Surround more of the board than the other player; two passes end the game.",
    "hanabi": "Build fireworks together: everybody sees the others' cards and not their own.",
    "rps": "Rock, paper, scissors: both choose at once, again and again.",
    "leduc_holdem": "Poker with six cards, two rounds and two players.",
    "texas_holdem": "Poker with two cards of one's own, five shared ones and fixed raises.",
    "texas_holdem_no_limit": "Poker with two cards of one's own, five shared ones and raises of any size.",
    "knights_archers_zombies": "Knights and archers keep zombies from reaching the lower edge.",
    "pistonball": "Pistons work together to roll the ball to the left wall.",
    "cooperative_pong": "Two paddles together keep the ball in play for as long as they can.",
    "multiwalker": "Walkers carry a package to the right together without dropping it.",
    "pursuit": "Pursuers surround the evaders that wander about a grid.",
    "boxing": "Two boxers seen from above; the faster one lands the hits.",
    "combat_plane": "Two planes shoot at each other; hits count.",
    "combat_tank": "Two tanks shoot at each other in a maze; hits count.",
    "space_war": "Two ships shoot at each other in open space.",
    "wizard_of_wor": "Two players fight the monsters of a maze, and each other.",
}
MPE2: Mapping[str, str] = {
    "simple": "An agent moves to the landmark that it sees.",
    "simple_adversary": "Good agents cover the target and hide from the adversary which landmark it is.",
    "simple_crypto": "Alice sends Bob a message in a code that Eve must not break.",
    "collect_treasure": "Collectors fetch treasures and bring each to the deposit of its colour.",
    "simple_formation": "Agents stand evenly around a circle about the landmark.",
    "simple_line": "Agents spread evenly along the line between two landmarks.",
    "simple_push": "One agent wants to reach the landmark, the other to push it away.",
    "simple_reference": "Two agents tell each other which landmark the other has to go to.",
    "simple_speaker_listener": "The speaker knows which landmark the listener has to go to, and tells it.",
    "simple_spread": "Agents cover all landmarks together without bumping into each other.",
    "simple_tag": "Slower predators hunt faster prey around obstacles.",
    "simple_world_comm": "Predators with a leader hunt prey that looks for food and hides in forests.",
}
MINIGRID: Mapping[str, str] = {
    "CrossingEnv": "Find the way to the green goal square past rivers of lava or walls, each with one gap.",
    "DistShiftEnv": "Reach the green goal square past strips of lava, which lie elsewhere in the test.",
    "DynamicObstaclesEnv": "Reach the green goal square without touching the balls that move about.",
    "EmptyEnv": "Walk through an empty room to the green goal square.",
    "FetchEnv": "Pick up the object that the mission names, and no other.",
    "GoToDoorEnv": "Stand before the door of the colour that the mission names, and say done.",
    "GoToObjectEnv": "Stand before the object that the mission names, and say done.",
    "KeyCorridorEnv": "Find the key in one of the rooms, open the locked door, pick up the ball behind it.",
    "LockedRoomEnv": "Find the key that opens the locked room, and reach the green goal square in it.",
    "LockedRoom": "Find the key that opens the locked room, and reach the green goal square in it.",
    "MemoryEnv": "Remember the object of the first room, and at the fork go to the one that is equal.",
    "WFCEnv": "Find the way to the green goal square through a generated maze.",
    "PlaygroundEnv": "Rooms with objects to play with; there is nothing to be achieved.",
    "RedBlueDoorEnv": "Open the red door first and the blue door then.",
    "PutNearEnv": "Pick up one object and put it next to another, as the mission says.",
}
INI_MULTIGRID: Mapping[str, str] = {
    "BlockedUnlockPickupEnv": "Move the ball from the door, unlock it, and pick up the box behind it.",
    "EmptyEnv": "Walk through an empty room to the green goal square.",
    "LockedHallwayEnv": "Unlock all doors along a hallway; behind some of them are the keys of others.",
    "PlaygroundEnv": "Rooms with objects to play with; there is nothing to be achieved.",
    "RedBlueDoorsEnv": "Open the red door first and the blue door then.",
}
