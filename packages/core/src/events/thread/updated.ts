import { defineEvent } from '../define-event.ts';
import { exampleUpdatedThread, memberHandles, presentThreadData, updatedThread } from './thread-data.ts';

export const threadUpdated = defineEvent({
  type: 'thread.updated',
  label: 'Thread changed',
  scope: 'threads:read',
  isInboxItem: true,
  filters: ['thread_id'],
  handles: memberHandles,
  resources: ['service://threads', 'service://threads/{thread_id}'],
  data: updatedThread,
  present: presentThreadData,
  example: { ...exampleUpdatedThread, status: 'closed' },
});
