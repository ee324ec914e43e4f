import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import { parseAgentKey } from '../../services/access.ts';
import { type ClientTask, requireClientTask } from '../../services/a2a/tasks.ts';
import { sendClientMessage } from '../../services/a2a/send.ts';
import { type ClientMessage, sendClientMessages } from '../../services/a2a/send-batch.ts';
import type { Work } from '../../work/unit-of-work.ts';
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

const sendInput = z.strictObject({
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
});

type SendInput = z.infer<typeof sendInput>;

function toClientMessage(
  { actor }: Work,
  { has_mailbox, digest, push_config, ...fields }: SendInput,
): ClientMessage {
  const { task_id, context_id, conversation, after } = fields;
  return {
    ...fields,
    task_id,
    context_id,
    conversation,
    after,
    wire: actor.review?.is_edited === true ? null : fields.wire,
    digest: Buffer.from(digest, 'base64'),
    push: push_config && toPushTarget(push_config, has_mailbox),
  };
}

/** The client waits for changes of a new task as it is stored, so any position before them will do. */
const show = (
  work: Work,
  { history_length: historyLength, has_mailbox: hasMailbox }: SendInput,
  task: Omit<ClientTask, 'feed_number'> & Partial<ClientTask>,
) => showTask(work, { feed_number: 0, ...task }, { historyLength, hasMailbox });

/** `SendMessage` and `SendStreamingMessage` of A2A. The transport parses the message, and uploads its files. */
export const sendA2aMessageOperation = defineOperation({
  name: 'a2a_send_message',
  summary: 'Send a message to an agent through A2A, in an open task or as a new one',
  scope: 'threads:write',
  kind: 'write',
  input: sendInput,
  output: shownTask,
  async run(work, input) {
    const { task_id, opened } = await sendClientMessage(work, toClientMessage(work, input));
    const detail = { last: maxHistory, has_artifacts: true, is_brief: !input.has_mailbox };
    const task = opened ?? (await requireClientTask(work, { agent: input.agent, task_id }, detail));
    return show(work, input, task);
  },
  batch: {
    includes: ({ task_id, context_id, conversation }) =>
      task_id === undefined && (context_id ?? conversation) !== undefined,
    async run(calls, { isRepeated: mustRead }) {
      const sends = calls.map(({ work, input }) => ({ work, message: toClientMessage(work, input) }));
      const results = await sendClientMessages(sends, { wait: false, mustRead });
      return calls.map(({ work, input }, at) => {
        const opened = results[at] ?? null;
        return opened === null || opened instanceof Error ? opened : show(work, input, opened);
      });
    },
  },
  batchKey: ({ context_id, conversation, message_id }) => context_id ?? conversation ?? message_id,
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
