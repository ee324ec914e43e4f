import { updateThreadInput } from '../../../packages/core/src/inputs/threads.ts';
import { presentThread, threadSchema } from '../../../packages/core/src/records/thread.ts';
import { updateThread } from '../../services/threads/threads.ts';
import { reviewErrors } from '../messages/send-message.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleThread } from '../../../packages/core/src/records/examples.ts';

/** The tool get_thread shows whether a thread is watched. */
const shownThread = threadSchema.omit({ watched_by: true });

export const updateThreadOperation = defineOperation({
  name: 'update_thread',
  summary: 'Close, archive or reopen a thread, or change its subject',
  scope: 'threads:write',
  kind: 'write',
  input: updateThreadInput,
  output: threadSchema,
  async run(work, input) {
    return presentThread(await updateThread(work, input));
  },
  batchKey: ({ thread_id }) => thread_id,
  rest: { method: 'PATCH', path: '/threads/{thread_id}', status: 200, idempotency: 'accepted' },
  tool: {
    description:
      'Sets the status of a thread (active, closed, archived) or its subject. Close a thread when its task is done, not while you expect an answer: only active threads accept messages.',
    annotations: { ...toolHints.reachesOthers, idempotentHint: true },
    result: { schema: shownThread, from: (output) => shownThread.parse(output) },
  },
  review: {},
  errors: [
    'THREAD_NOT_FOUND',
    'INVALID_TRANSITION',
    'NOT_CONTACTS',
    'NOT_TRUSTED',
    'NOT_ALLOWED',
    'BLOCKED',
    'AGENT_PAUSED',
    ...reviewErrors,
  ],
  example: {
    input: { thread_id: exampleThread.id, status: 'closed' },
    output: { ...exampleThread, status: 'closed' },
  },
});
