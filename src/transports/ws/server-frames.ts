import { z } from 'zod';
import { errorStatuses } from '../../../packages/core/src/domain/errors.ts';

/** The frames that the service sends, other than events. */
export const serverFrames = {
  ready: z
    .object({
      type: z.literal('ready').describe('Frame type: the first frame of every connection.'),
      data: z
        .object({
          agent_id: z.string().meta({ pattern: '^agt_' }).describe('The agent whose feed this is.'),
          cursor: z.string().describe('The start position. The events after it follow.'),
          resumed: z
            .boolean()
            .describe(
              'Whether the connection starts at your cursor or acknowledged position, not at the end of the feed.',
            ),
          gap: z
            .boolean()
            .describe(
              'Whether events after your position are no longer kept. If true, read your state again.',
            ),
          pending_events: z
            .int()
            .describe(
              'Number of events after the acknowledged position, or after the oldest event that is kept, without your own messages. With `watch=owner`: number of all events after the cursor in the feeds of these agents, including those that you do not get. Counted up to 100.',
            ),
          pending_events_more: z.literal(true).optional().describe('Present if there are more.'),
        })
        .describe('Where the connection starts.'),
    })
    .meta({ id: 'ReadyFrame', description: 'The connection is open. Events follow.' }),
  pong: z
    .object({ type: z.literal('pong').describe('Frame type.') })
    .meta({ id: 'PongFrame', description: 'Answers `ping`.' }),
  error: z
    .object({
      type: z.literal('error').describe('Frame type.'),
      data: z
        .object({
          code: z.enum(Object.keys(errorStatuses)).describe('Error code.'),
          message: z.string().describe('The reason why the frame is invalid.'),
        })
        .describe('The error.'),
    })
    .meta({ id: 'ErrorFrame', description: 'The service rejected a frame. The connection stays open.' }),
  result: z
    .object({
      type: z.literal('result').describe('Frame type.'),
      id: z.string().describe('The id of the call.'),
      status: z.int().describe('The status that REST responds with; 200 where that is a redirect.'),
      replayed: z
        .literal(true)
        .optional()
        .describe('The call is a repetition: this is the result of the first call with its idempotency key.'),
      output: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('The output of the operation, for a status below 400.'),
      error: z
        .object({
          code: z.enum(Object.keys(errorStatuses)).describe('Error code.'),
          message: z.string().describe('The reason, and the remedy.'),
          details: z
            .array(
              z.object({
                field: z.string().describe('The path of the invalid field.'),
                message: z.string().describe('The reason why the field is invalid.'),
                reason: z.literal('loop').optional().describe('A reason for programs.'),
              }),
            )
            .optional()
            .describe('The invalid fields.'),
          approval: z
            .object({
              id: z.string().describe('Approval identifier, apr_…'),
              expires_at: z.int().describe('When it expires, in milliseconds since the epoch.'),
              url: z.string().describe('Where a person decides.'),
            })
            .optional()
            .describe('The approval that the call waits for, or that was denied.'),
          request_id: z.string().describe('Include it when you report the error.'),
        })
        .optional()
        .describe('The error, as in the body of a REST response, for the status 202 and from 400 on.'),
      retry_after: z.int().optional().describe('Seconds until a retry can succeed.'),
    })
    .meta({ id: 'ResultFrame', description: 'Answers `call`.' }),
} as const;

export type ServerFrame = {
  [Type in keyof typeof serverFrames]: z.infer<(typeof serverFrames)[Type]>;
}[keyof typeof serverFrames];

/** The text of a frame. */
export function frameText(frame: ServerFrame): string {
  return JSON.stringify(frame);
}
