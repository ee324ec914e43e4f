import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const usage = `npm run chaos: injects faults into a service under load, and checks its guarantees.

Starts its own PostgreSQL, Redis if one is on PATH, two API processes behind a TCP balancer and two workers. Agents send messages
and files (REST, MCP and calls over a WebSocket, also in batches), open threads, add and remove members, request contacts, mark
messages as read and create webhooks. They open tasks, report their states and cancel them; messages and leases move them, too.
Some tasks are opened over A2A and followed over streams, which are cut. Several instances of some agents share an inbox over
each transport: they claim, renew, release, acknowledge and answer, or they abandon leases, write too late or are killed. Dead
items are redriven. All retry with one idempotency key until the request is acknowledged, and sometimes send it several times at once. Readers follow their
feeds over every transport and resume with their cursors. Meanwhile processes are killed, stopped and frozen, Redis is flushed and
restarted, PostgreSQL is restarted, and connections are cut.

At the end, everything that was acknowledged must exist once, in one order, be found by search, and be seen by every reader without
gaps and repetitions. Events must have the same data in every feed, on every transport, at every webhook and in the stored messages.
Every state of a task must have its cause: its changes have no gaps, and are those of the events and of the requests. A message
of A2A has one task, whose streams tell every change once, in order, and GetTask agrees with them.
Members, read marks, delivered marks, handled marks and unread counts must be those that the events give. No lease may end early,
no item or ordered thread may have two holders, a lost lease must not write, and every item must be handled or dead, with at most
one reply.

Prints the counts. When a check fails, prints the violations and the folder of the logs, and exits with 1.

  --seconds <n>   duration of load and faults: 1 to 120 (100); start and final checks take up to a minute more
  --seed <n>      determines the order of the faults (default: a random number, which is printed)
  --folder <path> keeps the data there, with the figures of each round in rounds.jsonl and rounds.svg. A run that was ended continues.
                  At the end, queues, outbox and Redis must not have grown, and tables no more than their rows
  --rounds <n>    with --folder: how often load, faults and checks run on the data of the rounds before (20)
  --json          one object on stdout instead of a table
  --help          this text
`;

const defaultSeconds = 100;
const defaultRounds = 20;
const maxRounds = 10_000;
const maxSeconds = 120;
const maxSeed = 2 ** 31;

/** Parses and checks the arguments. @throws one line that names the option. */
export function readOptions(args?: string[]) {
  const { values } = parseArgs({
    ...(args && { args }),
    options: {
      seconds: { type: 'string', default: String(defaultSeconds) },
      seed: { type: 'string' },
      folder: { type: 'string' },
      rounds: { type: 'string', default: String(defaultRounds) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { json, help, folder } = values;
  const seconds = parseInteger('--seconds', values.seconds, { min: 1, max: maxSeconds });
  const seed =
    values.seed === undefined
      ? randomInt(maxSeed)
      : parseInteger('--seed', values.seed, { min: 0, max: maxSeed - 1 });
  const rounds = parseInteger('--rounds', values.rounds, { min: 1, max: maxRounds });
  return { seconds, seed, rounds, folder: folder && resolve(folder), json, help };
}

function parseInteger(name: string, text: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`${name}: must be a whole number from ${min} to ${max}`);
}
