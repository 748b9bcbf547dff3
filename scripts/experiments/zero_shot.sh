#!/usr/bin/env bash
# Does it play well with strangers? (docs/zero_shot.md): trains teams that learn by themselves and policies that learn
# beside some of them, and has all of them meet in cross-play with the other teams held out.
#
#   scripts/experiments/zero_shot.sh [spread|talk]             plays it with the policies that come with MOSAIC
#   scripts/experiments/zero_shot.sh [spread|talk] --train     trains them first, in runs/zero_shot
#
# spread: simple_spread_v3; talk: simple_speaker_listener_v4; left out, both. Trainings take an hour for each on two
# cores. One that was cut off goes on, or begins again; one that is done is left as it is.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
EXAMPLES=docs/examples/zero_shot
TALK=$EXAMPLES/talk
RUNS=${MOSAIC_RUNS_DIR:-runs}/zero_shot
MOSAIC=(./scripts/run.sh)
EARLY=64000
STEPS=304000
TALK_STEPS=400000
# What trains beside a pool, with one network, as teams train with theirs.
SELF_PLAY=(--set snapshot_every=0 --set num_envs=32 --set num_steps=50 --set gamma=0.95 --set update_epochs=10
    --set normalize_rewards=true --set clip_vloss=false)

usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit 2
}

# done_at RUN STEPS: whether a training has all of its steps; what it was asked for stands further in.
done_at() {
    [[ -e $1/policy.json ]] && grep -q "^ \"total_steps\": $2\b" "$1/policy.json"
}

# kept RUN FOLDER: what a training has learnt goes beside the experiment.
kept() {
    mkdir -p "$2"
    cp -- "$1/policy.json" "$1/model.safetensors" "$2/"
}

# learnt NAME FOLDER STEPS OPTION...: a training from its beginning to its end.
learnt() {
    local out=$RUNS/$1 folder=$2 steps=$3
    shift 3
    done_at "$out" "$steps" || "${MOSAIC[@]}" train --worker cleanrl_worker --steps "$steps" --out "$out" --overwrite "$@"
    kept "$out" "$folder"
}

# spread_team SEED: a team of its own, as it was early on and at the end.
spread_team() {
    local out=$RUNS/seed$1
    done_at "$out" $STEPS && return
    if [[ ! -e $EXAMPLES/early_$1/policy.json || ! -e $out ]]; then
        "${MOSAIC[@]}" train --worker cleanrl_worker --algo ippo --env simple_spread_v3 --seed "$1" --steps $EARLY --out "$out" \
            --overwrite --set clip_vloss=true
        kept "$out" "$EXAMPLES/early_$1"
    fi
    "${MOSAIC[@]}" train --resume "$out" --steps $STEPS
    kept "$out" "$EXAMPLES/seed$1"
}

train_spread() {
    local seed pool
    for seed in 1 2 3 11 12 13; do
        spread_team $seed
    done
    pool=$(for seed in 1 2 3; do printf '%s,%s,' "$EXAMPLES/seed$seed" "$EXAMPLES/early_$seed"; done)
    learnt partnered "$EXAMPLES/partnered" $STEPS --algo self_play --env simple_spread_v3 --seed 1 --set pool="${pool%,}" \
        "${SELF_PLAY[@]}" --set learning_rate=0.0005
}

# one_of SEAT NAME STEPS POOL: one agent of two kinds, which learns beside the other agents of a pool.
one_of() {
    learnt "talk_$2" "$TALK/$2" "$3" --algo self_play --env simple_speaker_listener_v4 --seed 1 --set seat="$1" --set pool="$4" \
        "${SELF_PLAY[@]}" --set matchmaking=uniform --set learning_rate=0.001
}

train_talk() {
    local seed pool
    for seed in 1 2 3 4 11 12 13; do
        learnt "talk_seed$seed" "$TALK/seed$seed" $TALK_STEPS --algo mappo --env simple_speaker_listener_v4 --seed $seed \
            --set ent_coef=0.05 --set learning_rate=0.001 --set gae_lambda=0.8
    done
    pool=$(for seed in 1 2 3 4; do printf '%s,' "$TALK/seed$seed"; done)
    one_of listener_0 partnered_listener $TALK_STEPS "${pool%,}"
    one_of speaker_0 partnered_speaker $((TALK_STEPS / 2)) "${pool%,}"
    one_of listener_0 deaf_listener $((TALK_STEPS / 2)) random
}

TASKS=(spread talk)
TRAIN=
for each in "$@"; do
    case $each in
        spread | talk) TASKS=("$each") ;;
        --train) TRAIN=yes ;;
        *) usage ;;
    esac
done
for task in "${TASKS[@]}"; do
    [[ -z $TRAIN ]] || "train_$task"
done
for task in "${TASKS[@]}"; do
    if [[ $task == spread ]]; then
        "${MOSAIC[@]}" tournament "$EXAMPLES/strangers.yaml"
    else
        out=$RUNS/talk_met_$(date +%s)
        "${MOSAIC[@]}" tournament "$TALK/strangers.yaml" --out "$out"
        .venv/bin/python "$TALK/who_listens.py" "$out"/*
    fi
done
