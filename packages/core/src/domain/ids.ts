import { decodeTime, encodeTime, monotonicFactory } from 'ulid';

/** Random bytes are fetched in blocks, because each fetch is a call into the operating system. */
const randomPool = new Uint8Array(4096);
let poolOffset = randomPool.length;

function nextRandom(): number {
  if (poolOffset === randomPool.length) {
    crypto.getRandomValues(randomPool);
    poolOffset = 0;
  }
  return (randomPool[poolOffset++] ?? 0) / 256;
}

const nextUlid = monotonicFactory(nextRandom);

/** The prefix of each kind of identifier. Some kinds never leave the service. */
export const idPrefixes = {
  agent: 'agt',
  thread: 'thd',
  message: 'msg',
  attachment: 'att',
  contactRequest: 'creq',
  event: 'evt',
  account: 'acc',
  organization: 'org',
  approval: 'apr',
  webhook: 'whk',
  invitation: 'inv',
  remoteInvitation: 'rinv',
  grant: 'grt',
  audit: 'aud',
  erasure: 'ers',
  export: 'exp',
  lease: 'lse',
  notification: 'ntf',
  task: 'tsk',
  watchLink: 'wtl',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** A new identifier: the prefix of its kind and a time-ordered ULID; increasing within one process. */
export function newId(kind: IdKind): string {
  return `${idPrefixes[kind]}_${nextUlid()}`;
}

const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** Whether `value` has the format of an identifier of this kind. It need not exist. */
export function isId(kind: IdKind, value: string): boolean {
  const prefix = `${idPrefixes[kind]}_`;
  return value.startsWith(prefix) && ulidPattern.test(value.slice(prefix.length));
}

const maxTime = 2 ** 48 - 1;

/** The lowest identifier of a millisecond: all later identifiers are above it. */
export function minIdAt(kind: IdKind, time: number): string {
  return `${idPrefixes[kind]}_${encodeTime(Math.min(Math.max(time, 0), maxTime))}${'0'.repeat(16)}`;
}

/** The creation time of an identifier in milliseconds, by the clock of the process that made it. */
export function timeOfId(id: string): number {
  return decodeTime(id.slice(-26));
}
