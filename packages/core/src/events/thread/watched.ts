import { exampleAgents, exampleThread } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';
import { ofWatch, watchChange } from './thread-data.ts';

const { support } = exampleAgents;

export const threadWatched = defineEvent({
  ...ofWatch,
  type: 'thread.watched',
  label: 'Watch link made',
  data: watchChange.meta({
    id: 'ThreadWatched',
    description: 'A person of a member made a link with which people without an account read the thread.',
  }),
  example: {
    thread_id: exampleThread.id,
    member: support,
    watched_by: [
      { canonical_handle: support.canonical_handle, expires_at: exampleThread.created_at + 86_400_000 },
    ],
  },
});
