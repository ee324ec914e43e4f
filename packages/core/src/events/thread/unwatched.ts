import { exampleAgents, exampleThread } from '../../records/examples.ts';
import { defineEvent } from '../define-event.ts';
import { ofWatch, watchChange } from './thread-data.ts';

export const threadUnwatched = defineEvent({
  ...ofWatch,
  type: 'thread.unwatched',
  label: 'Watch link ended',
  data: watchChange.meta({ id: 'ThreadUnwatched', description: 'A watch link ended or expired.' }),
  example: { thread_id: exampleThread.id, member: exampleAgents.support, watched_by: [] },
});
