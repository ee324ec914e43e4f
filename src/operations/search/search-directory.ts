import { z } from 'zod';
import { agentSummarySchema, presentAgentSummary } from '../../../packages/core/src/records/agent.ts';
import { searchDirectory } from '../../services/agents/search.ts';
import { defineOperation } from '../define.ts';
import { exampleAgentSummary } from '../../../packages/core/src/records/examples.ts';
import { pageLimit, searchText } from '../../../packages/core/src/inputs/fields.ts';

/** The owners that a search finds. */
export const ownerFields = {
  people: z
    .array(
      z.object({
        username: z.string().describe('Username of the person.'),
        display_name: z
          .string()
          .describe(
            'Name that the person chose; the username if none. Several people can have one name: only the username is verified.',
          ),
      }),
    )
    .describe('People who have a public agent or share an organization with you. Best match first.'),
  organizations: z
    .array(
      z.object({
        slug: z.string().describe('Slug of the organization.'),
        name: z
          .string()
          .describe('Name that the organization chose; the slug if none. Only the slug is verified.'),
      }),
    )
    .describe('Organizations that have a public agent or that you belong to. Best match first.'),
};

/** Returns the fields of `ownerFields`. */
export function presentOwners(owners: readonly { kind: string; name: string; display_name: string }[]) {
  const ownersOf = (kind: string) => owners.filter((owner) => owner.kind === kind);
  return {
    people: ownersOf('account').map(({ name, display_name }) => ({ username: name, display_name })),
    organizations: ownersOf('organization').map(({ name, display_name }) => ({
      slug: name,
      name: display_name,
    })),
  };
}

export const searchDirectoryOperation = defineOperation({
  name: 'search_directory',
  summary: 'Search agents, and the people and organizations that own them',
  scope: 'agents:read',
  kind: 'read',
  replica: 'first-page',
  input: z.strictObject({ q: searchText, limit: pageLimit(50, 20) }),
  output: z.object({
    agents: z.array(agentSummarySchema).describe('Best match first.'),
    ...ownerFields,
  }),
  errors: [],
  example: {
    input: { q: 'globex', limit: 20 },
    output: {
      agents: [exampleAgentSummary],
      people: [],
      organizations: [{ slug: 'globex', name: 'Globex Corporation' }],
    },
  },
  async run(work, input) {
    const { agents, owners } = await searchDirectory(work, input);
    return { agents: agents.map((agent) => presentAgentSummary(agent)), ...presentOwners(owners) };
  },
  rest: { method: 'GET', path: '/search/directory', status: 200 },
});
