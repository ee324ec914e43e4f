import { expect, test } from 'vitest';
import { DomainError } from '../../packages/core/src/domain/errors.ts';
import { createReplicaReads, type ReplicaOutcome } from '../../src/work/replica-reads.ts';
import type { Queryable } from '../../src/repositories/queryable.ts';

const buildCounter = (last_number: number, version: string) => ({ last_number, version, snapshot: '7:9:8' });

/** A database that knows nothing but where an agent is. */
function createWithPosition(position: object | undefined): Queryable {
  return { query: async <Row extends object>() => (position ? [position] : []) as Row[] };
}

async function readWith(
  here: object | undefined,
  there: object | undefined | null,
  run: (snapshot: string) => Promise<string>,
) {
  const told: ReplicaOutcome[] = [];
  const read = createReplicaReads({
    primary: createWithPosition(here),
    read: async (use) => (there === null ? null : use(createWithPosition(there))),
    onOutcome: (outcome) => void told.push(outcome),
  });
  return [await read('agt_1', (_, snapshot) => run(snapshot)), told];
}

const answer = (snapshot: string) => Promise.resolve(snapshot);

test('a replica with the same version of the counter row answers, with the snapshot of the primary', async () => {
  expect(await readWith(buildCounter(4, '8'), buildCounter(4, '8'), answer)).toEqual([
    { result: '7:9:8' },
    ['served'],
  ]);
});

test('a replica with an older or newer version, or without the agent, does not answer', async () => {
  for (const there of [buildCounter(3, '8'), buildCounter(4, '7'), buildCounter(5, '9'), undefined]) {
    expect(await readWith(buildCounter(4, '8'), there, answer)).toEqual([null, ['behind']]);
  }
  expect(await readWith(undefined, undefined, answer)).toEqual([null, ['behind']]);
  expect(await readWith(buildCounter(4, '8'), null, answer)).toEqual([null, ['away']]);
});

test('a refusal or failure of the replica is repeated on the primary', async () => {
  const same = buildCounter(4, '8');
  const refuse = () => Promise.reject(new DomainError('THREAD_NOT_FOUND', 'no'));
  expect(await readWith(same, same, refuse)).toEqual([null, ['refused']]);
  expect(await readWith(same, same, () => Promise.reject(new Error('gone')))).toEqual([null, ['failed']]);
});
