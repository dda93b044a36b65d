// Preloaded into Pi's process: time and random ids that a recording decides, so that recording a
// scenario twice gives the same files. The clock stands still unless something moves it: the driver
// extension, when a reply arrives, a tool has run or the scenario lets a person think.
// RECORDER_CLOCK is the first moment (milliseconds), RECORDER_SEED the seed of the ids.

import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

let now = Number(process.env.RECORDER_CLOCK);
const RealDate = Date;

class SessionDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(now);
    else super(...args);
  }
  static now() {
    return now;
  }
}

globalThis.Date = SessionDate;
const started = now;
Object.defineProperty(globalThis.performance, "now", { value: () => now - started });
globalThis.recorderClock = { advance: (milliseconds) => void (now += milliseconds) };

// xorshift32: enough to tell entries of one recording apart.
let state = Number(process.env.RECORDER_SEED) >>> 0 || 1;
function nextByte() {
  state ^= state << 13;
  state >>>= 0;
  state ^= state >>> 17;
  state ^= state << 5;
  state >>>= 0;
  return state & 0xff;
}

function fill(view) {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = nextByte();
  return view;
}

function uuid() {
  const bytes = fill(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

crypto.randomUUID = uuid;
globalThis.crypto.randomUUID = uuid;
globalThis.crypto.getRandomValues = fill;
syncBuiltinESMExports();
