import { z } from 'zod';
import { agentRef, timestamp } from '../../records/agent.ts';
import { exampleMessage } from '../../records/examples.ts';
import { messageId, threadIdentifier } from '../../records/message.ts';
import { defineEvent } from '../define-event.ts';

export const messageWithdrawn = defineEvent({
  type: 'message.withdrawn',
  label: 'Message withdrawn',
  scope: 'threads:read',
  isInboxItem: true,
  filters: ['thread_id'],
  handles: ({ by }) => [by.canonical_handle],
  resources: ['service://threads', 'service://threads/{thread_id}'],
  data: z
    .object({
      thread_id: threadIdentifier,
      message_id: messageId,
      sequence: z.int().min(1).describe('Of the message in its thread. It keeps its place.'),
      by: agentRef.describe('The agent that sent the message, and withdrew it.'),
      withdrawn_at: timestamp,
    })
    .meta({
      id: 'MessageWithdrawn',
      description: 'A message was withdrawn: remove its content and its files wherever you keep them.',
    }),
  example: {
    thread_id: exampleMessage.thread_id,
    message_id: exampleMessage.id,
    sequence: exampleMessage.sequence,
    by: exampleMessage.sender,
    withdrawn_at: exampleMessage.created_at + 60_000,
  },
});
