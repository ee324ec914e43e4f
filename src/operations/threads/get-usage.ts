import { z } from 'zod';
import {
  presentDay,
  presentUsage,
  usageOfAgentSchema,
  usageOfDaySchema,
  usageTotalSchema,
} from '../../../packages/core/src/records/usage.ts';
import { readUsage } from '../../services/threads/usage.ts';
import { defineOperation } from '../define.ts';
import { exampleAgents } from '../../../packages/core/src/records/examples.ts';
import { agentReference } from '../../../packages/core/src/inputs/fields.ts';

const exampleUsage = {
  sent: { messages: 12, bytes: 4_810, estimated_tokens: 1_203 },
  received: { messages: 9, bytes: 7_204, estimated_tokens: 1_801 },
  stopped_loops: 1,
};

export const getUsageOperation = defineOperation({
  name: 'get_usage',
  summary: 'Retrieve what all agents of the same people sent and received in the last 30 days',
  scope: 'conversations:read',
  kind: 'read',
  input: z.strictObject({
    agent: agentReference.optional().describe('Only this one of your agents, by id or handle.'),
    counterpart: agentReference
      .optional()
      .describe('Only messages to and from this other agent, by id or handle.'),
  }),
  output: z.object({
    total: usageTotalSchema.describe('The sum of the days.'),
    days: z.array(usageOfDaySchema).describe('The last 30 days (UTC), the oldest first.'),
    agents: z
      .array(usageOfAgentSchema)
      .describe('By agent: the 50 with the most bytes, then all others together.'),
    counterparts: z
      .array(usageOfAgentSchema)
      .describe(
        'By counterpart: the 50 with the most bytes, then all others together. A message to several agents counts for each.',
      ),
  }),
  async run(work, input) {
    const { total, days, agents, counterparts } = await readUsage(
      work,
      { agent_id: work.actor.agent_id },
      input,
    );
    return {
      total: presentUsage(total),
      days: days.map(({ day, ...usage }) => ({ date: presentDay(day), ...presentUsage(usage) })),
      agents: agents.map(({ agent, ...usage }) => ({ agent, ...presentUsage(usage) })),
      counterparts: counterparts.map(({ agent, ...usage }) => ({ agent, ...presentUsage(usage) })),
    };
  },
  rest: { method: 'GET', path: '/usage', status: 200 },
  errors: ['INVALID_HANDLE'],
  example: {
    input: { agent: exampleAgents.planner.canonical_handle },
    output: {
      total: exampleUsage,
      days: [{ date: '2026-11-06', ...exampleUsage }],
      agents: [{ agent: exampleAgents.planner, ...exampleUsage }],
      counterparts: [{ agent: exampleAgents.support, ...exampleUsage }],
    },
  },
});
