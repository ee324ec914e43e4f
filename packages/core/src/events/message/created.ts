import { exampleMessage } from '../../records/examples.ts';
import { messageSchema } from '../../records/message.ts';
import { defineEvent } from '../define-event.ts';

export const messageCreated = defineEvent({
  type: 'message.created',
  label: 'Message sent',
  scope: 'threads:read',
  isInboxItem: true,
  filters: ['thread_id', 'only_mentions'],
  handles: ({ sender }) => [sender.canonical_handle],
  resources: ['service://threads', 'service://threads/{thread_id}'],
  isIndexed: true,
  data: messageSchema,
  example: exampleMessage,
});
