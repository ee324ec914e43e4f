import { beforeAll, expect, test } from 'vitest';
import type { TestAgent } from '../../support/service.ts';
import { startSearchService } from '../../integration/rest/search/setup.ts';
import { use } from '../../support/use.ts';

/**
 * The service shares the event loop of this process. On a quiet machine a search blocks it for less than 50 ms. With all
 * 50 snippets in one step, one search would block it for a quarter of a second even with a fast tokenizer, and the three
 * concurrent ones below for most of a second. The limit between allows for a busy machine.
 */
const maxDelayMs = 400;
const searchesAtOnce = 3;

const largestContent = 32_768;
const messages = 50;

const on = use(() => startSearchService(), 120_000);
let ann: TestAgent;

beforeAll(async () => {
  const [first, bob] = await on.createAgents();
  ann = first;
  const thread = await on.open(ann, bob);
  for (let index = 0; index < messages; index += 1)
    await on.send(bob, thread, hostile(index % 2 === 0 ? '中文' : 'ที่นี่น้ำดีที่สุด', index));
  await on.indexed();
}, 120_000);

/** A message of maximum length without spaces, with the search term only at its end. */
function hostile(unit: string, index: number): string {
  const end = `${index}海豚`;
  const room = largestContent - Buffer.byteLength(end);
  return unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + end;
}

/** The longest delay of the event loop while `task` ran, in milliseconds. */
async function measureMaxDelay(task: () => Promise<void>): Promise<number> {
  let maxDelay = 0;
  let last = performance.now();
  let next = setImmediate(measure);
  function measure(): void {
    const now = performance.now();
    maxDelay = Math.max(maxDelay, now - last);
    last = now;
    next = setImmediate(measure);
  }
  await task();
  clearImmediate(next);
  return maxDelay;
}

test('searches of the longest messages do not block the event loop', async () => {
  const delay = await measureMaxDelay(async () => {
    const answers = await Promise.all(
      Array.from({ length: searchesAtOnce }, () => on.ask(ann, { q: '海豚', limit: messages })),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.results).toHaveLength(messages);
      expect(body.results[0].snippet).toMatch(/^….*49\*\*海豚\*\*$/);
    }
  });
  expect(delay).toBeLessThan(maxDelayMs);
}, 60_000);
