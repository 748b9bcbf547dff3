#!/usr/bin/env bash
# Does it play well with strangers? (docs/zero_shot.md): trains partners by IPPO, one policy beside half of them, and has
# all of them meet in cross-play with the other half held out.
#
#   scripts/experiments/zero_shot.sh             plays the cross-play with the policies that come with MOSAIC
#   scripts/experiments/zero_shot.sh --train     trains them first, in runs/zero_shot
#
# Trainings take an hour on two cores. One that was cut off goes on; one that is done is left as it is.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
EXAMPLES=docs/examples/zero_shot
RUNS=${MOSAIC_RUNS_DIR:-runs}/zero_shot
MOSAIC=(./scripts/run.sh)
EARLY=64000
STEPS=304000

# done_at RUN STEPS: whether a training has all of its steps.
done_at() {
    [[ -e $1/policy.json ]] && grep -q "\"total_steps\": *$2\b" "$1/policy.json"
}

# kept RUN NAME: what a training has learnt goes beside the experiment.
kept() {
    mkdir -p "$EXAMPLES/$2"
    cp -- "$1/policy.json" "$1/model.safetensors" "$EXAMPLES/$2/"
}

# partner SEED: a team of its own, as it was early on and at the end.
partner() {
    local out=$RUNS/seed$1
    done_at "$out" $STEPS && return
    if [[ ! -e $EXAMPLES/early_$1/policy.json || ! -e $out ]]; then
        "${MOSAIC[@]}" train --worker cleanrl_worker --algo ippo --env simple_spread_v3 --seed "$1" --steps $EARLY --out "$out" \
            --overwrite --set clip_vloss=true
        kept "$out" "early_$1"
    fi
    "${MOSAIC[@]}" train --resume "$out" --steps $STEPS
    kept "$out" "seed$1"
}

case ${1:-} in
    --train)
        for seed in 1 2 3 11 12 13; do
            partner $seed
        done
        pool=$(for seed in 1 2 3; do printf '%s,%s,' "$EXAMPLES/seed$seed" "$EXAMPLES/early_$seed"; done)
        if ! done_at "$RUNS/partnered" $STEPS; then
            "${MOSAIC[@]}" train --worker cleanrl_worker --algo self_play --env simple_spread_v3 --seed 1 --steps $STEPS \
                --out "$RUNS/partnered" --overwrite --set pool="${pool%,}" --set snapshot_every=0 --set num_envs=32 --set num_steps=50 \
                --set learning_rate=0.0005 --set gamma=0.95 --set update_epochs=10 --set normalize_rewards=true --set clip_vloss=false
        fi
        kept "$RUNS/partnered" partnered
        ;;
    "") ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
"${MOSAIC[@]}" tournament "$EXAMPLES/strangers.yaml"
