import { z } from 'zod';
import { presentWait, waitSchema } from '../../../packages/core/src/records/wait.ts';
import { listWaits } from '../../services/threads/waits.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents, exampleThread } from '../../../packages/core/src/records/examples.ts';

export const listWaitsOperation = defineOperation({
  name: 'list_waits',
  summary: 'List missing answers in the threads of all agents of the same people',
  scope: 'conversations:read',
  kind: 'read',
  input: z.strictObject({}),
  output: z.object({
    waits: z.array(waitSchema).describe('Longest wait first, of the last 30 days, in at most 500 threads.'),
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
          from: exampleAgents.support,
          for: exampleAgents.planner,
          since: 1_794_000_060_000,
          received: true,
          state: 'silent',
        },
      ],
    },
  },
});
