import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TestAgent, useSharedService } from '../../support/service.ts';

const service = useSharedService();

async function newThread(ann: TestAgent, bob: TestAgent): Promise<string> {
  return (await service.post(ann, '/threads', { with_handle: bob.handle })).body.id;
}

async function say(thread: string, { token }: TestAgent): Promise<void> {
  const sent = await service.post({ token }, `/threads/${thread}/messages`, { content: 'x' });
  expect(sent.status).toBe(201);
}

/** Reads all pages; `between` runs after each one except the last. */
async function pages({ token }: TestAgent, limit: number, between: (page: number) => Promise<unknown>) {
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; ; page += 1) {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) });
    const answer = await service.get({ token }, `/threads?${query.toString()}`);
    expect(answer.status, answer.text).toBe(200);
    seen.push(...answer.body.threads.map(({ id }: { id: string }) => id));
    cursor = answer.body.next_cursor;
    if (cursor === undefined) return seen;
    await between(page);
  }
}

test('threads that move while the list is read are neither skipped nor repeated', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const threads: string[] = [];
  for (let count = 0; count < 12; count += 1) threads.push(await newThread(ann, bob));
  const round = fc.record({
    limit: fc.integer({ min: 1, max: 5 }),
    // The old and new threads that get a message between two pages.
    writes: fc.array(fc.array(fc.nat({ max: 11 }), { maxLength: 6 }), { minLength: 12, maxLength: 12 }),
    opens: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(round, async ({ limit, writes, opens }) => {
      const before = [...threads];
      const seen = await pages(ann, limit, async (page) => {
        for (const index of writes[page] ?? []) await say(threads[index] ?? '', index % 2 ? ann : bob);
        if (opens && page === 1) threads.push(await newThread(bob, ann));
      });
      expect(new Set(seen).size).toBe(seen.length);
      expect(before.filter((id) => !seen.includes(id))).toEqual([]);
    }),
    { numRuns: 15 },
  );
});

test('concurrent writers with open transactions hide no thread from the reader', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const threads: string[] = [];
  for (let count = 0; count < 30; count += 1) threads.push(await newThread(ann, bob));
  const reading = new AbortController();
  const writers = [ann, bob, ann, bob].map(async (agent, number) => {
    for (let count = 0; !reading.signal.aborted; count += 1) {
      await say(threads[(count * 7 + number * 11) % threads.length] ?? '', agent);
    }
  });
  try {
    for (let round = 0; round < 10; round += 1) {
      const seen = await pages(bob, 2 + (round % 4), () => Promise.resolve());
      expect(seen.toSorted()).toEqual(threads.toSorted());
    }
  } finally {
    reading.abort();
    await Promise.all(writers);
  }
});

test('a message in progress during the first page does not hide its thread, whatever the clocks', async () => {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const threads: string[] = [];
  for (let count = 0; count < 4; count += 1) threads.push(await newThread(ann, bob));
  const oldest = threads[0] ?? '';
  // An API process with a clock that is minutes off, in the middle of a send to the oldest thread.
  for (const skew of [-300_000, 300_000]) {
    const sending = await service.core.database.begin();
    await sending.query(
      {
        text: `with thread as (
                 update threads set last_sequence = last_sequence + 1, last_message_at = $2, updated_at = $2
                 where id = $1 returning last_sequence)
               insert into messages (id, thread_id, sequence, sender_id, content, content_type, created_at)
               select $3, $1, last_sequence, $4, 'x', 'text', $2 from thread`,
      },
      [oldest, Date.now() + skew, `msg_${skew}`, ann.id],
    );
    let committed = false;
    const seen = await pages(ann, 1, async () => {
      if (!committed) await sending.commit();
      committed = true;
    });
    expect(seen.toSorted(), `clock off by ${skew} ms`).toEqual(threads.toSorted());
  }
});
