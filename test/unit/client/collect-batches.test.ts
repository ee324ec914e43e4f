import { expect, test } from 'vitest';
import { collectBatches } from '../../../packages/client/src/cli/collect-batches.ts';
import type { ClientEvent } from '../../../packages/client/src/main.ts';

test('events after a gap arrive: the gap is accepted before the next one is taken', async () => {
  async function* read(): AsyncGenerator<ClientEvent> {
    let isAccepted = false;
    yield { type: 'gap', accept: () => void (isAccepted = true) } as ClientEvent;
    if (!isAccepted) throw new Error('the gap was not accepted');
    yield { type: 'message.created' } as ClientEvent;
  }
  const seen: string[] = [];
  const events = { close: () => undefined, [Symbol.asyncIterator]: read } as Parameters<
    typeof collectBatches
  >[0];
  for await (const batch of collectBatches(events, 0)) seen.push(...batch.map(({ type }) => type));
  expect(seen).toEqual(['gap', 'message.created']);
});
