import { z } from 'zod';

const cursor = z.string().describe('A feed position: the cursor of an event or of a page.');

/** Whose events a transport sends. */
const watchOwner = z
  .enum(['owner'])
  .optional()
  .describe(
    '`owner`: the events of the conversations of all agents that `conversations:read` shows, each with `agent_id`. Its cursors are its own; without one, it starts now. It moves no receipt and no position.',
  );

/** The input fields of a page request, for every transport. */
export const pageQuery = {
  cursor: cursor
    .optional()
    .describe(
      'Return events after this position. `earliest` is before the oldest event that is kept, `latest` is the end of the feed. Default: the acknowledged position, or `earliest` if there is none.',
    ),
  limit: z.int().min(1).max(100).default(50).describe('Maximum number of events, 1–100.'),
};

/** The fields of a page beside its events. */
export const pageState = {
  cursor: cursor.describe('The position after this page. Pass it to get the next page.'),
  complete: z.boolean().describe('False when the feed has more events after this page.'),
  gap: z
    .literal(true)
    .optional()
    .describe('Present when events after your cursor are no longer kept. Read your state again.'),
};

/** The input of an acknowledgement. */
export const acknowledgeInput = z.strictObject({ cursor });

/** The query of `GET /v1/events`. */
export const eventsQuery = z.object({
  ...pageQuery,
  wait: z.int().min(0).max(30).default(0).describe('How long to wait for the first event, in seconds, 0–30.'),
  watch: watchOwner,
});

/** The query of a WebSocket handshake. */
export const handshakeQuery = z.strictObject({
  cursor: z
    .string()
    .optional()
    .describe(
      'Start after this position, or at `earliest` or `latest`. Default: the acknowledged position, or the end of the feed if there is none.',
    ),
  ticket: z
    .string()
    .optional()
    .describe('A ticket from POST /v1/realtime/tickets, for clients that cannot set headers.'),
  watch: watchOwner,
});
