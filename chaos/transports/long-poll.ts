import { z } from 'zod';
import { call } from '../load/call.ts';
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
  let position = cursor;
  while (!signal.aborted) {
    const query = new URLSearchParams({ cursor: position, limit: '100', wait: String(waitSeconds) });
    const outcome = await call({
      base,
      token: agent.tokens.api,
      method: 'GET',
      path: `/events?${query.toString()}`,
      timeoutMs: (waitSeconds + 3) * 1_000,
      signal,
    });
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
