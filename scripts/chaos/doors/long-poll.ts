import { z } from 'zod';
import { call } from '../call.ts';
import { subjectOf, type Visit } from './door.ts';

/** What `GET /events` answers, as far as it is looked at. */
export const eventPage = z.looseObject({
  events: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      cursor: z.string(),
      data: z.looseObject({ id: z.string().optional(), request_id: z.string().optional() }),
    }),
  ),
  cursor: z.string(),
  complete: z.boolean(),
  gap: z.boolean().optional(),
});

const wait_s = 5;

/** Pages from a position on, each waiting for the next event, until one gets no answer. */
export async function longPoll({ base, agent, cursor, take, complain, signal }: Visit): Promise<void> {
  let position = cursor;
  while (!signal.aborted) {
    const query = new URLSearchParams({ cursor: position, limit: '100', wait: String(wait_s) });
    const outcome = await call({
      base,
      token: agent.tokens.api,
      method: 'GET',
      path: `/events?${query.toString()}`,
      patience_ms: (wait_s + 3) * 1_000,
      signal,
    });
    if ('refused' in outcome) complain(outcome.refused);
    if (!('answer' in outcome)) return;
    const { events, gap } = eventPage.parse(outcome.answer);
    if (gap) complain(`a gap behind ${position}`);
    for (const { id, type, cursor: behind, data } of events) {
      take({ event_id: id, type, cursor: behind, subject: subjectOf(type, data) });
      position = behind;
    }
  }
}
