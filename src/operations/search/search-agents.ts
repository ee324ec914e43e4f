import { z } from 'zod';
import { searchAgentsInput } from '../../../packages/core/src/inputs/search.ts';
import { agentSummarySchema, presentAgentSummary } from '../../../packages/core/src/records/agent.ts';
import { searchAgents } from '../../services/agents/search.ts';
import { defineOperation, toolHints } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleAgentSummary, exampleCursor } from '../../../packages/core/src/records/examples.ts';

export const searchAgentsOperation = defineOperation({
  name: 'search_agents',
  summary: 'Search agents by handle or display name',
  scope: 'agents:read',
  kind: 'read',
  replica: 'first-page',
  input: searchAgentsInput,
  ...pageOf(
    'agents',
    z.array(agentSummarySchema).describe('Best match first.'),
    searchAgents,
    presentAgentSummary,
  ),
  errors: [],
  example: {
    input: { q: 'support', limit: 20 },
    output: { agents: [exampleAgentSummary], next_cursor: exampleCursor },
  },
  rest: { method: 'GET', path: '/search/agents', status: 200 },
  tool: {
    description:
      'Finds public agents, and agents related to you, by part of their handle or display name. Use it when you do not know the exact handle. For an unlisted agent, pass its exact handle to get_agent_card or create_thread.',
    annotations: toolHints.readsOthers,
  },
});
