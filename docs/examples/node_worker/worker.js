// A MOSAIC worker in Node.js 18 or newer, no packages: random legal actions.
// docs/worker_protocol.md explains every message.
"use strict";
const slots = new Map(); // slot number -> action space

const say = (body) => process.stdout.write(JSON.stringify(body) + "\n");

// A number in [0, 1) that depends on nothing but (seed, step, attempt, k). Seeds are 64-bit: BigInt.
function random(seed, step, attempt, k) {
  let z = BigInt(seed);
  for (const word of [step, attempt, k]) {
    z = BigInt.asUintN(64, z + BigInt(word + 1) * 0x9e3779b97f4a7c15n);
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    z ^= z >> 31n;
  }
  return Number(z >> 11n) / 2 ** 53;
}

// The bytes of one action: raw little-endian values.
function choose(space, mask, draw) {
  if (space.kind === "Discrete") {
    const legal = mask ? [...mask.keys()].filter((i) => mask[i]) : [...Array(space.n).keys()];
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(space.start + legal[Math.floor(draw(0) * legal.length)]));
    return bytes;
  }
  const size = space.shape.reduce((a, b) => a * b, 1);
  const values = new Float32Array(size);
  const bound = (b, i) => (Array.isArray(b) ? b.flat(Infinity)[i] : b);
  for (let i = 0; i < size; i++) {
    const [low, high] = [bound(space.low, i), bound(space.high, i)];
    values[i] = low + (high - low) * draw(i);
  }
  return Buffer.from(values.buffer);
}

function finite(bound) {
  return Array.isArray(bound) ? bound.every(finite) : typeof bound === "number";
}

function load({ slot, action_space }) {
  const space = JSON.parse(action_space);
  const discrete = space.kind === "Discrete" && space.dtype === "int64";
  const box = space.kind === "Box" && space.dtype === "float32" && finite(space.low) && finite(space.high);
  if (!discrete && !box) {
    return say({ loaded: { slot, error: `actions of kind ${space.kind} are not known here` } });
  }
  slots.set(slot, space);
  say({ loaded: { slot, policy: "random" } });
}

function answer(slot, q) {
  const space = slots.get(slot);
  const masks = q.masks ? Buffer.from(q.masks, "base64") : null; // one byte per action and question
  const actions = q.ids.map((_, i) => {
    const mask = masks && masks.subarray(i * space.n, (i + 1) * space.n);
    return choose(space, mask, (k) => random(q.seeds[i], q.steps[i], q.attempts?.[i] ?? 0, k));
  });
  const data = Buffer.concat(actions).toString("base64");
  say({ replies: { slot, ids: q.ids, action: [{ data }] } });
}

function receive({ hello, load: wanted, work, shutdown }) {
  if (hello) {
    say({ welcome: { protocol: 1, worker: "node_worker", version: "1.0.0", pid: process.pid, alive: true } });
    if (hello.heartbeat_s > 0) setInterval(() => say({ alive: {} }), hello.heartbeat_s * 1000);
  } else if (wanted) load(wanted);
  else if (work?.questions) answer(work.slot, work.questions);
  else if (shutdown) process.exit(0);
}

const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => receive(JSON.parse(line))).on("close", () => process.exit(0));
