#!/usr/bin/env bash
# The transfer experiment at soccer (docs/soccer_transfer.md): plays it with the policies that come with MOSAIC, and
# writes its report; or trains them first.
#
#   scripts/experiments/soccer_transfer.sh             200 games of the expert, then every row
#   scripts/experiments/soccer_transfer.sh --train     trains expert and co-trained pair first, in runs/soccer_transfer
#
# Trainings take an hour or two on two cores. One that was cut off goes on; one that is done is left as it is.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
EXAMPLES=docs/examples/soccer_transfer
RUNS=${MOSAIC_RUNS_DIR:-runs}/soccer_transfer
MOSAIC=(./scripts/run.sh)

# trained NAME ALGORITHM ENVIRONMENT STEPS: a training, from where it is; what it has learnt goes beside the experiment.
trained() {
    local out=$RUNS/$1
    if [[ ! -e $out/train.json ]]; then
        "${MOSAIC[@]}" train --worker cleanrl_worker --algo "$2" --env "$3" --seed 1 --steps "$4" --out "$out" \
            --set select=image,direction --set lstm_size=128 --set normalize_observations=true \
            --set num_envs=16 --set num_steps=128 --set learning_rate=0.001 --set gamma=0.99 --set update_epochs=4 \
            --set clip_vloss=true
    elif ! grep -q '"status": *"completed"' "$out/events.jsonl"; then
        "${MOSAIC[@]}" train --resume "$out"
    fi
    mkdir -p "$EXAMPLES/$1"
    cp -- "$out/policy.json" "$out/model.safetensors" "$EXAMPLES/$1/"
}

case ${1:-} in
    --train)
        trained expert ippo MosaicMultiGrid-S-1v1-IndAgObs-v1 2000000
        trained co_trained mappo MosaicMultiGrid-S-2v2-IndAgObs-v1 1500000
        ;;
    "") ;;
    *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
"${MOSAIC[@]}" run "$EXAMPLES/expert.yaml"
# The AgentSpeak program beside it is read by its worker, which is to be allowed.
"${MOSAIC[@]}" run "$EXAMPLES/transfer.yaml" --trust
