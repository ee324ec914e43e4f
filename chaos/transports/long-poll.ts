import { z } from 'zod';
import { createSingleAttempts, readOutcome } from '../load/call.ts';
import type { Connection } from './transport.ts';

/** The response of `GET /events`, with the fields that are read here. */
export const eventPage = z.looseObject({
  events: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      cursor: z.string(),
      created_at: z.int(),
      data: z.record(z.string(), z.unknown()),
    }),
  ),
  cursor: z.string(),
  complete: z.boolean(),
  gap: z.boolean().optional(),
});

const waitSeconds = 5;

/** Reads pages after a position, each waiting for the next event, until a request gets no answer. */
export async function readLongPoll({
  base,
  agent,
  cursor,
  onEvent,
  onComplaint,
  signal,
}: Connection): Promise<void> {
  const { call } = createSingleAttempts(base, agent);
  let position = cursor;
  while (!signal.aborted) {
    const input = { cursor: position, limit: 100, wait: waitSeconds };
    const options = { timeoutMs: (waitSeconds + 3) * 1_000, signal };
    const outcome = await readOutcome(call({ method: 'GET', path: '/events' }, input, options));
    if ('refused' in outcome) onComplaint(outcome.refused);
    if (!('answer' in outcome)) return;
    const { events, gap } = eventPage.parse(outcome.answer);
    if (gap) onComplaint(`a gap after ${position}`);
    for (const { id, type, cursor: next, created_at, data } of events) {
      onEvent({ event_id: id, type, cursor: next, created_at, data });
      position = next;
    }
  }
}
