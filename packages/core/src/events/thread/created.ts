import { exampleThread } from '../../records/examples.ts';
import { threadSchema } from '../../records/thread.ts';
import { defineEvent } from '../define-event.ts';
import { memberHandles, presentThreadData } from './thread-data.ts';

export const threadCreated = defineEvent({
  type: 'thread.created',
  label: 'Thread created',
  scope: 'threads:read',
  isInboxItem: true,
  filters: ['thread_id'],
  handles: memberHandles,
  resources: ['service://threads', 'service://threads/{thread_id}'],
  data: threadSchema.meta({ id: 'ThreadCreated', description: 'A new thread.' }),
  present: presentThreadData,
  example: {
    ...exampleThread,
    last_message_at: null,
    updated_at: exampleThread.created_at,
    last_sequence: 0,
    unread_count: 0,
  },
});
