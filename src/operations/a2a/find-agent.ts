import { z } from 'zod';
import { agentNotFound, requireAgents } from '../../services/access.ts';
import { defineOperation } from '../define.ts';

const foundAgent = z.object({ agent_id: z.string() });

/** The agent of an address of A2A, before anything else of a call is checked. */
export const findA2aAgentOperation = defineOperation({
  name: 'a2a_find_agent',
  summary: 'Find the agent of an address of A2A',
  scope: 'any',
  kind: 'read',
  input: z.strictObject({ handle: z.string() }),
  output: foundAgent,
  async run(work, { handle }) {
    const [agent] = await requireAgents(work, [handle]);
    if (!agent) throw agentNotFound();
    return { agent_id: agent.id };
  },
  errors: ['AGENT_NOT_FOUND'],
  example: { input: { handle: 'globex.support' }, output: { agent_id: 'agt_01K9ZX5N3Q8R2T4V6W8X0Y2A4C' } },
});

/** Reads the output of the operation. */
export const parseFoundAgent = (output: object): string => foundAgent.parse(output).agent_id;
