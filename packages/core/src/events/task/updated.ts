import { z } from 'zod';
import { taskChanges } from '../../domain/tasks.ts';
import { agentRef } from '../../records/agent.ts';
import { exampleMessage } from '../../records/examples.ts';
import { messageId } from '../../records/message.ts';
import { exampleEndedTask, presentTaskState, type TaskColumns, taskEventFields } from '../../records/task.ts';
import { defineEvent } from '../define-event.ts';

const { delivery: _delivery, agent_last_seen_at: _seen, ...task } = exampleEndedTask;

export const taskUpdated = defineEvent({
  type: 'task.updated',
  label: 'Task changed',
  scope: 'threads:read',
  isInboxItem: true,
  filters: ['thread_id'],
  handles: ({ task: { client, agent } }) => [client.canonical_handle, agent.canonical_handle],
  resources: [],
  data: z
    .object({
      task: z.object(taskEventFields).describe('The task after the change.'),
      change: z
        .enum(taskChanges)
        .describe(
          'created: it was opened. state: it has a new state. result: message_id is a result. overdue: due_at has passed.',
        ),
      message_id: messageId.nullable().describe('The message that caused the change; null if none did.'),
      by: agentRef.nullable().describe('The agent that caused the change; null for the service.'),
    })
    .meta({ id: 'TaskUpdated', description: 'A task changed. Both of its agents get the event.' }),
  /** Stored with the columns of the task. */
  present: (stored: object) => ({
    ...stored,
    task: presentTaskState((stored as { task: TaskColumns }).task),
  }),
  example: { task, change: 'state', message_id: exampleMessage.id, by: task.agent },
});
