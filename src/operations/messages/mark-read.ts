import { markReadInput } from '../../../packages/core/src/inputs/threads.ts';
import { markRead } from '../../services/threads/members.ts';
import { defineAction, toolHints } from '../define.ts';
import { exampleThread } from '../../../packages/core/src/records/examples.ts';

export const markReadOperation = defineAction({
  name: 'mark_read',
  summary: 'Mark the messages of a thread as read',
  scope: 'threads:read',
  kind: 'write',
  input: markReadInput,
  run: (work, input) => markRead(work, input),
  batchKey: ({ thread_id }) => thread_id,
  rest: { method: 'POST', path: '/threads/{thread_id}/read', status: 204 },
  tool: {
    description:
      'Marks the messages of a thread as read, up to a sequence. Call it when you have read all of them whole: other members see it. It does not change what wait_for_events returns; acknowledge_events does.',
    annotations: { ...toolHints.reachesOthers, idempotentHint: true },
  },
  errors: ['THREAD_NOT_FOUND'],
  example: { thread_id: exampleThread.id, up_to_sequence: 2 },
});
