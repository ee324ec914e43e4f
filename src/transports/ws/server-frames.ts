import { z } from 'zod';
import { errorStatuses } from '../../domain/errors.ts';

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
              'Number of events after the acknowledged position, or after the oldest event that is kept, counted up to 100.',
            ),
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
} as const;

export type ServerFrame = {
  [Type in keyof typeof serverFrames]: z.infer<(typeof serverFrames)[Type]>;
}[keyof typeof serverFrames];

/** The text of a frame. */
export function frameText(frame: ServerFrame): string {
  return JSON.stringify(frame);
}
