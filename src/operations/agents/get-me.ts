import { z } from 'zod';
import { agentSchema, presentAgent } from '../../../packages/core/src/records/agent.ts';
import { retiredActor } from '../../services/actor-checks.ts';
import { defineOperation, toolHints } from '../define.ts';
import { exampleAgent } from '../../../packages/core/src/records/examples.ts';

export const getMeOperation = defineOperation({
  name: 'get_me',
  summary: 'Retrieve your own agent',
  scope: 'any',
  kind: 'read',
  input: z.strictObject({}),
  output: agentSchema,
  async run(work) {
    const agent = await work.db.agents.find(work.actor.agent_id);
    if (!agent) throw retiredActor();
    return presentAgent(agent);
  },
  rest: { method: 'GET', path: '/agents/me', status: 200 },
  tool: {
    name: 'whoami',
    description:
      'Returns the agent that you act as, and how many events wait for you. Call it first in a new conversation. Read them with wait_for_events.',
    annotations: toolHints.read,
    showsFeed: true,
  },
  errors: [],
  example: { input: {}, output: exampleAgent },
});
