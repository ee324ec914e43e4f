import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export const usage = `npm run chaos: disturbs a whole service under load, and checks that it keeps its promises.

Starts PostgreSQL, Redis if one is on PATH, two API processes behind a TCP balancer and two workers, all of its own. Agents send
messages (REST and MCP), open threads, ask for contact and mark as read, each with one idempotency key until it is acknowledged;
readers follow their feeds at every door and come back with their cursors. Meanwhile processes are killed, stopped and frozen,
Redis is flushed and restarted, PostgreSQL is restarted, and connections are cut. In the end everything that was acknowledged must
be there, once, in one order, found by the search, and seen by every reader without a hole and without a repetition.

Prints the counts; says what went wrong and where the logs are, and exits with 1, when something did.

  --seconds <n>   of load and faults: 1 to 120 (100); to start and to come to rest takes up to a minute more
  --seed <n>      decides the order of the faults (a random one, which is printed)
  --json          one object on stdout instead of a table
  --help          this text
`;

const defaultSeconds = 100;
const maxSeconds = 120;
const maxSeed = 2 ** 31;

/** The arguments, checked. @throws one line that names the option. */
export function readOptions(args?: string[]) {
  const { values } = parseArgs({
    ...(args && { args }),
    options: {
      seconds: { type: 'string', default: String(defaultSeconds) },
      seed: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { json, help } = values;
  const seconds = parseInteger('--seconds', values.seconds, { least: 1, most: maxSeconds });
  const seed =
    values.seed === undefined
      ? randomInt(maxSeed)
      : parseInteger('--seed', values.seed, { least: 0, most: maxSeed - 1 });
  return { seconds, seed, json, help };
}

function parseInteger(name: string, text: string, { least, most }: { least: number; most: number }): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${name}: must be a whole number from ${least} to ${most}`);
}
