import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import { parseAgentKey } from '../../services/access.ts';
import { requireClientTask } from '../../services/a2a/tasks.ts';
import { sendClientMessage } from '../../services/a2a/send.ts';
import { defineOperation } from '../define.ts';
import { sendErrors } from '../messages/send-message.ts';
import { createThreadErrors } from '../threads/create-thread.ts';
import { pushTarget, toPushTarget } from './push-config-fields.ts';
import {
  exampleAgent,
  exampleShownTask,
  maxHistory,
  showTask,
  shownTask,
  transportFields,
} from './show-task.ts';

/** `SendMessage` and `SendStreamingMessage` of A2A. The transport parses the message, and uploads its files. */
export const sendA2aMessageOperation = defineOperation({
  name: 'a2a_send_message',
  summary: 'Send a message to an agent through A2A, in an open task or as a new one',
  scope: 'threads:write',
  kind: 'write',
  input: z.strictObject({
    ...transportFields,
    message_id: z.string(),
    task_id: z.string().optional(),
    context_id: z.string().optional(),
    conversation: z.string().optional(),
    after: z.string().optional(),
    content: z.string(),
    content_type: z.enum(['text', 'markdown']),
    attachment_ids: z.array(z.string()),
    accepted_output_modes: z.array(z.string()),
    expects_reply: z.boolean(),
    digest: z.base64(),
    wire: z.string(),
    history_length: z.int().default(maxHistory),
    push_config: pushTarget.optional(),
  }),
  output: shownTask,
  async run(work, { agent, has_mailbox: hasMailbox, history_length, digest, push_config, ...message }) {
    const { task_id, context_id, conversation, after, ...rest } = message;
    const sent = await sendClientMessage(work, {
      ...rest,
      wire: work.actor.review?.is_edited === true ? null : rest.wire,
      agent,
      task_id,
      context_id,
      conversation,
      after,
      digest: Buffer.from(digest, 'base64'),
      push: push_config && toPushTarget(push_config, hasMailbox),
    });
    const detail = { last: maxHistory, has_artifacts: true };
    // The client waits for changes of the task as it is stored, so any position before them will do.
    const task = sent.opened
      ? { ...sent.opened, feed_number: 0 }
      : await requireClientTask(work, { agent, task_id: sent.task_id }, detail);
    return showTask(work, task, { historyLength: history_length, hasMailbox });
  },
  limit: {
    budget: 'a2a_task',
    budgetOf: ({ task_id }) => (task_id === undefined ? 'a2a_task' : 'send_message'),
    async findKey(work, { agent, task_id }) {
      if (task_id === undefined) return undefined;
      const of = { task_id, client_id: work.actor.agent_id, agent: parseAgentKey(agent) };
      const detail = { last: 0, has_artifacts: false };
      const task = isId('task', task_id) ? await work.db.a2aTasks.find(of, detail) : undefined;
      return task?.thread_id ?? task_id;
    },
  },
  review: {
    texts: 'content',
    identity: ({ agent, message_id, digest }) => ({
      key: createHash('sha256')
        .update(`${parseAgentKey(agent)} ${message_id}`)
        .digest('hex'),
      request: { agent: parseAgentKey(agent), digest },
    }),
  },
  errors: [
    'TASK_NOT_FOUND',
    'IDEMPOTENCY_MISMATCH',
    'INVALID_TRANSITION',
    ...new Set([...sendErrors, ...createThreadErrors]),
  ],
  example: {
    input: {
      agent: exampleAgent,
      message_id: '0d4f1f6e-3f5c-4c0e-9d0c-1d9d4b8a7c11',
      content: 'When does order 1042 leave?',
      content_type: 'text',
      attachment_ids: [],
      accepted_output_modes: [],
      expects_reply: true,
      digest: 'AA==',
      wire: '{}',
    },
    output: exampleShownTask,
  },
});
