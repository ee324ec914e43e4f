import { expect, test } from 'vitest';
import { catalogue } from '../../../src/operations/catalogue.ts';
import { runAtOnce, runInTurns, type Steps } from '../../../src/shared/steps.ts';
import { eventTransports } from '../../../src/start/transports.ts';
import { asyncApiDocument } from '../../../src/transports/rest/asyncapi/document.ts';
import { openApiDocument } from '../../../src/transports/rest/openapi/document.ts';

const about = { base_url: 'http://localhost/v1', public_url: 'http://localhost', version: '0' };

/** Counts the iterations of the event loop until the promise resolves. */
async function countTurns(promise: Promise<unknown>): Promise<number> {
  const pending = Symbol('pending');
  let turns = 0;
  const next = () => new Promise((resolve) => setImmediate(resolve, pending));
  while ((await Promise.race([promise, next()])) === pending) turns += 1;
  return turns;
}

const documents: [name: string, minTurns: number, build: () => Steps<object>][] = [
  [
    'openapi.json',
    2 * catalogue.filter(({ rest }) => rest).length,
    () => openApiDocument({ catalogue, routes: [], form: 'short', ...about }),
  ],
  [
    'asyncapi.json',
    eventTransports.length,
    () => asyncApiDocument({ transports: eventTransports, ...about }),
  ],
];

test.each(documents)('other work runs while %s is generated', async (_, minTurns, build) => {
  const generated = runInTurns(build());
  expect(await countTurns(generated)).toBeGreaterThan(minTurns);
  expect(await generated).toEqual(runAtOnce(build()));
});
