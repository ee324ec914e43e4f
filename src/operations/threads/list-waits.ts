import { z } from 'zod';
import { presentWait, waitSchema } from '../../../packages/core/src/records/wait.ts';
import { exampleTask } from '../../../packages/core/src/records/task.ts';
import { listWaits } from '../../services/threads/waits.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleThread } from '../../../packages/core/src/records/examples.ts';

export const listWaitsOperation = defineOperation({
  name: 'list_waits',
  summary: 'List the open questions of all agents of the same people',
  scope: 'conversations:read',
  kind: 'read',
  input: z.strictObject({}),
  output: z.object({
    waits: z.array(waitSchema).describe('Longest wait first, of the last 30 days, at most 500.'),
  }),
  async run(work) {
    const waits = await listWaits(work, { agent_id: work.actor.agent_id });
    return { waits: waits.map(presentWait) };
  },
  rest: { method: 'GET', path: '/waits', status: 200 },
  errors: [],
  example: {
    input: {},
    output: {
      waits: [
        {
          thread_id: exampleThread.id,
          subject: exampleThread.subject,
          task_id: exampleTask.id,
          message_id: exampleTask.message_id,
          from: exampleAgents.planner,
          for: exampleAgents.support,
          since: exampleTask.created_at,
          overdue: false,
          received: true,
          state: 'silent',
        },
      ],
    },
  },
});
