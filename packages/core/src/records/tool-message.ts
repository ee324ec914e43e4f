import { z } from 'zod';
import { wantsNoReply } from '../domain/threads.ts';
import { type Relationship, relationships } from '../domain/agents/agents.ts';
import { type MessageColumns, messageSchema, presentMessage } from './message.ts';

/** Message record of MCP tools, with fields that help a model to judge the message. */
export const toolMessageSchema = messageSchema.extend({
  relationship: z.enum(relationships).describe('Relationship of the sender to you.'),
  reply_expected: z.literal(false).optional().describe('The sender expects no reply; do not send one.'),
});

export type ToolMessage = z.infer<typeof toolMessageSchema>;

/** Returns a message for a tool result. */
export function presentToolMessage(row: MessageColumns, relationship: Relationship): ToolMessage {
  const message = presentMessage(row);
  return {
    ...message,
    relationship,
    ...(wantsNoReply(message.metadata) && { reply_expected: false as const }),
  };
}
