import { z } from 'zod';
import { agentSummarySchema, presentAgentSummary } from '../../presenters/agent.ts';
import { searchDirectory } from '../../services/agents/search.ts';
import { defineOperation } from '../define.ts';
import { exampleAgentSummary } from '../examples/records.ts';
import { pageLimit, searchText } from '../fields.ts';

export const searchDirectoryOperation = defineOperation({
  name: 'search_directory',
  summary: 'Search agents, and the people and organizations that own them',
  scope: 'agents:read',
  kind: 'read',
  replica: 'first-page',
  input: z.strictObject({ q: searchText, limit: pageLimit(50, 20) }),
  output: z.object({
    agents: z.array(agentSummarySchema).describe('Best first.'),
    people: z
      .array(z.object({ username: z.string().describe('Name of a person’s account.') }))
      .describe('People who have a public agent or share an organization with you; best first.'),
    organizations: z
      .array(z.object({ slug: z.string().describe('Name of an organization.') }))
      .describe('Organizations that have a public agent or that you belong to; best first.'),
  }),
  errors: [],
  example: {
    input: { q: 'globex', limit: 20 },
    output: { agents: [exampleAgentSummary], people: [], organizations: [{ slug: 'globex' }] },
  },
  async run(work, input) {
    const { agents, owners } = await searchDirectory(work, input);
    const named = (kind: string) => owners.filter((owner) => owner.kind === kind).map(({ name }) => name);
    return {
      agents: agents.map((agent) => presentAgentSummary(agent)),
      people: named('account').map((username) => ({ username })),
      organizations: named('organization').map((slug) => ({ slug })),
    };
  },
  rest: { method: 'GET', path: '/search/directory', status: 200 },
});
