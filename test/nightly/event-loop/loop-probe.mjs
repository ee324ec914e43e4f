import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:http';

/*
 * Loaded by NODE_OPTIONS into the process that is measured. It takes the CPU time of the main thread (Linux, /proc/self/schedstat) each
 * time that the event loop comes round, about once a millisecond: the largest difference is the longest time for which one turn of the
 * loop computed. Other processes on the same machine delay a turn, but do not add to its CPU time. A request to the socket LOOP_PROBE is
 * answered with that difference in milliseconds, and starts a new period.
 */
const schedstat = openSync('/proc/self/schedstat', 'r');
const bytes = Buffer.alloc(64);

function readCpuMs() {
  const length = readSync(schedstat, bytes, 0, bytes.length, 0);
  return Number(bytes.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
}

let last = readCpuMs();
let maxTurnMs = 0;

function sample() {
  const now = readCpuMs();
  maxTurnMs = Math.max(maxTurnMs, now - last);
  last = now;
}

setInterval(sample, 1).unref();
const server = createServer((_request, response) => {
  sample();
  response.end(String(maxTurnMs));
  maxTurnMs = 0;
});
server.listen(process.env.LOOP_PROBE);
server.unref();
